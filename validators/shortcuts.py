"""Can the better answer be told without reading? Content-blind pickers and a small classifier, from arrays to rates.

A data set on which they do well rewards a judge, or teaches a model, for something other than quality.
"""

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from ..core.errors import DataError
from .clusters import cluster_rate
from .contrasts import Floats
from .rates import Rate

CHANCE = 0.5
MARGIN = 0.05
"""A shortcut that is right more often than chance by more than this is warned of."""


def picked(chosen: npt.ArrayLike, rejected: npt.ArrayLike) -> Floats:
    """How often the picker "more of it" is right, pair by pair: 1, 0, or 0.5 where both have the same."""
    a, b = np.asarray(chosen, dtype=np.float64), np.asarray(rejected, dtype=np.float64)
    if a.shape != b.shape:
        raise DataError(f"rejected: {b.size} values for {a.size} chosen; give one per pair")
    right: Floats = 0.5 + 0.5 * np.sign(a - b)
    return right


def picker(chosen: npt.ArrayLike, rejected: npt.ArrayLike, groups: Sequence[Hashable]) -> Rate:
    """Accuracy of choosing the answer with more of a measure; `groups` are prompts."""
    return cluster_rate(picked(chosen, rejected), groups)


def classifier(differences: npt.ArrayLike, groups: Sequence[Hashable], *, folds: int = 5, seed: int = 0) -> Rate:
    """Accuracy, out of fold, of a logistic regression on surface features.

    `differences`: pairs x features, chosen - rejected. Every prompt is in one fold, so that what is learnt from one
    variant of a pair is not tested on another. The model has no intercept and sees every pair from both sides, so it
    cannot lean on positions. The interval takes the fitted models as given. NaN with fewer prompts than folds.
    """
    from sklearn.linear_model import LogisticRegression  # here, since it takes a second that few commands need
    from sklearn.model_selection import GroupKFold

    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 2 or len(groups) != d.shape[0]:
        raise DataError(f"groups: {len(groups)} for differences of shape {d.shape}; give one per pair")
    numbers: dict[Hashable, int] = {}
    codes = np.asarray([numbers.setdefault(g, len(numbers)) for g in groups], dtype=np.intp)
    if len(numbers) < folds:
        return cluster_rate([], [])
    right = np.empty(d.shape[0])
    for train, test in GroupKFold(folds, shuffle=True, random_state=seed).split(d, groups=codes):
        scale = np.sqrt((d[train] ** 2).mean(axis=0))
        scale[scale == 0] = 1.0
        known = d[train] / scale
        model = LogisticRegression(fit_intercept=False, C=0.1, solver="newton-cholesky")
        model.fit(np.concatenate([known, -known]), np.repeat([1, 0], train.size))
        score = (d[test] / scale) @ model.coef_[0]
        right[test] = 0.5 + 0.5 * np.sign(np.round(score, 12))
    return cluster_rate(right, list(groups))


def beats_chance(found: Rate) -> bool:
    """Whether the shortcut is to be warned of: more than MARGIN above chance, as estimated."""
    return found.pairs > 0 and found.rate > CHANCE + MARGIN
