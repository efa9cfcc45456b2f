"""Self-preference: does a judge favour its own answers where a panel finds no difference (METHOD section 8).

`own` is P(the judge prefers its own answer) for each pair, position taken out, in [0, 1] or NaN; `dq` is the panel's
quality of the own answer minus that of the other, on the 0-10 scale; `prompts` are labels of the prompts, the clusters
of every interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .contrasts import Bools, Floats, outcomes
from .resampling import Estimate, cluster_mean, cluster_ratio

DELTAS: tuple[float, ...] = (0.0, 0.125, 0.25, 0.375, 0.5, 0.75, 1.0, 1.5, 2.0)
"""Thresholds of the sensitivity curve."""


@dataclass(frozen=True)
class Panel:
    """What the panel says about each pair."""

    dq: Floats
    """Mean over its members of own - other; NaN where no member scored both."""
    majority: npt.NDArray[np.int8]
    """1 or -1 where more than half of the members score the own (other) answer higher, else 0."""
    members: npt.NDArray[np.intp]
    """How many scored both answers."""


def panel_view(own_scores: npt.ArrayLike, other_scores: npt.ArrayLike) -> Panel:
    """From scores (pairs x members, each the mean of a member's dimensions; NaN where it is excluded or failed)."""
    own, other = np.asarray(own_scores, dtype=np.float64), np.asarray(other_scores, dtype=np.float64)
    difference = own - other
    there = ~np.isnan(difference)
    members = there.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        dq = np.where(there, difference, 0.0).sum(axis=1) / members
    higher, lower = (difference > 0).sum(axis=1), (difference < 0).sum(axis=1)
    majority = np.where(2 * higher > members, 1, np.where(2 * lower > members, -1, 0)).astype(np.int8)
    return Panel(np.where(members > 0, dq, np.nan), majority, members)


def equal_quality(panel: Panel, delta: float = 0.25) -> Bools:
    """Pairs with |dq| <= delta and no majority of the panel either way."""
    with np.errstate(invalid="ignore"):
        equal: Bools = (np.abs(panel.dq) <= delta + 1e-9) & (panel.majority == 0) & (panel.members > 0)
    return equal


def unequal_quality(panel: Panel, delta: float = 0.25) -> Bools:
    """Pairs that the panel scored and does not find equal."""
    return ~equal_quality(panel, delta) & (panel.members > 0)


def panel_agreement(own_scores: npt.ArrayLike, other_scores: npt.ArrayLike, least: int = 10) -> float | None:
    """Mean correlation of two members' quality differences, over the member pairs that share `least` pairs or more.

    None when no two members do, or all differences are the same. A panel near 0 measures nothing that its members
    share.
    """
    difference = np.asarray(own_scores, dtype=np.float64) - np.asarray(other_scores, dtype=np.float64)
    found = []
    for i in range(difference.shape[1]):
        for j in range(i):
            x, y = difference[:, i], difference[:, j]
            both = ~(np.isnan(x) | np.isnan(y))
            if both.sum() >= least and x[both].std() > 0 and y[both].std() > 0:
                found.append(float(np.corrcoef(x[both], y[both])[0, 1]))
    return float(np.mean(found)) if found else None


def propensity(own: npt.ArrayLike, among: Bools, prompts: npt.ArrayLike, rng: np.random.Generator) -> Estimate:
    """Bias propensity: mean of P(own) - 0.5 over the pairs `among`, in [-0.5, 0.5]; 0 is no preference."""
    return cluster_mean(np.where(among, outcomes(own, "own") - 0.5, np.nan), prompts, rng)


def discriminability(
    own: npt.ArrayLike, dq: npt.ArrayLike, among: Bools, prompts: npt.ArrayLike, rng: np.random.Generator
) -> Estimate:
    """Share of the pairs `among` on which the judge sides with the panel's better answer; even odds count half."""
    return cluster_mean(np.where(among, agreement(own, dq), np.nan), prompts, rng)


def agreement(own: npt.ArrayLike, dq: npt.ArrayLike) -> Floats:
    """1 where judge and panel prefer the same answer, 0 where not, 0.5 at even odds, NaN where either is silent."""
    side, better = np.sign(outcomes(own, "own") - 0.5), np.sign(np.asarray(dq, dtype=np.float64))
    found: Floats = np.where(better == 0, np.nan, (1 + side * better) / 2)
    return found


def beyond_baseline(
    own: npt.ArrayLike, baseline: npt.ArrayLike, among: Bools, prompts: npt.ArrayLike, rng: np.random.Generator
) -> Estimate:
    """Mean of the judge's P(own) minus the other judges' mean for the same answer, pair by pair.

    What every judge prefers is quality that the scores missed, not self-preference.
    """
    difference = outcomes(own, "own") - outcomes(baseline, "baseline")
    return cluster_mean(np.where(among, difference, np.nan), prompts, rng)


@dataclass(frozen=True)
class Point:
    """The propensity at one threshold of equal quality."""

    delta: float
    estimate: Estimate


def threshold_curve(
    own: npt.ArrayLike, panel: Panel, prompts: npt.ArrayLike, seed: int, deltas: Sequence[float] = DELTAS
) -> tuple[Point, ...]:
    """The bias propensity at each threshold; the same bootstrap draws at each, so that the curve is smooth."""
    return tuple(
        Point(delta, propensity(own, equal_quality(panel, delta), prompts, np.random.default_rng(seed)))
        for delta in deltas
    )


@dataclass(frozen=True)
class Mitigation:
    """The bias propensity before and after, over the equal-quality pairs that have both."""

    before: Estimate
    after: Estimate
    reduction: Estimate
    """before - after, in units of the propensity."""
    relative: Estimate | None
    """1 - after / before; None when the interval of `before` holds 0: there is nothing to be reduced."""


def mitigation(
    before: npt.ArrayLike, after: npt.ArrayLike, among: Bools, prompts: npt.ArrayLike, seed: int
) -> Mitigation:
    """Compare P(own) under two ways of judging the same pairs."""
    first, second = outcomes(before, "before") - 0.5, outcomes(after, "after") - 0.5
    both = among & ~(np.isnan(first) | np.isnan(second))
    first, second = np.where(both, first, np.nan), np.where(both, second, np.nan)

    def mean(values: Floats) -> Estimate:
        return cluster_mean(values, prompts, np.random.default_rng(seed))

    was = mean(first)
    relative = None
    if was.interval is not None and not was.interval[0] <= 0 <= was.interval[1]:
        relative = cluster_ratio(first - second, first, prompts, np.random.default_rng(seed))
    return Mitigation(was, mean(second), mean(first - second), relative)
