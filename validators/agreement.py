"""Agreement: between annotators (kappa) and between biases (phi, same-effect groups)."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from ..core.errors import DataError

SAME_EFFECT = 0.8
"""Two biases whose d vectors have at least this phi have the same effect."""


def cohen_kappa(first: Sequence[str | int], second: Sequence[str | int]) -> float:
    """Cohen's kappa of two raters over the same items.

    NaN when nothing was rated or both use one and the same category only.
    """
    if len(first) != len(second):
        raise DataError(f"second: {len(second)} ratings for {len(first)} items; give one per item")
    if not first:
        return float("nan")
    names = {name: i for i, name in enumerate(dict.fromkeys([*first, *second]))}
    table = np.zeros((len(names), len(names)))
    np.add.at(table, ([names[x] for x in first], [names[x] for x in second]), 1)
    table /= table.sum()
    expected = float(table.sum(axis=1) @ table.sum(axis=0))
    return float("nan") if expected >= 1 else (float(np.trace(table)) - expected) / (1 - expected)


def fleiss_kappa(counts: npt.ArrayLike) -> float:
    """Fleiss' kappa of an items x categories table of counts; every item has the same number (>= 2) of ratings.

    NaN when all ratings are in one category.
    """
    table = np.asarray(counts, dtype=np.float64)
    raters = table.sum(axis=1) if table.ndim == 2 else np.zeros(0)
    if not raters.size or raters[0] < 2 or (raters != raters[0]).any():
        raise DataError("counts: needs items x categories with the same number of ratings, at least 2, for every item")
    m = float(raters[0])
    agreement = float(((table**2).sum(axis=1) - m).mean()) / (m * (m - 1))
    expected = float(((table.sum(axis=0) / table.sum()) ** 2).sum())
    return float("nan") if expected >= 1 - 1e-15 else (agreement - expected) / (1 - expected)


def phi_coefficient(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Phi (Pearson correlation) of two d vectors over the pairs that both have; NaN when either is constant there."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.shape != y.shape:
        raise DataError(f"b: {y.size} differences for {x.size}; align both by pair, NaN where missing")
    shared = ~(np.isnan(x) | np.isnan(y))
    x, y = x[shared], y[shared]
    if x.size < 2:
        return float("nan")
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float("nan") if scale < 1e-15 else float(x @ y) / scale


def same_effect_groups(
    differences: Mapping[str, npt.ArrayLike], threshold: float = SAME_EFFECT, min_shared: int = 30, min_flips: int = 5
) -> list[tuple[str, ...]]:
    """Groups of biases that flip the same pairs: connected components of phi >= `threshold`, largest group first.

    `differences`: bias id -> d over the same pairs, NaN where missing. A link needs `min_shared` shared pairs and
    `min_flips` non-zero differences of each bias on them. A bias without links is in no group.
    """
    ids = sorted(differences)
    vectors = [np.asarray(differences[i], dtype=np.float64) for i in ids]
    root = list(range(len(ids)))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for i, x in enumerate(vectors):
        if x.shape != vectors[0].shape:
            raise DataError(
                f"{ids[i]}: {x.size} differences, {ids[0]} has {vectors[0].size}; align both by pair, NaN where missing"
            )
    for i, j in _near(np.array(vectors), threshold - 1e-9, min_shared, min_flips) if ids else ():
        if phi_coefficient(vectors[i], vectors[j]) >= threshold:
            root[find(i)] = find(j)
    groups: dict[int, list[str]] = {}
    for i, name in enumerate(ids):
        groups.setdefault(find(i), []).append(name)
    found = [tuple(members) for members in groups.values() if len(members) > 1]
    return sorted(found, key=lambda members: (-len(members), members))


def _near(
    d: npt.NDArray[np.float64], threshold: float, min_shared: int, min_flips: int, rows: int = 256
) -> Iterator[tuple[int, int]]:
    """Pairs i > j of rows of `d` (n x pairs) with enough in common and phi >= `threshold`, by products of matrices:
    a thousand biases make half a million pairs. Rows with too little of their own are left out before that."""
    have = ~np.isnan(d)
    able = np.flatnonzero((have.sum(axis=1) >= min_shared) & ((have & (d != 0)).sum(axis=1) >= min_flips))
    d, seen = d[able], have[able].astype(np.float64)
    x = np.nan_to_num(d, nan=0.0)
    flipped, squares = (x != 0).astype(np.float64), x**2
    for first in range(0, len(d), rows):
        part = slice(first, first + rows)
        n = seen[part] @ seen.T
        mine, theirs = x[part] @ seen.T, seen[part] @ x.T
        spread = (n * (squares[part] @ seen.T) - mine**2) * (n * (seen[part] @ squares.T) - theirs**2)
        phi = np.zeros_like(n)
        np.divide(n * (x[part] @ x.T) - mine * theirs, np.sqrt(np.abs(spread)), out=phi, where=spread > 1e-9)
        flips = np.minimum(flipped[part] @ seen.T, seen[part] @ flipped.T)
        for k, j in np.argwhere((n >= min_shared) & (flips >= min_flips) & (phi >= threshold)):
            if j < first + k:
                yield int(able[first + k]), int(able[j])


def cohen_kappa_interval(
    first: Sequence[str | int], second: Sequence[str | int], level: float = 0.95
) -> tuple[float, float]:
    """Interval of Cohen's kappa from its large-sample standard error (Fleiss, Cohen and Everitt, Psychological Bulletin
    72, 1969), cut at -1 and 1. (-1, 1) where kappa is NaN."""
    kappa = cohen_kappa(first, second)
    if np.isnan(kappa):
        return -1.0, 1.0
    names = {name: i for i, name in enumerate(dict.fromkeys([*first, *second]))}
    table = np.zeros((len(names), len(names)))
    np.add.at(table, ([names[x] for x in first], [names[x] for x in second]), 1)
    table /= table.sum()
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected, agreed = float(rows @ columns), np.diag(table)
    crossed = (columns[:, None] + rows[None, :]) ** 2
    a = float(agreed @ (1 - (rows + columns) * (1 - kappa)) ** 2)
    b = (1 - kappa) ** 2 * float((table * crossed).sum() - agreed @ np.diag(crossed))
    c = (kappa - expected * (1 - kappa)) ** 2
    error = float(np.sqrt(max(a + b - c, 0.0) / len(first))) / (1 - expected)
    reach = float(ndtri((1 + level) / 2)) * error
    return max(-1.0, kappa - reach), min(1.0, kappa + reach)
