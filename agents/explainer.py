"""DeeperExplain: the judge goes on to explain its verdict, so that an error compounds and shows (section 2.2)."""

import re

from ..core.calls import Message, Model, Request
from ..core.errors import CallFailed
from ..core.ids import content_id
from ..core.records import Explanation, Judgment, PreferencePair
from ..prompts import render
from .judges.protocol import Judge, Shown, letter_of, shown_answers

_SENTENCE_END = re.compile(r"[.!?][\"')*\]]*(?=\s)")


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

    None for a judge that cannot talk. An explanation that was cut off is kept to its last whole sentence and marked.
    Raises CallFailed from the model.
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
    request = Request(
        model=model.name,
        messages=messages,
        temperature=temperature,
        max_tokens=max_tokens,
        seed=seed,
        role="explainer",
        stage="explain",
    )
    truncated = False
    try:
        text = (await model.complete(request)).text
    except CallFailed as failed:
        # Half an explanation names its reasons too, and a small model seldom comes to an end by itself.
        if failed.kind != "truncated" or not (text := _whole_sentences(failed.raw)):
            raise
        truncated = True
    return Explanation(
        id=content_id("explanation", judgment.run_id, judgment.id, model.name),
        run_id=judgment.run_id,
        judgment_id=judgment.id,
        text=text,
        by=model.name,
        own_words=own_words,
        request_id=request.id,
        truncated=truncated,
    )


def _whole_sentences(cut: str) -> str:
    """A text that was cut off, to its last whole sentence and each line once, with an ellipsis; empty for less."""
    ends = [found.end() for found in _SENTENCE_END.finditer(cut)]
    lines = dict.fromkeys(line.rstrip() for line in cut[: ends[-1]].splitlines()) if ends else {}
    return "\n".join(lines).strip() + " …" if lines else ""
