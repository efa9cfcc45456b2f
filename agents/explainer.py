"""DeeperExplain: the judge goes on to explain its verdict, so that an error compounds and shows (section 2.2)."""

from ..core.calls import Message, Model, Request
from ..core.ids import content_id
from ..core.records import Explanation, Judgment, PreferencePair
from ..prompts import render
from .judges.protocol import Judge, Shown, letter_of, shown_answers


async def explain_verdict(
    judge: Judge, judgment: Judgment, pair: PreferencePair, rejected_text: str, *, other: Model
) -> Explanation:
    """The judge's own explanation where it can talk, else that of the model `other`. Raises CallFailed."""
    own = await explain(judge, judgment, pair, rejected_text) if judge.explains_itself else None
    return own or await explain_other(other, judgment, pair, rejected_text)


async def explain(
    judge: Judge,
    judgment: Judgment,
    pair: PreferencePair,
    rejected_text: str,
    *,
    temperature: float | None = 0.0,
    max_tokens: int = 1024,
    seed: int | None = 0,
) -> Explanation | None:
    """Have the judge explain `judgment` in the conversation in which it gave it, without a word about an error.

    None for a judge that cannot talk. Raises CallFailed from the model.
    """
    said = await judge.said(Shown(pair, rejected_text, judgment.order, "explain", judgment.draw), judgment)
    if said is None:
        return None
    messages = (*said.messages, *render(said.go_on, **said.fields).messages)
    return await _explanation(said.model, judgment, messages, True, temperature, max_tokens, seed)


async def explain_other(
    model: Model,
    judgment: Judgment,
    pair: PreferencePair,
    rejected_text: str,
    *,
    temperature: float | None = 0.0,
    max_tokens: int = 1024,
    seed: int | None = 0,
) -> Explanation:
    """Have another model explain the choice of a judge that cannot (scores, reward models). Raises CallFailed."""
    answer_a, answer_b = shown_answers(pair, rejected_text, judgment.order)
    messages = render(
        "explain_other",
        question=pair.prompt,
        answer_a=answer_a,
        answer_b=answer_b,
        verdict=letter_of(judgment.verdict, judgment.order),
    ).messages
    return await _explanation(model, judgment, messages, False, temperature, max_tokens, seed)


async def _explanation(
    model: Model,
    judgment: Judgment,
    messages: tuple[Message, ...],
    own_words: bool,
    temperature: float | None,
    max_tokens: int,
    seed: int | None,
) -> Explanation:
    completion = await model.complete(
        Request(
            model=model.name,
            messages=messages,
            temperature=temperature,
            max_tokens=max_tokens,
            seed=seed,
            role="explainer",
            stage="explain",
        )
    )
    return Explanation(
        id=content_id("explanation", judgment.run_id, judgment.id, model.name),
        run_id=judgment.run_id,
        judgment_id=judgment.id,
        text=completion.text,
        by=model.name,
        own_words=own_words,
        request_id=completion.request_id,
    )
