"""One logistic fit on all judgments of own against other answers (METHOD section 8).

logit P(own) = beta_self + a * dQ + g * position, position = +1/2 where the own answer stands first and -1/2 where it
stands second. Centred like this, beta_self is net of a position habit; with a 0/1 indicator it would be the bias in
second place.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from scipy.stats import t as student

from ..core.errors import DataError
from .contrasts import Floats

_ITERATIONS = 50
_FARTHEST = 25.0
"""Log-odds beyond which a fit has run away: one side wins wherever the model looks."""


@dataclass(frozen=True)
class Coefficient:
    """One coefficient in log-odds."""

    estimate: float
    error: float
    """Standard error, by jackknife over prompts."""
    interval: tuple[float, float]
    """95 %, Student's t with one degree of freedom less than there are prompts."""


@dataclass(frozen=True)
class PreferenceFit:
    """The three coefficients, or the reason why there are none."""

    n: int
    """Judgments."""
    prompts: int
    beta_self: Coefficient | None = None
    discriminability: Coefficient | None = None
    """Log-odds for one point of quality."""
    position: Coefficient | None = None
    """Log-odds for standing first rather than second; None for a judge without positions too."""
    reason: str = ""


def fit_preference(
    own: npt.ArrayLike, dq: npt.ArrayLike, own_first: npt.ArrayLike | None, prompts: npt.ArrayLike, level: float = 0.95
) -> PreferenceFit:
    """Fit the model to judgments of single orders.

    `own`: 1, 0 or a probability that the judge prefers its own answer (ties 0.5), NaN where it is missing; fractional
    outcomes are fitted by quasi-likelihood (Papke and Wooldridge, Journal of Applied Econometrics 11, 1996). `dq` as
    in `self_preference`. `own_first`: True where the own answer stands first; None for a judge that sees no order.
    Standard errors are a one-step jackknife over prompts (Bell and McCaffrey's CR3), which stays honest with few of
    them.
    """
    outcome, quality = np.asarray(own, dtype=np.float64), np.asarray(dq, dtype=np.float64)
    labels = np.asarray(prompts)
    columns = [np.ones_like(outcome), quality]
    if own_first is not None:
        columns.append(np.where(np.asarray(own_first, dtype=np.bool_), 0.5, -0.5))
    if any(c.shape != outcome.shape for c in (*columns, labels)) or outcome.ndim != 1:
        raise DataError("own, dq, own_first, prompts: have different lengths; give one value per judgment")
    there = ~(np.isnan(outcome) | np.isnan(quality))
    y, design = outcome[there], np.stack(columns, axis=1)[there]
    names, numbers = np.unique(labels[there], return_inverse=True)
    n, groups, width = int(y.size), int(names.size), design.shape[1]
    if groups <= width:
        return PreferenceFit(n, groups, reason=f"{groups} prompts are too few for {width} coefficients")
    constant = [k for k in range(1, width) if np.ptp(design[:, k]) == 0]
    if constant:
        what = {1: "quality difference", 2: "position"}[constant[0]]
        return PreferenceFit(n, groups, reason=f"the {what} is the same in all judgments")
    found = _solve(design, y)
    if found is None:
        return PreferenceFit(
            n, groups, reason="one side wins without exception somewhere, so that no estimate is finite"
        )
    errors = _jackknife(design, y, found, numbers, groups)
    reach = float(student.ppf((1 + level) / 2, groups - 1))
    made = [
        Coefficient(float(b), float(e), (float(b - reach * e), float(b + reach * e)))
        for b, e in zip(found, errors, strict=True)
    ]
    return PreferenceFit(n, groups, made[0], made[1], made[2] if width > 2 else None)


def _solve(design: Floats, y: Floats) -> Floats | None:
    """Newton steps on the quasi-likelihood; None when they run away."""
    beta, fit = np.zeros(design.shape[1]), _likelihood(design, y, np.zeros(design.shape[1]))
    for _ in range(_ITERATIONS):
        mean = expit(design @ beta)
        weight = mean * (1 - mean)
        try:
            step = np.linalg.solve(design.T @ (design * weight[:, None]), design.T @ (y - mean))
        except np.linalg.LinAlgError:
            return None
        while (better := _likelihood(design, y, beta + step)) < fit - 1e-12 and float(np.abs(step).max()) > 1e-9:
            step = step / 2
        beta, fit = beta + step, better
        if float(np.abs(step).max()) < 1e-9:
            return beta
        if float(np.abs(design @ beta).max()) > _FARTHEST:
            return None
    return None


def _likelihood(design: Floats, y: Floats, beta: Floats) -> float:
    line = design @ beta
    return float((y * line - np.logaddexp(0.0, line)).sum())


def _jackknife(design: Floats, y: Floats, beta: Floats, numbers: npt.NDArray[np.intp], groups: int) -> Floats:
    mean = expit(design @ beta)
    weight = mean * (1 - mean)
    whole = design.T @ (design * weight[:, None])
    moved = np.zeros((groups, design.shape[1]))
    for group in range(groups):
        rows = numbers == group
        part = design[rows]
        without = whole - part.T @ (part * weight[rows][:, None])
        moved[group] = np.linalg.lstsq(without, part.T @ (y[rows] - mean[rows]), rcond=None)[0]
    centred = moved - moved.mean(axis=0)
    errors: Floats = np.sqrt((groups - 1) / groups * (centred**2).sum(axis=0))
    return errors
