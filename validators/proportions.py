"""Intervals for one proportion."""

import math

from scipy.special import ndtri
from scipy.stats import beta

from ..core.errors import DataError


def wilson(successes: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson score interval (1927) of a proportion; (0, 1) when n is 0. `n` may be an effective sample size."""
    _check(successes, n)
    if not n:
        return 0.0, 1.0
    z = float(ndtri((1 + level) / 2))
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return low, high


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper-Pearson (exact, conservative) interval of a proportion; (0, 1) when n is 0."""
    _check(successes, n)
    if not n:
        return 0.0, 1.0
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(beta.ppf(tail, successes, n - successes + 1))
    high = 1.0 if successes == n else float(beta.ppf(1 - tail, successes + 1, n - successes))
    return low, high


def _check(successes: float, n: float) -> None:
    if not 0 <= successes <= n:
        raise DataError(f"successes: {successes!r} of {n!r} is not a count; give 0 <= successes <= n")
