"""What a bias of the judge could do to a ranking: Bradley-Terry strengths, and how many places a shift is worth."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from ..core.errors import DataError
from .contrasts import Floats
from .resampling import DRAWS, expanded

RIDGE = 0.01
"""Weight of a normal prior on strengths: a model that has won or lost everything keeps a finite one."""


def strengths(wins: npt.ArrayLike, ridge: float = RIDGE, steps: int = 100) -> Floats:
    """Bradley-Terry strengths in log-odds, with mean 0: P(i beats j) = expit(s_i - s_j).

    `wins[i, j]`: how often i beat j, a tie as half a win for both (models x models). Maximum likelihood with a ridge
    penalty, by Newton's method (Hunter, Annals of Statistics 32, 2004, for the model).
    """
    won = np.asarray(wins, dtype=np.float64)
    if won.ndim != 2 or won.shape[0] != won.shape[1] or (won < 0).any() or np.diag(won).any():
        raise DataError("wins: needs a square table of counts, at least 0, with nothing on its diagonal")
    played = won + won.T
    s = np.zeros(len(won))
    for _ in range(steps):
        expected = expit(s[:, None] - s[None, :])
        gradient = (won - played * expected).sum(axis=1) - ridge * s
        information = played * expected * (1 - expected)
        hessian = np.diag(information.sum(axis=1) + ridge) - information
        step = np.linalg.solve(hessian, gradient)
        s = s + np.clip(step, -2.0, 2.0)
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    centred: Floats = s - s.mean()
    return centred


class Flips(NamedTuple):
    """What a gain in log-odds would do to a ranking, if each model in turn had it and the others had not."""

    overtakes: int
    """Pairs of models in which the weaker one would come out ahead."""
    gainers: int
    """Models that would gain a rank or more."""
    leaders: int
    """Models that would come out first and are not first as it is."""


def rank_flips(s: npt.ArrayLike, shift: float) -> Flips:
    """Flips of a ranking by strengths `s` (log-odds), when one model gains `shift`. Equal strengths are no rank."""
    values = np.asarray(s, dtype=np.float64)
    gaps = values[:, None] - values[None, :]
    passed = (gaps > 0) & (gaps < shift)
    behind = values.max(initial=-np.inf) - values
    return Flips(int(passed.sum()), int(passed.any(axis=0).sum()), int(((behind > 0) & (behind < shift)).sum()))


def gate_flips(rates: npt.ArrayLike, threshold: float, shift: float) -> tuple[int, int]:
    """(opened, closed): candidates under the threshold that pass when they gain `shift` log-odds, and candidates that
    pass and would not when the model they are compared with gains it. `rates`: their win rates."""
    r = np.asarray(rates, dtype=np.float64)
    with np.errstate(divide="ignore"):
        odds = logit(r)
    opened = (r < threshold) & (expit(odds + shift) >= threshold)
    closed = (r >= threshold) & (expit(odds - shift) < threshold)
    return int(opened.sum()), int(closed.sum())


class Shift(NamedTuple):
    """What a bias adds to the log-odds that the wrong answer wins."""

    n: int
    """Pairs that both arms have."""
    value: float
    """NaN without pairs."""
    interval: tuple[float, float]
    """Unbounded with fewer than two pairs."""


def log_odds_shift(
    reference: npt.ArrayLike, bias: npt.ArrayLike, rng: np.random.Generator, *, draws: int = DRAWS, level: float = 0.95
) -> Shift:
    """The shift over pairs that both arms have (NaN is left out), with an interval by bootstrap over the pairs.

    `reference`, `bias`: outcomes in [0, 1], 1 where the wrong answer won. Error rates are moved off 0 and 1 by half an
    error. The interval is the expanded percentile one (see `resampling`).
    """
    ref, arm = np.asarray(reference, np.float64), np.asarray(bias, np.float64)
    there = ~(np.isnan(ref) | np.isnan(arm))
    n = int(there.sum())
    if not n:
        return Shift(0, float("nan"), (-np.inf, np.inf))
    # Verdicts take few values, so pairs that have the same two outcomes are drawn together.
    rows, counts = np.unique(np.stack([ref[there], arm[there]], axis=1), axis=0, return_counts=True)
    value = float(_shift(counts[None, :] @ rows, n)[0])
    if n < 2:
        return Shift(n, value, (-np.inf, np.inf))
    weights = rng.multinomial(n, counts / n, size=draws)
    return Shift(n, value, expanded(_shift(weights @ rows, n), n, level))


def _shift(errors: Floats, n: int) -> Floats:
    """From sums of errors (samples x 2 arms)."""
    odds = logit((errors + 0.5) / (n + 1))
    found: Floats = odds[:, 1] - odds[:, 0]
    return found
