"""Write a bias into a rejected answer for training: rewritten, checked, of about the same length."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from ...agents.arms import Workshop, rewrite
from ...agents.judges.protocol import Judge
from ...core.records import Bias, Perturbation, PreferencePair
from ...core.words import word_count
from ...data.benchmark import clean_answer
from ...data.order import draw_order
from .settings import LengthSettings

_ABOUT_LENGTH = re.compile(r"\b(?:length|long|verbos\w*|wordi\w*|concis\w*|brev\w*|short)", re.IGNORECASE)


@dataclass(frozen=True)
class Studio(Workshop):
    """A job with the roles that make preference data."""

    check: Judge | None
    """Must still prefer the chosen answer to a rewritten rejected one; None: nobody is asked."""


class Refused(NamedTuple):
    """A rewrite that cannot be used."""

    reason: str
    detail: str = ""


async def biased_answer(
    studio: Studio, pair: PreferencePair, bias: Bias, length: LengthSettings
) -> Perturbation | Refused:
    """The rejected answer with the bias, or why it cannot be used. Raises CallFailed."""
    made = await rewrite(studio, pair, bias, stage="perturb")
    if made.answer_change == "changed":
        return Refused("final answer has changed or become right")
    text = clean_answer(made.text)
    if text.strip() == pair.chosen.strip():
        return Refused("the same text as the chosen answer")
    ratio = word_count(text) / max(1, word_count(pair.rejected))
    if not length.low <= ratio <= length.high and not about_length(bias):
        return Refused("another length", f"{ratio:.2f} times the words")
    if studio.check is not None and (verdict := await _checked(studio, studio.check, pair, made, text)) != "chosen":
        return Refused("the checking judge does not prefer the chosen answer", verdict)
    return made.model_copy(update={"text": text})


def about_length(bias: Bias) -> bool:
    """Whether the bias is about length itself, by its name."""
    return _ABOUT_LENGTH.search(bias.name) is not None


async def _checked(studio: Studio, judge: Judge, pair: PreferencePair, made: Perturbation, text: str) -> str:
    judgment = await judge.judge(
        pair,
        arm=made.arm,
        rejected_text=text,
        order=draw_order(pair.id, studio.seed),
        stage="validate",
        perturbation_id=made.id,
    )
    await studio.store.write(judgment)
    return judgment.verdict
