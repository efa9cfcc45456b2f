"""An e-process for H0: E[d] <= 0, and the confidence sequence that goes with it; d in [-1, 1].

E_n is the mean, over a fixed grid of bets l in (0, 1), of prod_i (1 + l d_i). Under H0 each product is a non-negative
supermartingale that starts at 1, so E_n has expectation at most 1 at every stopping time, and P(sup E_n >= 1/a) <= a
(Ville). Against other means m the same bet is made on (d - m) / (1 + m), which is at least -1 (Waudby-Smith and Ramdas,
"Estimating means of bounded random variables by betting", 2024).

The guarantee needs only that d has mean at most 0 given the past. Pairs that are a sample from the population the test
set stands for give that, for all biases at once, whatever is shared between arms. A permutation stratified by domain
gives it at batch ends where the domains are in proportion (the mean of a domain may be positive, but a product of
(1 + l m_k) with mean m_k <= 0 is at most 1): look at the values at batch ends, not inside a batch.
"""

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import ndtr

from ..core.errors import DataError
from .contrasts import Floats

BETS: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
"""Bets of the test. The best single bet is about E[d] / E[d^2]: 0.4 for an effect of 10 points at 25 % discordant
pairs, 0.2 for 5 points. Of nine grids compared in simulation this one gave the most power from 5 to 10 points; larger
bets only help probabilities that hardly vary. benchmarks/validation measures what it costs against the best bet."""

INTERVAL_BETS: tuple[float, ...] = (0.015, 0.025, 0.04, 0.065, 0.1, 0.16, 0.25, 0.4, 0.6, 0.85)
"""Bets of the confidence sequence: evenly spaced in log, so that it is near its best from 20 to 5,000 pairs."""

MIXTURE_PRICE = 0.7
"""What averaging over the grid costs against the best bet, in log E; about log 2 near the effects of interest."""


def differences(d: npt.ArrayLike) -> Floats:
    """The observed differences without NaN; DataError when one is outside [-1, 1]."""
    array = np.asarray(d, dtype=np.float64).ravel()
    array = array[~np.isnan(array)]
    bad = np.flatnonzero(np.abs(array) > 1 + 1e-12)
    if bad.size:
        raise DataError(
            f"d[{bad[0]}]: {float(array[bad[0]])!r} is not in [-1, 1]; give differences of outcomes in [0, 1]"
        )
    clipped: Floats = np.clip(array, -1.0, 1.0)
    return clipped


def log_mean_exp(values: Floats) -> Floats:
    """log of the mean of exp over the last axis, without overflow."""
    top = values.max(axis=-1, keepdims=True)
    result: Floats = np.log(np.exp(values - top).mean(axis=-1)) + top[..., 0]
    return result


def log_e_counts(
    harms: npt.ArrayLike,
    repairs: npt.ArrayLike,
    agreements: npt.ArrayLike = 0,
    mean: float = 0.0,
    bets: tuple[float, ...] = BETS,
) -> Floats:
    """log E for verdicts (d in {-1, 0, 1}) from counts, of any shape that broadcasts: the test of E[d] <= `mean`.

    `agreements` (pairs with d = 0) only matter when `mean` is not 0. For the test of E[d] >= m give the counts of -d
    and -m.
    """
    grid = np.asarray(bets)
    up, down, same = (np.asarray(x, dtype=np.float64)[..., None] for x in (harms, repairs, agreements))
    gain = (1.0 - mean) / (1.0 + mean)
    still = -mean / (1.0 + mean)
    return log_mean_exp(up * np.log1p(grid * gain) + down * np.log1p(-grid) + same * np.log1p(grid * still))


def log_e(d: npt.ArrayLike, mean: float = 0.0, bets: tuple[float, ...] = BETS) -> float:
    """log E_n of the test of H0.

    E[d] <= `mean` (`mean` in (-1, 1)) after all of `d`; NaN is left out. 0.0 without data.
    """
    values, counts = np.unique(differences(d), return_counts=True)
    return _log_capital(values, counts, mean, np.asarray(bets))


def e_value(d: npt.ArrayLike, bets: tuple[float, ...] = BETS) -> float:
    """E_n for H0: E[d] <= 0; infinity beyond the range of floats is cut at 1e300."""
    return float(np.exp(min(log_e(d, bets=bets), 690.0)))


def log_e_path(d: npt.ArrayLike, bets: tuple[float, ...] = BETS) -> Floats:
    """log E_1 .. log E_n for H0: E[d] <= 0, one value per pair of `d`; a NaN pair repeats the value before it."""
    array = np.asarray(d, dtype=np.float64).ravel()
    differences(array)
    steps = np.log1p(np.nan_to_num(array, nan=0.0)[:, None] * np.asarray(bets)[None, :])
    return log_mean_exp(np.cumsum(steps, axis=0))


def anytime_p(d: npt.ArrayLike, bets: tuple[float, ...] = BETS) -> float:
    """min(1, 1 / max_n E_n): a p-value at any stopping time. Not an e-value: never put 1 / p into e-BH."""
    path = log_e_path(d, bets)
    return float(np.exp(-max(0.0, path.max(initial=0.0))))


def lower_bound(d: npt.ArrayLike, level: float = 0.05) -> float:
    """One-sided anytime-valid lower bound of E[d].

    Under repeated looks it exceeds E[d] with probability at most `level`.
    """
    values, counts = np.unique(differences(d), return_counts=True)
    return _lower(values, counts, level)


def upper_bound(d: npt.ArrayLike, level: float = 0.05) -> float:
    """One-sided anytime-valid upper bound of E[d] (for futility)."""
    values, counts = np.unique(-differences(d), return_counts=True)
    return -_lower(values, counts, level)


def confidence_sequence(d: npt.ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Two-sided anytime-valid interval of E[d] in [-1, 1], at confidence `level`; (-1, 1) without data.

    Two one-sided bounds at (1 - level) / 2 each. About 20 evaluations of n x 10 products: milliseconds at 5,000 pairs.
    """
    tail = (1.0 - level) / 2
    return lower_bound(d, tail), upper_bound(d, tail)


def surely_below(d: npt.ArrayLike, effect: float, level: float = 0.05) -> bool:
    """Whether `upper_bound(d, level) < effect`, from one evaluation instead of a root search."""
    return bool(log_e(-differences(d), mean=-effect, bets=INTERVAL_BETS) >= np.log(1.0 / level))


def acceptance_chance(
    total: npt.ArrayLike, squares: npt.ArrayLike, n: npt.ArrayLike, left: int, log_threshold: npt.ArrayLike
) -> Floats:
    """How likely E reaches exp(`log_threshold`) with `left` more pairs, given sum, sum of squares and number of `d`
    so far.

    The predictive probability under a flat prior and a normal approximation, counting MIXTURE_PRICE for the grid.
    Only a guide for giving up early: stopping by it cannot raise an error rate, since an e-process may be stopped for
    any reason.
    """
    s, q, m = (np.asarray(x, dtype=np.float64) for x in (total, squares, n))
    m = np.maximum(m, 1.0)
    variance = (q + 1.0) / (m + 2.0)
    budget = m + left
    need = np.sqrt(2.0 * variance * budget * np.maximum(np.asarray(log_threshold) + MIXTURE_PRICE, 0.0))
    spread = np.sqrt(variance * budget * left / m)
    gap = need - s * budget / m
    chance = ndtr(-gap / np.maximum(spread, 1e-12))
    result: Floats = np.asarray(chance, dtype=np.float64)
    return result


def _log_capital(values: Floats, counts: npt.NDArray[np.int_], mean: float, grid: Floats) -> float:
    if not values.size:
        return 0.0
    steps = np.log1p(grid[None, :] * ((values - mean) / (1.0 + mean))[:, None])
    return float(log_mean_exp(counts.astype(np.float64) @ steps))


def _lower(values: Floats, counts: npt.NDArray[np.int_], level: float) -> float:
    """Smallest mean that is not rejected. The capital falls as the mean grows, and is at most 1 at the sample mean."""
    if not values.size:
        return -1.0
    grid = np.asarray(INTERVAL_BETS)
    target = np.log(1.0 / level)

    def excess(mean: float) -> float:
        return _log_capital(values, counts, mean, grid) - float(target)

    centre = float(counts @ values / counts.sum())
    floor = -1.0 + 1e-9
    if centre <= floor or excess(floor) <= 0:
        return -1.0
    return float(brentq(excess, floor, min(centre, 1.0 - 1e-12), xtol=1e-7))
