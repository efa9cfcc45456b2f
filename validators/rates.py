"""One rate over pairs that may each count several times: shares of verdicts or answers, with an interval."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .mcnemar import paired_interval
from .proportions import wilson


@dataclass(frozen=True)
class Rate:
    """A rate in [0, 1] and its 95 % interval; NaN and (0, 1) when there is nothing to count."""

    pairs: int
    n: int
    """Items; more than `pairs` when a pair counts several times."""
    rate: float
    """Mean over pairs of each pair's mean, so that a pair that was judged often weighs no more."""
    low: float
    high: float
    method: str


def rate_over_pairs(values: Iterable[Sequence[float]], level: float = 0.95) -> Rate:
    """`values`: for every pair its items, each in [0, 1] or NaN (left out); pairs without any are left out.

    The items of a pair are not independent, so pairs are the units of the interval: Wilson's where every pair's mean
    is 0 or 1, Student's t over the pairs' means otherwise, cut at 0 and 1.
    """
    means, n = [], 0
    for items in values:
        there = [v for v in items if not np.isnan(v)]
        if there:
            means.append(float(np.mean(there)))
            n += len(there)
    if not means:
        return Rate(0, 0, float("nan"), 0.0, 1.0, "none")
    rate = float(np.mean(means))
    if all(m in (0.0, 1.0) for m in means):
        low, high = wilson(round(sum(means)), len(means), level)
        return Rate(len(means), n, rate, low, high, "Wilson")
    low, high, method = paired_interval(means, level)
    return Rate(len(means), n, rate, max(0.0, low), min(1.0, high), method.replace("paired ", "") + " over pairs")
