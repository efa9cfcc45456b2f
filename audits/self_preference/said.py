"""What panel, judge and baseline said of each contest, as arrays in the order of the contests."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...core.job import Job
from ...core.records import Judgment, Order
from ...validators.contrasts import Floats, combine_orders
from ...validators.self_preference import Panel, equal_quality, panel_view
from .contests import Contest

PLAIN, PANEL, BASELINE, STRUCTURED = "plain", "panel", "baseline", "structured"
LABEL_OWN, LABEL_OTHER = "label:own", "label:other"
"""Arms: as it is, the panel's grades, the panel's members as judges, by aspects, and with author labels."""

Orders = dict[Order, Judgment]


@dataclass(frozen=True)
class Said:
    """Everything stored about some contests."""

    contests: tuple[Contest, ...]
    arms: dict[tuple[str, str], dict[str, Orders]]
    """By arm and judge, then by pair."""

    @property
    def prompts(self) -> npt.NDArray[np.str_]:
        """Clusters."""
        return np.array([c.prompt_id for c in self.contests], dtype=np.str_)

    def of(self, arm: str, judge: str) -> list[Orders]:
        """One judge's judgments in one arm."""
        found = self.arms.get((arm, judge), {})
        return [found.get(c.pair.id, {}) for c in self.contests]

    def judges(self, arm: str) -> list[str]:
        """Who spoke in an arm."""
        return sorted(judge for name, judge in self.arms if name == arm)

    def own_share(self, arm: str, judge: str, orders: int, *, verdicts: bool = False) -> Floats:
        """P(own) with the position taken out; of verdicts alone where that is asked for."""
        return np.array([combined(found, orders, verdicts=verdicts) for found in self.of(arm, judge)], dtype=np.float64)

    def panel(self) -> tuple[Floats, Floats]:
        """Grades of own and other answers, contests x members."""
        members = self.judges(PANEL)
        own = np.full((len(self.contests), max(1, len(members))), np.nan)
        other = own.copy()
        for column, member in enumerate(members):
            for line, found in enumerate(self.of(PANEL, member)):
                for judgment in found.values():
                    own[line, column] = _number(judgment.score_chosen)
                    other[line, column] = _number(judgment.score_rejected)
        return own, other

    def view(self) -> Panel:
        """The panel's opinion of each contest."""
        return panel_view(*self.panel())

    def some(self, role: str) -> "Said":
        """Those of one role."""
        return Said(tuple(c for c in self.contests if c.role == role), self.arms)


def read(job: Job, contests: Sequence[Contest]) -> Said:
    """From the store."""
    arms: dict[tuple[str, str], dict[str, Orders]] = {}
    for judgment in job.store.iterate(Judgment, run_id=job.run_id):
        by_pair = arms.setdefault((judgment.arm, judgment.judge), {})
        by_pair.setdefault(judgment.pair_id, {})[judgment.order] = judgment
    return Said(tuple(contests), arms)


def equal_contests(said: Said, delta: float) -> list[Contest]:
    """Those of equal quality."""
    return [c for c, equal in zip(said.contests, equal_quality(said.view(), delta), strict=True) if equal]


def share(judgment: Judgment) -> float:
    """P(own): the probability where there is one, else 1, 0, or 0.5 for a tie; NaN for what cannot be read."""
    return verdict_share(judgment) if judgment.p_rejected is None else 1 - judgment.p_rejected


def verdict_share(judgment: Judgment) -> float:
    """1, 0 or 0.5 by the verdict."""
    return {"chosen": 1.0, "rejected": 0.0, "tie": 0.5, "invalid": math.nan}[judgment.verdict]


def combined(found: Orders, orders: int, *, verdicts: bool = False) -> float:
    """Both orders as one: log-odds averaged where both have probabilities, else the mean; NaN when one is missing."""
    if len(found) != orders or not found:
        return math.nan
    p = [judgment.p_rejected for judgment in found.values()]
    if not verdicts and orders == 2 and p[0] is not None and p[1] is not None:
        return 1 - float(combine_orders([p[0]], [p[1]])[0])
    if not verdicts and orders == 1:
        return share(next(iter(found.values())))
    return float(np.mean([verdict_share(judgment) for judgment in found.values()]))


def in_orders(found: Iterable[Orders]) -> tuple[Floats, npt.NDArray[np.bool_], npt.NDArray[np.intp]]:
    """Single judgments: P(own), whether the own answer stood first, and which contest each is of."""
    rows = [
        (share(judgment), order == "chosen_first", line)
        for line, orders in enumerate(found)
        for order, judgment in sorted(orders.items())
    ]
    return (
        np.array([r[0] for r in rows], dtype=np.float64),
        np.array([r[1] for r in rows], dtype=np.bool_),
        np.array([r[2] for r in rows], dtype=np.intp),
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value
