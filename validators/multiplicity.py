"""Many biases at once: e-BH for e-values, Benjamini-Hochberg and Holm for p-values. All work over the last axis."""

import numpy as np
import numpy.typing as npt

from ..core.errors import DataError
from .contrasts import Bools, Floats


def e_bh_log(log_e_values: npt.ArrayLike, level: float) -> Bools:
    """e-BH (Wang and Ramdas 2022) on log e-values: which hypotheses are rejected at false discovery rate `level`.

    Rejects the k largest, k the largest number with e_(k) >= K / (k level). Holds under any dependence. -inf stands
    for an e-value of 0: a hypothesis that still counts among the K but cannot be rejected.
    """
    values = np.asarray(log_e_values, dtype=np.float64)
    if np.isnan(values).any():
        raise DataError("e-values: one is NaN; use 0 (log: -inf) for a hypothesis without evidence")
    total = values.shape[-1]
    if not total:
        return np.zeros(values.shape, dtype=np.bool_)
    ranks = np.arange(1, total + 1)
    thresholds = np.log(total / (ranks * level))
    ordered = -np.sort(-values, axis=-1)
    count = np.where(ordered >= thresholds, ranks, 0).max(axis=-1, keepdims=True)
    cut = np.where(count > 0, thresholds[np.maximum(count, 1) - 1], np.inf)
    rejected: Bools = values >= cut
    return rejected


def e_bh(e_values: npt.ArrayLike, level: float) -> Bools:
    """e-BH on e-values, each at least 0."""
    values = np.asarray(e_values, dtype=np.float64)
    if (values < 0).any():
        raise DataError(f"e-values: {float(values.min())!r} is negative; an e-value is at least 0")
    with np.errstate(divide="ignore"):
        return e_bh_log(np.log(values), level)


def benjamini_hochberg(p_values: npt.ArrayLike, level: float) -> tuple[Bools, Floats]:
    """Benjamini-Hochberg: (rejected, adjusted p). False discovery rate under independence or positive dependence."""
    p = _p_values(p_values)
    total = p.shape[-1]
    order = np.argsort(p, axis=-1, kind="stable")
    scaled = np.take_along_axis(p, order, axis=-1) * total / np.arange(1, total + 1)
    stepped = np.minimum.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]
    return _back(stepped, order, level)


def holm(p_values: npt.ArrayLike, level: float) -> tuple[Bools, Floats]:
    """Holm: (rejected, adjusted p). Family-wise error under any dependence."""
    p = _p_values(p_values)
    total = p.shape[-1]
    order = np.argsort(p, axis=-1, kind="stable")
    scaled = np.take_along_axis(p, order, axis=-1) * (total - np.arange(total))
    return _back(np.maximum.accumulate(scaled, axis=-1), order, level)


def _p_values(p_values: npt.ArrayLike) -> Floats:
    p = np.asarray(p_values, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise DataError("p-values: one is not in [0, 1]; use 1 for a hypothesis without data")
    return p


def _back(stepped: Floats, order: npt.NDArray[np.intp], level: float) -> tuple[Bools, Floats]:
    adjusted = np.empty_like(stepped)
    np.put_along_axis(adjusted, order, np.minimum(stepped, 1.0), axis=-1)
    # A hair of slack: p * total / rank may land one rounding step above a level that it equals exactly.
    rejected: Bools = adjusted <= level * (1 + 1e-12)
    return rejected, adjusted
