"""DeeperExplain: the judge goes on to explain its verdict, so that an error compounds and shows (section 2.2)."""

from ..core.calls import Message, Model, Request
from ..core.ids import content_id
from ..core.records import Explanation, Judgment, PreferencePair
from ..prompts import render
from .judges.pairwise import Mode, PairwiseJudge, conversation
from .judges.protocol import Judge, letter_of, shown_answers


async def explain_verdict(
    judge: Judge, judgment: Judgment, pair: PreferencePair, rejected_text: str, *, other: Model
) -> Explanation:
    """The judge's own explanation where it can talk, else that of the model `other`. Raises CallFailed."""
    if isinstance(judge, PairwiseJudge):
        return await explain(judge.model, judgment, pair, rejected_text, mode=judge.mode, planted=judge.planted)
    return await explain_other(other, judgment, pair, rejected_text)


async def explain(
    judge_model: Model,
    judgment: Judgment,
    pair: PreferencePair,
    rejected_text: str,
    *,
    mode: Mode,
    planted: str | None = None,
    temperature: float | None = 0.0,
    max_tokens: int = 1024,
    seed: int | None = 0,
) -> Explanation:
    """Have the judge explain `judgment` in the conversation in which it gave it, without a word about an error.

    `mode` and `planted` as in PairwiseJudge. Raises CallFailed from the model.
    """
    said = judgment.reasoning if mode == "reasoning" else letter_of(judgment.verdict, judgment.order)
    messages = (
        *conversation(pair, rejected_text, judgment.order, mode=mode, planted=planted),
        Message(role="assistant", content=said),
        *render("explain").messages,
    )
    return await _explanation(judge_model, judgment, messages, temperature, max_tokens, seed)


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
    return await _explanation(model, judgment, messages, temperature, max_tokens, seed)


async def _explanation(
    model: Model,
    judgment: Judgment,
    messages: tuple[Message, ...],
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
        request_id=completion.request_id,
    )
