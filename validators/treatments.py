"""A judge before and after a treatment, on the same texts: error rates with paired intervals, and bias sensitivity.

A score is 1 for a wrong verdict, 0 for a right one, 0.5 for a tie (a coin would be right half the time), NaN for none.
Items of one pair share texts, so pairs are the units of all intervals.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.errors import DataError
from .clusters import cluster_difference, cluster_rate
from .rates import Rate


@dataclass(frozen=True)
class Change:
    """Error rates in [0, 1] on the items that have a score both before and after. NaN and (-1, 1) without any."""

    items: int
    pairs: int
    missing: int
    """Items without a score before or after."""
    before: float
    after: float
    difference: float
    """after - before; negative: fewer errors."""
    low: float
    high: float
    method: str
    ties_before: float
    ties_after: float
    """Shares of ties."""

    @property
    def worse(self) -> bool:
        """More errors, as far as the interval says."""
        return self.low > 0

    @property
    def better(self) -> bool:
        """Fewer errors, as far as the interval says."""
        return self.high < 0


def change(before: npt.ArrayLike, after: npt.ArrayLike, pairs: Sequence[Hashable], level: float = 0.95) -> Change:
    """What a treatment changed. `before`, `after`: scores of the same items, `pairs`: the pair of each.

    The interval is that of `clusters.cluster_difference`. Raises DataError when the lengths differ.
    """
    one, two = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if one.shape != two.shape:
        raise DataError(f"after: {two.size} scores for {one.size} before; align both by item, NaN where missing")
    mean, low, high, method = cluster_difference(two - one, pairs, level)
    there = ~np.isnan(one) & ~np.isnan(two)
    one, two = one[there], two[there]
    n = int(there.sum())

    def share(values: npt.NDArray[np.float64]) -> float:
        return float(values.mean()) if n else float("nan")

    return Change(
        items=n,
        pairs=len({pair for pair, keep in zip(pairs, there, strict=True) if keep}),
        missing=int(there.size) - n,
        before=share(one),
        after=share(two),
        difference=mean,
        low=low,
        high=high,
        method=method,
        ties_before=share((one == 0.5).astype(np.float64)),
        ties_after=share((two == 0.5).astype(np.float64)),
    )


def sensitivity(original: npt.ArrayLike, biased: npt.ArrayLike, pairs: Sequence[Hashable], level: float = 0.95) -> Rate:
    """BSR (JudgeBiasBench): of the items that are right as they were, the share that is wrong with the bias.

    `original`, `biased`: scores of the same items. A tie with the bias counts half.
    """
    before, after = np.asarray(original, dtype=np.float64), np.asarray(biased, dtype=np.float64)
    if before.shape != after.shape:
        raise DataError(f"biased: {after.size} scores for {before.size} original ones; align both by item")
    return cluster_rate(np.where(before == 0, after, np.nan), pairs, level)
