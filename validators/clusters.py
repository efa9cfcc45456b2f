"""Rates and mean differences over items that come in groups (variants of one pair, pairs of one prompt).

Items of a group share texts, so groups are the units of every interval; each item counts the same in the estimate.
"""

import math
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.stats import norm, t

from ..core.errors import DataError
from .contrasts import Floats
from .mcnemar import paired_interval
from .proportions import wilson
from .rates import Rate


def cluster_rate(values: npt.ArrayLike, groups: Sequence[Hashable], level: float = 0.95) -> Rate:
    """Mean of items in [0, 1] with Wilson's interval at the effective sample size.

    That size is p (1 - p) / v with v the cluster-robust variance, shrunk by (z / t)^2 for few groups (Korn and Graubard
    1998; Wilson's interval in place of the exact one: Franco et al. 2019), and at most the number of items. Without
    variance between groups it is the number of groups. Items that are NaN are left out.
    """
    x, codes = _checked(values, groups, 0.0)
    if not x.size:
        return Rate(0, 0, float("nan"), 0.0, 1.0, "none")
    rate, clusters = float(x.mean()), int(codes.max()) + 1
    if clusters == x.size and np.isin(x, (0.0, 1.0)).all():
        low, high = wilson(round(float(x.sum())), x.size, level)
        return Rate(clusters, x.size, rate, low, high, "Wilson")
    variance = _variance(x, codes, clusters)
    if clusters < 2:
        return Rate(clusters, x.size, rate, 0.0, 1.0, "none")
    size = float(clusters)
    if variance > 0 and 0 < rate < 1:
        shrink = float(norm.ppf((1 + level) / 2) / t.ppf((1 + level) / 2, clusters - 1))
        size = min(float(x.size), rate * (1 - rate) / variance) * shrink**2
    low, high = wilson(rate * size, size, level)
    return Rate(clusters, x.size, rate, low, high, "Wilson over groups")


def cluster_difference(
    values: npt.ArrayLike, groups: Sequence[Hashable], level: float = 0.95
) -> tuple[float, float, float, str]:
    """Mean of differences in [-1, 1], low, high and method; groups are the units.

    Where every group is one item, `paired_interval`; else Student's t with the cluster-robust variance of the mean.
    Where all items have the same difference, every group counts as one such item. NaN are left out; (-1, 1) when there
    are fewer than two groups or no variance between them.
    """
    d, codes = _checked(values, groups, -1.0)
    if not d.size:
        return float("nan"), -1.0, 1.0, "none"
    mean, clusters = float(d.mean()), int(codes.max()) + 1
    if clusters == d.size:
        low, high, method = paired_interval(d, level)
        return mean, low, high, method
    variance = _variance(d, codes, clusters)
    if clusters > 1 and (d == d[0]).all():
        low, high, method = paired_interval(np.full(clusters, d[0]), level)
        return mean, low, high, f"{method} over groups"
    if clusters < 2 or variance == 0:
        return mean, -1.0, 1.0, "t over groups"
    half = float(t.ppf((1 + level) / 2, clusters - 1)) * math.sqrt(variance)
    return mean, max(-1.0, mean - half), min(1.0, mean + half), "t over groups"


def _checked(values: npt.ArrayLike, groups: Sequence[Hashable], lowest: float) -> tuple[Floats, npt.NDArray[np.intp]]:
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or x.size != len(groups):
        raise DataError(f"groups: {len(groups)} for {x.size} values; give one per value")
    bad = np.flatnonzero((x < lowest) | (x > 1) | np.isinf(x))
    if bad.size:
        raise DataError(
            f"values[{bad[0]}]: {float(x[bad[0]])!r} is not in [{lowest:g}, 1]; use NaN where it is missing"
        )
    there = ~np.isnan(x)
    numbers: dict[Hashable, int] = {}
    kept = [numbers.setdefault(g, len(numbers)) for g, keep in zip(groups, there, strict=True) if keep]
    return x[there], np.asarray(kept, dtype=np.intp)


def _variance(x: Floats, codes: npt.NDArray[np.intp], clusters: int) -> float:
    """Cluster-robust variance of the mean: the ratio estimator's linearisation over sums of groups."""
    if clusters < 2:
        return 0.0
    sums = np.bincount(codes, weights=x - x.mean(), minlength=clusters)
    return float(clusters / (clusters - 1) * (sums @ sums) / x.size**2)
