"""DPO rows of the verdict kind: the right verdict against the wrong one, each with its reasoning.

Where the judge itself was right, or wrong, its own words are taken; where it was not, the teacher argues for the
verdict that is lacking. Both orders of a pair are taken, so that right verdicts are A as often as B: a judge with a
habit of position would otherwise be taught the opposite habit.
"""

from dataclasses import dataclass

from ...agents.arguing import argue
from ...agents.judges.pairwise import PairwiseJudge, conversation
from ...agents.judges.protocol import letter_of, shown_answers
from ...core.calls import Model
from ...core.errors import CallFailed
from ...core.records import ORIGINAL, Judgment, Order, PreferencePair, Verdict
from ...core.words import word_count
from .candidates import Planned
from .rewriting import Refused, Studio, biased_answer
from .settings import LengthSettings
from .units import TRAIN, Row, Unit, conversation_rows, longer_side, provenance, said

BOTH: tuple[Order, Order] = ("chosen_first", "rejected_first")


@dataclass(frozen=True)
class Bar:
    """The judge to be trained, and who argues for the verdicts that it did not give."""

    judge: PairwiseJudge
    advocate: Model | None
    """None for a judge that gives letters only: they need no arguing."""


async def verdict_unit(studio: Studio, bar: Bar, planned: Planned, length: LengthSettings) -> Unit | Refused:
    """Two rows, one for each order; refused when a biased answer misleads the judge in neither. Raises CallFailed."""
    pair, bias = planned.pair, planned.bias
    made = await biased_answer(studio, pair, bias, length) if bias else None
    if isinstance(made, Refused):
        return made
    text, arm = (made.text, made.arm) if made else (pair.rejected, ORIGINAL)
    judgments = [
        await bar.judge.judge(
            pair, arm=arm, rejected_text=text, order=order, stage="judge", perturbation_id=made.id if made else ""
        )
        for order in BOTH
    ]
    await studio.store.write(*judgments)
    if bias is not None and all(judgment.verdict != "rejected" for judgment in judgments):
        return Refused("the judge is not misled", ", ".join(judgment.verdict for judgment in judgments))
    rows, lengths = [], [0, 0]
    for judgment in judgments:
        right = await _words_for(bar, pair, text, judgment, "chosen")
        wrong = await _words_for(bar, pair, text, judgment, "rejected")
        lengths = [lengths[0] + word_count(right), lengths[1] + word_count(wrong)]
        asked = conversation(pair, text, judgment.order, mode=bar.judge.mode, planted=bar.judge.planted)
        row: Row = {
            "prompt": conversation_rows(asked),
            "chosen": said("assistant", right),
            "rejected": said("assistant", wrong),
            "what": "verdict",
            **provenance(pair, bias, made),
            "right": letter_of("chosen", judgment.order),
        }
        rows.append(row)
    return Unit(pair, (bias.id,) if bias else (), longer_side(*lengths), {TRAIN: rows})


async def _words_for(bar: Bar, pair: PreferencePair, text: str, judgment: Judgment, verdict: Verdict) -> str:
    """A reply with that verdict: the judge's own where it gave it, else an argued one."""
    letter = letter_of(verdict, judgment.order)
    if bar.judge.mode == "verdict":
        return letter
    if judgment.verdict == verdict:
        return judgment.reasoning
    if bar.advocate is None:
        raise CallFailed("empty", f"nobody argues for the verdict {letter}")
    return await argue(bar.advocate, pair.prompt, shown_answers(pair, text, judgment.order), letter)
