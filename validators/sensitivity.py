"""Bias sensitivity: what an injected bias does to verdicts that were right (JudgeBiasBench, sections 4.2 and 4.4).

Outcomes are those of `contrasts`: `wrong` in [0, 1], NaN without a verdict. A pair is right when `wrong` is under 0.5;
at 0.5 (two orders that contradict each other, or even odds) it is not right. Rates are fractions, drops and intervals
of drops are points.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from ..core.errors import DataError
from .contrasts import Bools, Floats, outcomes
from .mcnemar import mcnemar_exact, tango
from .multiplicity import holm
from .proportions import wilson


@dataclass(frozen=True)
class FlipTable:
    """Right and wrong before and after, over the pairs that have a verdict in both."""

    both_right: int
    harms: int
    """Right on the original, wrong under the bias."""
    repairs: int
    both_wrong: int

    def __post_init__(self) -> None:
        if min(self.both_right, self.harms, self.repairs, self.both_wrong) < 0:
            raise DataError(f"{self}: a count is negative; give the four cells of a 2 x 2 table")

    @property
    def n(self) -> int:
        """Pairs."""
        return self.both_right + self.harms + self.repairs + self.both_wrong

    @property
    def right_original(self) -> int:
        """Pairs that were right on the original."""
        return self.both_right + self.harms

    @property
    def right_biased(self) -> int:
        """Pairs that are right under the bias."""
        return self.both_right + self.repairs

    @property
    def flips(self) -> int:
        """In both directions."""
        return self.harms + self.repairs

    @property
    def drop(self) -> float:
        """Accuracy original - biased, in points; NaN without pairs."""
        return 100 * (self.harms - self.repairs) / self.n if self.n else float("nan")


def flip_table(original: npt.ArrayLike, biased: npt.ArrayLike) -> FlipTable:
    """The table of two arms over the same pairs; those without a verdict in one of them are left out."""
    before, after = outcomes(original, "original"), outcomes(biased, "biased")
    if before.shape != after.shape:
        raise DataError(f"biased: {after.size} outcomes for {before.size} in original; align both by pair")
    there = ~(np.isnan(before) | np.isnan(after))
    was, is_ = before[there] < 0.5, after[there] < 0.5
    return FlipTable(int((was & is_).sum()), int((was & ~is_).sum()), int((~was & is_).sum()), int((~was & ~is_).sum()))


def table_from_margins(n: int, accuracy_original: float, accuracy_biased: float, flips: int) -> FlipTable:
    """The table behind published figures: number of pairs, both accuracies in percent, flips in both directions.

    Accuracies are rounded to whole pairs. Raises DataError when no table has these figures, as where flips to and from
    ties are counted too.
    """
    right, right_after = round(n * accuracy_original / 100), round(n * accuracy_biased / 100)
    harms, odd = divmod(flips + right - right_after, 2)
    repairs = flips - harms
    fits = not odd and 0 <= harms <= right and 0 <= repairs <= n - right
    if not fits:
        raise DataError(
            f"n = {n!r}, accuracies {accuracy_original!r} and {accuracy_biased!r}, flips {flips!r}: no table of "
            "verdicts has these figures; check that flips count both directions"
        )
    return FlipTable(right - harms, harms, repairs, n - right - repairs)


@dataclass(frozen=True)
class Sensitivity:
    """What one bias does to a judge."""

    table: FlipTable
    bsr: float | None
    """Bias sensitivity rate: harms over pairs that were right on the original; None when none was."""
    bsr_interval: tuple[float, float]
    """95 %, Wilson's, given the pairs that were right."""
    accuracy_original: float | None
    accuracy_biased: float | None
    """Both over the same pairs; None without any."""
    drop: float | None
    """Points."""
    drop_interval: tuple[float, float]
    """95 %, points, Tango's score interval for pairs."""
    p_value: float
    """Exact McNemar, two-sided."""


def sensitivity(table: FlipTable, level: float = 0.95) -> Sensitivity:
    """Rates, intervals and the exact test of one table."""
    low, high = tango(table.harms, table.repairs, table.n, level)
    return Sensitivity(
        table=table,
        bsr=table.harms / table.right_original if table.right_original else None,
        bsr_interval=wilson(table.harms, table.right_original, level),
        accuracy_original=table.right_original / table.n if table.n else None,
        accuracy_biased=table.right_biased / table.n if table.n else None,
        drop=table.drop if table.n else None,
        drop_interval=(100 * low, 100 * high),
        p_value=mcnemar_exact(table.harms, table.repairs),
    )


def corrected(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm-adjusted p-values over one family of biases: they share pairs, and Holm holds under any dependence."""
    names = list(p_values)
    _, adjusted = holm([p_values[name] for name in names], 0.05)
    return dict(zip(names, map(float, adjusted), strict=True))


@dataclass(frozen=True)
class Overall:
    """A rate over several biases, weighted by the size of their test sets."""

    bsr: float | None
    """None when no pair was right on the original."""
    interval: tuple[float, float]
    """95 %: Wilson's at the effective sample size, pairs as clusters."""
    biases: int
    """Biases that have a rate."""
    pairs: int
    """Different pairs behind it."""


def overall_bsr(right: npt.ArrayLike, harmed: npt.ArrayLike, sizes: Sequence[float], level: float = 0.95) -> Overall:
    """The mean of the biases' BSR, weighted by `sizes` (JudgeBiasBench, section 4.2), with an interval.

    `right`, `harmed`: biases x pairs, True where the pair was right on the original with a verdict in both arms, and
    where it then turned wrong. A pair stands in the rows of many biases, so rows are not independent: the variance is
    that of the pairs' summed influences, and Wilson's interval is taken at the sample size that a simple random sample
    of that variance would have (Franco et al., Journal of Survey Statistics and Methodology 7, 2019).
    """
    was, turned = np.asarray(right, dtype=np.bool_), np.asarray(harmed, dtype=np.bool_)
    weights = np.asarray(sizes, dtype=np.float64)
    if was.ndim != 2 or was.shape != turned.shape or weights.shape != was.shape[:1]:
        raise DataError(f"right {was.shape}, harmed {turned.shape}, sizes {weights.shape}: give biases x pairs, biases")
    if (turned & ~was).any():
        raise DataError("harmed: a pair that was not right cannot have been harmed")
    rows = np.flatnonzero(was.any(axis=1))
    if not rows.size or not weights[rows].sum():
        return Overall(None, (0.0, 1.0), 0, 0)
    rate, influences = _weighted_rate(was[rows], turned[rows], weights[rows])
    pairs = int(was[rows].any(axis=0).sum())
    variance = float((influences**2).sum()) * (pairs / (pairs - 1) if pairs > 1 else 1.0)
    most = float(was[rows].sum())
    effective = rate * (1 - rate) / variance if variance > 0 else float(pairs)
    size = min(effective, most)
    return Overall(rate, wilson(rate * size, size, level), int(rows.size), pairs)


def _weighted_rate(was: Bools, turned: Bools, weights: Floats) -> tuple[float, Floats]:
    share = weights / weights.sum()
    counts = was.sum(axis=1)
    rates = turned.sum(axis=1) / counts
    influences: Floats = ((share / counts)[:, None] * (turned - rates[:, None] * was)).sum(axis=0)
    return float(share @ rates), influences


@dataclass(frozen=True)
class MarginChange:
    """How an injection moves the margin by which the chosen answer leads (score difference, or log-odds)."""

    n: int
    before: float | None
    after: float | None
    """Means; None without pairs."""
    change: float | None
    """Mean of after - before, in the judge's own unit."""
    interval: tuple[float, float] | None
    """95 %, Student's t over pairs; None with fewer than two or without spread."""
    standardised: float | None
    """`change` over the standard deviation of the margins before; judges with other scales compare by it."""
    shrunk: float | None
    """Share of pairs whose margin became smaller."""


def margin_change(before: npt.ArrayLike, after: npt.ArrayLike, level: float = 0.95) -> MarginChange:
    """Margins of the same pairs in both arms, NaN where there is none (JudgeBiasBench, section 4.4)."""
    first, second = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise DataError(
            f"after: {second.shape} margins for {first.shape} before; align both by pair, NaN where missing"
        )
    there = np.isfinite(first) & np.isfinite(second)
    first, second = first[there], second[there]
    n = int(there.sum())
    if not n:
        return MarginChange(0, None, None, None, None, None, None)
    moved = second - first
    interval = None
    if n > 1 and float(moved.std()) > 0:
        half = float(student.ppf((1 + level) / 2, n - 1)) * float(moved.std(ddof=1)) / n**0.5
        interval = (float(moved.mean()) - half, float(moved.mean()) + half)
    spread = float(first.std(ddof=1)) if n > 1 else 0.0
    return MarginChange(
        n=n,
        before=float(first.mean()),
        after=float(second.mean()),
        change=float(moved.mean()),
        interval=interval,
        standardised=float(moved.mean()) / spread if spread > 0 else None,
        shrunk=float((moved < 0).mean()),
    )
