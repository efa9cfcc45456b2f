"""Tests and bounds for the mean of paired differences against a margin that is not 0, for a fixed sample.

One statistic for every kind of outcome (verdicts, the mean of two orders, probabilities, changes between two times): a
score test, z = (mean - margin) / sqrt(V / n), where V is the variance under the null hypothesis. The sample does not
have the margin as its mean, so mass is put on the end of the range that moves it there: where the sample lies under
the margin, a share w of a distribution at +1, and the sample's own for the rest, has mean `margin`, and its variance is
V. For verdicts (d in {-1, 0, 1}) without repairs this is Tango's score test for matched pairs (Statistics in Medicine
17, 1998); otherwise V is a little larger. The margin of Student's t, the sample's own variance, is far too small where
few pairs differ: with one harm in 100 pairs it would exclude a true effect of 5 points.

Exact enumeration over verdicts (tests/validators/test_bounded.py), n from 30 to 400, margins from 0 to 10 points and 0
to 40 % repairs: the level is at most 6 % at a nominal 5 %, and reaches that only without any repairs.
"""

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from ..core.errors import DataError
from .eprocess import differences

_EDGE = 1.0 - 1e-9


def p_above(d: npt.ArrayLike, margin: float) -> float:
    """One-sided p-value of H0: E[d] <= `margin`, d in [-1, 1], NaN left out; small when the mean is surely above.

    1.0 without data.
    """
    return _p(differences(d), margin)


def p_below(d: npt.ArrayLike, margin: float) -> float:
    """One-sided p-value of H0: E[d] >= `margin`; small when the mean is surely below. 1.0 without data."""
    return _p(-differences(d), -margin)


def bounds(d: npt.ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """The margins that neither test rejects, each one-sided at `level`: an interval with 2 `level` - 1 confidence.

    Whether a bound lies under a limit and whether the test at that limit rejects is one and the same question.
    (-1, 1) without data.
    """
    observed = differences(d)
    return _lower(observed, level), -_lower(-observed, level)


def _p(d: npt.NDArray[np.float64], margin: float) -> float:
    if not -1 <= margin <= 1:
        raise DataError(f"margin: {margin!r} is not in [-1, 1]; give a proportion such as 0.05 for 5 points")
    return float(ndtr(-_z(float(d.mean()), float(d @ d) / d.size, d.size, margin))) if d.size else 1.0


def _z(mean: float, square: float, n: int, margin: float) -> float:
    """The score statistic of H0: E[d] <= `margin`; at most 0 when the sample does not speak against it."""
    if mean <= margin:
        return (mean - margin) * float(np.sqrt(n))
    # Share at -1 that brings the mean down to the margin.
    share = (mean - margin) / (mean + 1.0)
    variance = (1.0 - share) * square + share - margin * margin
    return (mean - margin) / float(np.sqrt(max(variance, 1e-15) / n))


def _lower(d: npt.NDArray[np.float64], level: float) -> float:
    """Where z reaches the level: n u^2 = c^2 V with u = mean - margin, a quadratic equation in u."""
    if not d.size:
        return -1.0
    mean, square, n = float(d.mean()), float(d @ d) / d.size, d.size
    if mean <= -_EDGE:
        return -1.0
    c2 = float(ndtri(level)) ** 2
    linear = c2 * ((1.0 - square) / (mean + 1.0) + 2.0 * mean)
    root = float(np.sqrt(linear * linear + 4.0 * (n + c2) * c2 * max(square - mean * mean, 0.0)))
    return max(-1.0, mean - (linear + root) / (2.0 * (n + c2)))
