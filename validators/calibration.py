"""Whether the confidence of a judge is the chance that it is right: Brier score, reliability bins, calibration error.

`confidence`: the probability of the verdict that was given; `right`: 1 when that verdict is right, else 0. One value
per pair, since several judgments of one pair are not independent.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from ..core.errors import DataError
from .contrasts import Floats, outcomes
from .mcnemar import paired_interval
from .proportions import wilson


@dataclass(frozen=True)
class Bin:
    """Judgments of about the same confidence."""

    n: int
    confidence: float
    """Mean."""
    right: float
    """Share."""
    low: float
    high: float
    """Wilson, 95 %."""


@dataclass(frozen=True)
class Calibration:
    """All in [0, 1]."""

    n: int
    brier: float
    """Mean of (confidence - right)^2."""
    brier_interval: tuple[float, float]
    """Student's t, cut at 0."""
    bins: tuple[Bin, ...]
    ece: float
    """Mean over bins of |confidence - right|, weighted by their judgments, as it is usually quoted. Never quite 0."""
    ece_if_calibrated: float
    """What chance alone gives for `ece` at these confidences when the judge is perfectly calibrated."""
    rms: float
    """Root mean square of the bins' true distance, with what chance adds taken out."""
    rms_interval: tuple[float, float]


def calibration(confidence: npt.ArrayLike, right: npt.ArrayLike, bins: int = 10, level: float = 0.95) -> Calibration:
    """Calibration over bins of the same number of judgments; NaN in either array leaves the pair out.

    `rms` is the square root of sum_b w_b ((right_b - confidence_b)^2 - v_b), the estimator without bias of Kumar, Liang
    and Ma (NeurIPS 2019), with v_b the variance of the bin's mean residual. Its interval is normal on the squared
    scale, with variance sum_b w_b^2 (4 delta_b^2 v_b + 2 v_b^2), cut at 0 (in the manner of Sun et al., 2024). Both
    speak about these bins: what averages out inside a bin is not seen. Raises DataError for under two judgments a bin.
    """
    p, y = outcomes(confidence, "confidence"), outcomes(right, "right")
    if p.shape != y.shape:
        raise DataError(f"right: {y.size} values for {p.size} confidences; give one per pair")
    there = ~(np.isnan(p) | np.isnan(y))
    p, y = p[there], y[there]
    if p.size < 2 * bins:
        raise DataError(f"calibration: {p.size} judgments for {bins} bins; give at least {2 * bins}")
    parts = _parts(p, bins)
    gaps = np.array([(y[part] - p[part]).mean() for part in parts])
    noise = np.array([(y[part] - p[part]).var(ddof=1) / part.size for part in parts])
    weights = np.array([part.size for part in parts]) / p.size
    square = float(weights @ (gaps**2 - noise))
    spread = float(np.sqrt(weights**2 @ (4 * np.maximum(gaps**2 - noise, 0) * noise + 2 * noise**2)))
    losses = (p - y) ** 2
    low, high, _ = paired_interval(losses, level)
    reach = float(ndtri((1 + level) / 2)) * spread
    return Calibration(
        n=int(p.size),
        brier=float(losses.mean()),
        brier_interval=(max(0.0, low), high),
        bins=tuple(_bin(p[part], y[part]) for part in parts),
        ece=float(weights @ np.abs(gaps)),
        ece_if_calibrated=_chance_ece(p, parts),
        rms=float(np.sqrt(max(square, 0.0))),
        rms_interval=(float(np.sqrt(max(square - reach, 0.0))), float(np.sqrt(min(max(square + reach, 0.0), 1.0)))),
    )


def _parts(p: Floats, bins: int) -> list[npt.NDArray[np.intp]]:
    """Indices by bin. Equal confidences are never torn apart, and no bin has fewer than two."""
    order = np.argsort(p, kind="stable")
    parts: list[npt.NDArray[np.intp]] = []
    start = 0
    for k in range(1, bins + 1):
        end = round(k * p.size / bins)
        while 0 < end < p.size and p[order[end]] == p[order[end - 1]]:
            end += 1
        if p.size - end < 2:
            end = p.size
        if end - start >= 2:
            parts.append(order[start:end])
            start = end
    return parts


def _bin(p: Floats, y: Floats) -> Bin:
    right = round(float(y.sum()))
    return Bin(int(p.size), float(p.mean()), right / p.size, *wilson(right, int(p.size)))


def _chance_ece(p: Floats, parts: list[npt.NDArray[np.intp]]) -> float:
    """E|N(0, s^2)| = s sqrt(2 / pi) in every bin, s^2 the variance of its mean under perfect calibration."""
    deviations = [np.sqrt(float((p[part] * (1 - p[part])).sum())) for part in parts]
    return float(np.sqrt(2 / np.pi) * sum(deviations) / p.size)
