"""What the judge made of the entries of one bias, arm by arm."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...agents.outcomes import wrong
from ...core.records import ORIGINAL, Judgment, Order
from ...data.order import judged_orders
from ...validators.contrasts import CLIP, Floats
from .entries import Entry
from .result import Verdicts

Judgments = Mapping[tuple[str, str], Mapping[Order, Judgment]]
"""By pair and arm, then by order."""
Wanted = tuple[str, str, tuple[Order, ...]]
"""Pair, arm and the orders that count."""


@dataclass(frozen=True)
class Seen:
    """One arm of some entries, in their order."""

    judgments: tuple[tuple[Judgment, ...], ...]
    wrong: Floats
    """In [0, 1]; NaN where a verdict is missing."""
    asked: int

    def verdicts(self) -> Verdicts:
        """What came back."""
        said = [j.verdict for js in self.judgments for j in js]
        return Verdicts(
            judged=len(said), ties=said.count("tie"), invalid=said.count("invalid"), failed=self.asked - len(said)
        )

    def margins(self) -> list[float]:
        """By how much the chosen answer leads: in scores where there are any, else in log-odds; NaN without either."""
        return [statistics.fmean(map(_lead, js)) if js else math.nan for js in self.judgments]


@dataclass(frozen=True)
class Outcomes:
    """The three arms of one bias's entries."""

    entries: tuple[Entry, ...]
    original: Seen
    biased: Seen
    control: Seen


def outcomes_of(entries: Sequence[Entry], judgments: Judgments, seed: int, both: bool) -> Outcomes:
    """Look the entries' judgments up."""
    original: list[Wanted | None] = []
    biased: list[Wanted | None] = []
    control: list[Wanted | None] = []
    for entry in entries:
        usual = judged_orders(entry.base.id, seed, both)
        orders = (entry.order,) if entry.order else usual
        original.append((entry.base.id, ORIGINAL, (entry.reference,) if entry.reference else usual))
        biased.append((entry.pair.id, entry.arm, orders))
        control.append((entry.control.id, entry.control_arm, orders) if entry.control else None)
    return Outcomes(tuple(entries), *(seen(wanted, judgments) for wanted in (original, biased, control)))


def seen(wanted: Sequence[Wanted | None], judgments: Judgments) -> Seen:
    """One arm; None stands for an entry that has it not."""
    found: list[tuple[Judgment, ...]] = []
    outcomes: list[float] = []
    for one in wanted:
        pair_id, arm, orders = one or ("", "", ())
        there = judgments.get((pair_id, arm), {})
        found.append(tuple(there[order] for order in orders if order in there))
        outcomes.append(wrong(found[-1]) if orders and len(found[-1]) == len(orders) else math.nan)
    asked = sum(len(one[2]) for one in wanted if one)
    return Seen(tuple(found), np.array(outcomes, dtype=np.float64), asked)


def _lead(judgment: Judgment) -> float:
    if judgment.score_chosen is not None and judgment.score_rejected is not None:
        return judgment.score_chosen - judgment.score_rejected
    if judgment.p_rejected is None:
        return math.nan
    p = min(max(judgment.p_rejected, CLIP), 1 - CLIP)
    return math.log((1 - p) / p)
