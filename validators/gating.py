"""Whether a judge passes a gate: every bias surely under its limit, none surely over it, or not enough pairs to say.

Two errors are held down, each at 1 - level (5 % by default). A false pass: the gate lets through a judge one of whose
biases is at its limit or over it. Passing claims that all are under, so every bias is tested at that level and no
correction is needed (intersection-union test; Berger, Technometrics 24, 1982). A false alarm: the gate calls a judge
worse none of whose biases is. That claim needs one bias only, so Holm's correction is made over all tests that could
support it: of each effect against its limit and, with a baseline, of each change against what is allowed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..core.errors import ConfigError
from .bounded import bounds, p_above, p_below
from .eprocess import differences
from .multiplicity import holm

Standing = Literal["pass", "worse", "inconclusive"]


@dataclass(frozen=True)
class GateLimits:
    """What is allowed. Proportions: 0.05 is 5 points."""

    max_effect: float | None = None
    """Most that a bias may add to the error rate; None does not limit it."""
    max_change: float | None = None
    """Most that an effect may have grown since the baseline. None: any growth that is shown is worse, but passing does
    not need to show that there is none."""
    level: float = 0.95
    max_missing: float = 0.1
    """Most pairs that may lack a verdict, as a share, for a bias to pass."""

    def __post_init__(self) -> None:
        for name, low, high in (("max_effect", 0, 1), ("max_change", 0, 1), ("max_missing", 0, 1), ("level", 0.5, 1)):
            value = getattr(self, name)
            if value is not None and not low <= value < high:
                raise ConfigError(f"{name}: {value!r} is not between {low} and {high}")


@dataclass(frozen=True)
class Measured:
    """What is known of one bias. Arrays over the same pairs, NaN where missing."""

    d: npt.ArrayLike
    """wrong(bias) - wrong(placebo) as the judge is now."""
    before: npt.ArrayLike | None = None
    """The same at the baseline."""
    missing: float = 0.0
    """Share of the pairs on which the judge gave no verdict in one of the two arms."""


@dataclass(frozen=True)
class Estimate:
    """A mean with its bounds, each one-sided at the gate's level; proportions."""

    n: int
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class BiasStanding:
    """Where one bias stands."""

    standing: Standing
    reason: str
    effect: Estimate
    change: Estimate | None
    p_over: float | None
    """Of "the effect is at most its limit", by Holm over the gate's tests."""
    p_grown: float | None
    """Of "the effect has grown by no more than is allowed", by Holm over the gate's tests."""


def judge_gate(measured: Mapping[str, Measured], limits: GateLimits) -> tuple[Standing, dict[str, BiasStanding]]:
    """The gate's answer and each bias's standing. Without biases there is nothing to pass: inconclusive."""
    tests: dict[tuple[str, str], float] = {}
    for name, m in measured.items():
        if limits.max_effect is not None:
            tests[name, "over"] = p_above(m.d, limits.max_effect)
        if m.before is not None:
            tests[name, "grown"] = p_above(_half_change(m), (limits.max_change or 0.0) / 2)
    _, adjusted = holm(list(tests.values()), 1 - limits.level)
    p = dict(zip(tests, (float(x) for x in adjusted), strict=True))
    found = {name: _standing(m, limits, p.get((name, "over")), p.get((name, "grown"))) for name, m in measured.items()}
    standings = {s.standing for s in found.values()}
    overall: Standing = "worse" if "worse" in standings else "pass" if standings == {"pass"} else "inconclusive"
    return overall, found


def estimate(d: npt.ArrayLike, level: float, scale: float = 1.0) -> Estimate:
    """Mean and bounds of d / `scale`; NaN and the whole range without data."""
    observed = differences(d)
    low, high = bounds(observed, level)
    value = float(observed.mean()) if observed.size else float("nan")
    return Estimate(int(observed.size), value / scale, low / scale, high / scale)


def _half_change(m: Measured) -> npt.NDArray[np.float64]:
    """Half of the change, in [-1, 1], on the pairs that both times have."""
    halved: npt.NDArray[np.float64] = (np.asarray(m.d, np.float64) - np.asarray(m.before, np.float64)) / 2
    return halved


def _standing(m: Measured, limits: GateLimits, p_over: float | None, p_grown: float | None) -> BiasStanding:
    alpha = 1 - limits.level
    effect = estimate(m.d, limits.level)
    change = None if m.before is None else estimate(_half_change(m), limits.level, 0.5)
    worse, unclear = [], []
    if limits.max_effect is not None:
        if p_over is not None and p_over <= alpha:
            worse.append(f"the effect is over {_points(limits.max_effect)}")
        elif p_below(m.d, limits.max_effect) > alpha:
            unclear.append(f"the effect may be {_points(effect.high)}")
    if m.before is not None:
        allowed = limits.max_change or 0.0
        if p_grown is not None and p_grown <= alpha:
            by = f"by more than {_points(allowed)} " if allowed else ""
            worse.append(f"the effect has grown {by}since the baseline")
        elif limits.max_change is not None and p_below(_half_change(m), allowed / 2) > alpha:
            unclear.append(f"the effect may have grown by {_points(change.high if change else 1.0)}")
    if m.missing > limits.max_missing:
        unclear.append(f"{m.missing:.0%} of the pairs have no verdict")
    if not effect.n:
        unclear = ["no pair has a verdict in both arms"]
    standing: Standing = "worse" if worse else "inconclusive" if unclear else "pass"
    return BiasStanding(standing, "; ".join(worse or unclear), effect, change, p_over, p_grown)


def _points(proportion: float) -> str:
    return f"{100 * proportion:.1f} points"
