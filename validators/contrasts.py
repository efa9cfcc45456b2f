"""Paired contrasts: what one arm changes in the judge's verdicts, pair by pair (METHOD: `d_i = wrong_i(bias) -
wrong_i(placebo)`).

An outcome is `wrong` in {0, 1}, the mean of two orders in {0, 0.5, 1}, or P(rejected) in [0, 1]; NaN is a missing,
invalid or tied judgment. Everything here is a proportion in [-1, 1]; points (percent) are made in `summaries`.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.errors import DataError

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

CLIP = 1e-6
"""Probabilities are moved into [CLIP, 1 - CLIP] before log-odds are taken, so one saturated order cannot be
infinite."""


@dataclass(frozen=True)
class Contrast:
    """Two arms compared on the pairs that both of them have."""

    d: Floats
    """bias - reference, full length in pair order, NaN where the pair has left the contrast."""
    mask: Bools
    """True where both arms have a valid judgment and the pair was not excluded."""
    n: int
    missing: int
    """Pairs that left: no valid judgment in one arm or both, or excluded."""
    harms: int
    """Right in the reference, wrong under the bias. Probabilities count by the side of 0.5 they are on."""
    repairs: int
    error_reference: float
    """Mean outcome over the `n` pairs; NaN when there are none."""
    error_bias: float
    effect: float
    """error_bias - error_reference = mean of `observed`, in [-1, 1]."""

    @property
    def observed(self) -> Floats:
        """The `n` differences, in pair order."""
        return self.d[self.mask]


def outcomes(values: npt.ArrayLike, name: str = "outcomes") -> Floats:
    """A one-dimensional float array with values in [0, 1] or NaN; DataError otherwise."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise DataError(f"{name}: has {array.ndim} dimensions, not 1; give one outcome per pair")
    bad = np.flatnonzero((array < 0) | (array > 1) | np.isinf(array))
    if bad.size:
        raise DataError(f"{name}[{bad[0]}]: {float(array[bad[0]])!r} is not in [0, 1]; use NaN for a missing judgment")
    return array


def contrast(reference: npt.ArrayLike, bias: npt.ArrayLike, exclude: npt.ArrayLike | None = None) -> Contrast:
    """Compare the bias arm with the reference arm (placebo, or original under the paper's rule).

    `reference` and `bias`: outcomes of the same pairs in the same order. `exclude`: True where a pair is to leave all
    arms, because a rewrite changed its answer. A pair that one arm lacks leaves the contrast in both, and is counted.
    """
    ref, arm = outcomes(reference, "reference"), outcomes(bias, "bias")
    if ref.shape != arm.shape:
        raise DataError(
            f"bias: {arm.size} outcomes for {ref.size} in the reference; align both by pair, NaN where missing"
        )
    mask = ~(np.isnan(ref) | np.isnan(arm))
    if exclude is not None:
        left_out = np.asarray(exclude, dtype=np.bool_)
        if left_out.shape != mask.shape:
            raise DataError(f"exclude: {left_out.size} flags for {mask.size} pairs; give one per pair")
        mask &= ~left_out
    n = int(mask.sum())
    d = np.where(mask, arm - ref, np.nan)
    moved = np.sign(np.sign(arm[mask] - 0.5) - np.sign(ref[mask] - 0.5))
    error_reference = float(ref[mask].mean()) if n else float("nan")
    error_bias = float(arm[mask].mean()) if n else float("nan")
    return Contrast(
        d=d,
        mask=mask,
        n=n,
        missing=int(mask.size) - n,
        harms=int((moved > 0).sum()),
        repairs=int((moved < 0).sum()),
        error_reference=error_reference,
        error_bias=error_bias,
        effect=float(d[mask].mean()) if n else float("nan"),
    )


def combine_orders(p_order1: npt.ArrayLike, p_order2: npt.ArrayLike) -> Floats:
    """P(rejected) with the position taken out: the sigmoid of the mean of the two log-odds for the rejected answer.

    Both arrays hold P(rejected), one per pair, for the two orders; a pair that lacks one order is NaN. Probabilities
    are clipped to [CLIP, 1 - CLIP] first. A habit of preferring one position adds the same log-odds with opposite
    signs and cancels.
    """
    one, two = outcomes(p_order1, "p_order1"), outcomes(p_order2, "p_order2")
    if one.shape != two.shape:
        raise DataError(
            f"p_order2: {two.size} values for {one.size} in p_order1; align both by pair, NaN where missing"
        )
    clipped = np.clip(np.stack([one, two]), CLIP, 1 - CLIP)
    log_odds = np.log(clipped) - np.log1p(-clipped)
    combined: Floats = 1.0 / (1.0 + np.exp(-log_odds.mean(axis=0)))
    return combined


def combine_verdicts(wrong_order1: npt.ArrayLike, wrong_order2: npt.ArrayLike) -> Floats:
    """The mean of two verdicts, in {0, 0.5, 1}.

    A pair that lacks one order is NaN. Differences of these are in [-1, 1].
    """
    one, two = outcomes(wrong_order1, "wrong_order1"), outcomes(wrong_order2, "wrong_order2")
    if one.shape != two.shape:
        raise DataError(f"wrong_order2: {two.size} values for {one.size} in wrong_order1; align both by pair")
    mean: Floats = (one + two) / 2
    return mean
