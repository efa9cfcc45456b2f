"""Fixed-sample tests and intervals for paired verdicts. Harms: right -> wrong; repairs: wrong -> right."""

import math
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.stats import binom, norm, t

from ..core.errors import DataError
from .eprocess import differences
from .proportions import wilson


def mcnemar_exact(harms: int, repairs: int, alternative: Literal["two-sided", "greater"] = "two-sided") -> float:
    """Exact (binomial, conditional) McNemar p-value.

    `greater`: the bias makes more errors than the reference. 1.0 without discordant pairs.
    """
    _check(harms, repairs)
    discordant = harms + repairs
    if not discordant:
        return 1.0
    if alternative == "greater":
        return float(binom.sf(harms - 1, discordant, 0.5))
    return min(1.0, 2 * float(binom.cdf(min(harms, repairs), discordant, 0.5)))


def mcnemar_p(d: npt.ArrayLike, alternative: Literal["two-sided", "greater"] = "two-sided") -> float:
    """Exact McNemar on the sign of d; NaN and 0 are left out.

    For verdicts in one order this is McNemar's test. For the mean of two orders, or probabilities, it is the sign
    test of the same null: that bias and placebo texts are exchangeable within a pair.
    """
    observed = differences(d)
    return mcnemar_exact(int((observed > 0).sum()), int((observed < 0).sum()), alternative)


def tango(harms: int, repairs: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Score interval of (harms - repairs) / n (Tango, Statistics in Medicine 17, 1998); (-1, 1) when n is 0."""
    _check(harms, repairs, n)
    if not n:
        return -1.0, 1.0
    z = float(norm.ppf((1 + level) / 2))
    estimate = (harms - repairs) / n

    def score(delta: float) -> float:
        linear = (2 * n - harms + repairs) * delta - harms - repairs
        constant = -repairs * delta * (1 - delta)
        # P(repair) under the constraint that the difference is delta: the positive root of 2n q^2 + linear q +
        # constant.
        q = (math.sqrt(max(linear * linear - 8 * n * constant, 0.0)) - linear) / (4 * n)
        variance = n * max(2 * q + delta * (1 - delta), 0.0)
        if variance <= 1e-14:
            return 0.0 if math.isclose(estimate, delta, abs_tol=1e-9) else math.copysign(math.inf, estimate - delta)
        return (harms - repairs - n * delta) / math.sqrt(variance)

    def bounded(delta: float, shift: float) -> float:
        return max(-1e9, min(1e9, score(delta) - shift))

    edge = 1.0 - 1e-12
    low = -1.0 if estimate <= -edge else float(brentq(bounded, -edge, estimate, args=(z,), xtol=1e-9))
    high = 1.0 if estimate >= edge else float(brentq(bounded, estimate, edge, args=(-z,), xtol=1e-9))
    return low, high


def newcombe(both_wrong: int, harms: int, repairs: int, both_right: int, level: float = 0.95) -> tuple[float, float]:
    """Square-and-add interval of error(bias) - error(reference) (Newcombe, Statistics in Medicine 17, 1998, method 10).

    Wilson intervals of the two error rates, joined with the correlation phi, whose numerator is corrected for
    continuity.
    """
    _check(harms, repairs)
    n = both_wrong + harms + repairs + both_right
    if not n:
        return -1.0, 1.0
    first, second = both_wrong + harms, both_wrong + repairs
    p1, p2 = first / n, second / n
    low1, high1 = wilson(first, n, level)
    low2, high2 = wilson(second, n, level)
    margins = first * (n - first) * second * (n - second)
    cross = both_wrong * both_right - harms * repairs
    if cross > 0:
        cross_corrected = max(cross - n / 2, 0.0)
    else:
        cross_corrected = float(cross)
    phi = cross_corrected / math.sqrt(margins) if margins else 0.0

    def joined(a: float, b: float) -> float:
        return math.sqrt(max(a * a - 2 * phi * a * b + b * b, 0.0))

    difference = p1 - p2
    return difference - joined(p1 - low1, high2 - p2), difference + joined(high1 - p1, p2 - low2)


def paired_interval(d: npt.ArrayLike, level: float = 0.95) -> tuple[float, float, str]:
    """(low, high, method) of E[d] for a sample size fixed beforehand: Tango's score interval for verdicts, Student's
    t otherwise.

    t needs some variance and 2 pairs; without them the range [-1, 1] is returned.
    """
    observed = differences(d)
    n = observed.size
    if np.isin(observed, (-1.0, 0.0, 1.0)).all():
        low, high = tango(int((observed == 1).sum()), int((observed == -1).sum()), n, level)
        return low, high, "Tango score"
    deviation = float(observed.std(ddof=1)) if n > 1 else 0.0
    if deviation == 0:
        return -1.0, 1.0, "paired t"
    half = float(t.ppf((1 + level) / 2, n - 1)) * deviation / math.sqrt(n)
    centre = float(observed.mean())
    return max(-1.0, centre - half), min(1.0, centre + half), "paired t"


def _check(harms: int, repairs: int, n: int | None = None) -> None:
    if harms < 0 or repairs < 0 or (n is not None and harms + repairs > n):
        raise DataError(
            f"harms, repairs: {harms!r}, {repairs!r} of n = {n!r} are not counts; give 0 <= harms + repairs <= n"
        )
