"""Which columns explain a response: sparse regression on many random halves of the data, and what is chosen in most.

Stability selection (Meinshausen and Buehlmann 2010) with complementary pairs of halves and the bound on false
selections of Shah and Samworth (2013, Theorems 1 and 2), which needs no model of the data.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.errors import ConfigError, DataError
from .contrasts import Floats

PAIRS = 50
"""Complementary pairs of halves; so twice as many regressions."""
THRESHOLD = 0.75
"""Share of the halves in which a column must be chosen."""


@dataclass(frozen=True)
class Block:
    """Rows of one kind: differences in features, and what they did to the judge.

    Each block has an intercept and `nuisance` columns of its own, which are taken out first, and counts by its own
    noise.
    """

    x: Floats
    """(n, p) differences; NaN is not allowed."""
    y: Floats
    """(n) responses, NaN where there is none."""
    group: Sequence[str]
    """(n) what a row belongs to; rows of a group stay in the same half."""
    nuisance: Floats | None = None
    """(n, k) columns that are explained away and never chosen."""


@dataclass(frozen=True)
class Stability:
    """What was chosen, and how surely. Arrays are over the p columns given."""

    chosen: npt.NDArray[np.bool_]
    frequency: Floats
    """Share of the halves in which a column was among the first `per_half`; 0 for one that was left out."""
    weight: Floats
    """Least-squares weight of the chosen columns, fitted together, per standard deviation of each (0 elsewhere): in
    standard deviations of the response."""
    considered: npt.NDArray[np.bool_]
    """Columns that vary in enough rows to be looked at."""
    n: int
    """Rows."""
    per_half: int
    """Columns that each half chooses at most."""
    threshold: float
    false_bound: float
    """At most so many columns are chosen on average that a half chooses no more often than it would by chance."""


def stability_selection(
    blocks: Sequence[Block],
    rng: np.random.Generator,
    *,
    false_selections: float = 1.0,
    min_rows: int = 8,
    threshold: float = THRESHOLD,
    pairs: int = PAIRS,
) -> Stability:
    """Choose columns that explain the responses, with at most `false_selections` false ones on average.

    Columns that differ from their usual value in fewer than `min_rows` rows are not looked at. The regression is the
    LARS path (the lasso's, without its drops): each half chooses the columns that enter first, as many as the bound
    allows. Raises DataError when blocks do not fit together.
    """
    whole = _whitened(blocks)
    p = whole.x.shape[1]
    considered = sum((_unusual(block) for block in blocks), np.zeros(p)) >= min_rows
    empty = np.zeros(p)
    columns = np.flatnonzero(considered)
    per_half = most_per_half(len(columns), false_selections, threshold, pairs)
    groups = np.unique(whole.group)
    if not per_half or len(groups) < 4:
        return Stability(empty > 0, empty, empty, considered, len(whole.y), 0, threshold, 0.0)
    x = whole.x[:, columns]
    counts = np.zeros(len(columns))
    for _ in range(pairs):
        shuffled = rng.permutation(len(groups))
        first = np.zeros(len(groups), dtype=np.bool_)
        first[shuffled[: len(groups) // 2]] = True
        in_first = first[whole.group]
        for rows in (in_first, ~in_first):
            counts[first_to_enter(x[rows], whole.y[rows], per_half)] += 1
    frequency, weight = np.zeros(p), np.zeros(p)
    frequency[columns] = counts / (2 * pairs)
    chosen = frequency >= threshold
    if chosen.any():
        picked = whole.x[:, chosen]
        scale = picked.std(axis=0)
        weight[chosen] = np.linalg.lstsq(picked / scale, whole.y / whole.y.std(), rcond=None)[0]
    bound = false_bound(per_half, len(columns), threshold, pairs)
    return Stability(chosen, frequency, weight, considered, len(whole.y), per_half, threshold, bound)


def first_to_enter(x: Floats, y: Floats, most: int) -> npt.NDArray[np.intp]:
    """Places of the first `most` columns on the LARS path of y on the standardised columns of x."""
    from sklearn.exceptions import ConvergenceWarning  # here, since it takes a second that most commands need not wait
    from sklearn.linear_model import lars_path

    x = x - x.mean(axis=0)
    scale = x.std(axis=0)
    usable = np.flatnonzero(scale > 1e-9)
    y = y - y.mean()
    if not usable.size or not y.any():
        return usable[:0]
    with warnings.catch_warnings():
        # A column that is a sum of others is dropped by the path with a warning; it just cannot enter.
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, active, _ = lars_path(x[:, usable] / scale[usable], y, method="lar", max_iter=min(most, usable.size))
    return usable[np.asarray(active[:most], dtype=np.intp)]


def false_bound(per_half: int, columns: int, threshold: float = THRESHOLD, pairs: int = PAIRS) -> float:
    """Most columns of low selection probability (per_half / columns or less) that are chosen on average.

    The smaller of Theorem 1, without assumptions, and Theorem 2, for simultaneous selection proportions with a unimodal
    distribution, where it applies (Shah and Samworth 2013).
    """
    if not 0.5 < threshold <= 1:
        raise ConfigError(f"threshold: {threshold!r} is not in (0.5, 1]; give a share of the halves such as 0.75")
    theta = per_half / columns
    bounds = [per_half * theta / (2 * threshold - 1)]
    step = 1 / (2 * pairs)
    if theta <= 1 / math.sqrt(3):
        if threshold > 0.75:
            bounds.append(per_half * theta * 4 * (1 - threshold + step) / (1 + 2 * step))
        elif threshold > 0.5 + min(theta**2, step + 0.75 * theta**2):
            bounds.append(per_half * theta / (2 * (2 * threshold - 1 - step)))
    return min(bounds)


def most_per_half(columns: int, false_selections: float, threshold: float = THRESHOLD, pairs: int = PAIRS) -> int:
    """The most columns that a half may choose so that the bound holds; 0 when not even one may."""
    allowed = [q for q in range(1, columns // 2 + 1) if false_bound(q, columns, threshold, pairs) <= false_selections]
    return max(allowed, default=0)


@dataclass(frozen=True)
class _Whole:
    x: Floats
    y: Floats
    group: npt.NDArray[np.intp]


def _whitened(blocks: Sequence[Block]) -> _Whole:
    """The blocks as one: intercepts and nuisance taken out, each scaled so that its response has variance 1."""
    xs, ys, groups = [], [], list[str]()
    widths = {block.x.shape[1] for block in blocks}
    if len(widths) != 1:
        raise DataError(f"blocks: {sorted(widths)} columns; give one block at least, all with the same columns")
    for block in blocks:
        if not len(block.x) == len(block.y) == len(block.group):
            raise DataError(
                f"block: {len(block.x)} rows, {len(block.y)} responses, {len(block.group)} groups; give equally many"
            )
        if not np.isfinite(block.x).all():
            raise DataError("block: a feature is not a finite number; leave out rows that cannot be measured")
        there = np.isfinite(block.y)
        if there.sum() < 2:
            continue
        fixed = np.ones((int(there.sum()), 1))
        if block.nuisance is not None:
            fixed = np.hstack([fixed, block.nuisance[there]])
        x, y = _without(fixed, block.x[there]), _without(fixed, block.y[there])
        noise = float(y.std())
        if noise < 1e-9:
            continue
        xs.append(x / noise)
        ys.append(y / noise)
        groups += [g for g, is_there in zip(block.group, there, strict=True) if is_there]
    if not xs:
        return _Whole(np.zeros((0, widths.pop())), np.zeros(0), np.zeros(0, dtype=np.intp))
    places = {name: k for k, name in enumerate(sorted(set(groups)))}
    return _Whole(np.vstack(xs), np.concatenate(ys), np.array([places[g] for g in groups], dtype=np.intp))


def _unusual(block: Block) -> Floats:
    """In how many rows with a response each column is not what it is in most of them."""
    x = block.x[np.isfinite(block.y)]
    return np.asarray((x != np.median(x, axis=0)).sum(axis=0), dtype=np.float64) if len(x) else np.zeros(x.shape[1])


def _without(fixed: Floats, values: Floats) -> Floats:
    """What least squares on `fixed` leaves of the values."""
    left: Floats = values - fixed @ np.linalg.lstsq(fixed, values, rcond=None)[0]
    return left
