"""Cosines at which biases are the same, asked about, or new; chosen on the tune half of the calibration set."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LOW, HIGH, GROUP, NEAREST = 0.12, 0.97, 0.42, 20
"""For the packaged all-MiniLM-L6-v2 and `bias.bias_text`. Recomputed and measured by `benchmarks/merging.py`.

An embedder puts opposite biases closer together than most paraphrases, so nothing below the nearest opposite can be
merged unasked: the band in which the teacher decides is wide on purpose."""


class Thresholds(NamedTuple):
    """The two ends of the band, the cosine that proposes a group, and the best single cosine by F1."""

    low: float
    high: float
    group: float
    single: float


def choose(similarities: npt.NDArray[np.float64], same: npt.NDArray[np.bool_]) -> Thresholds:
    """From labelled pairs, (n) cosines and labels.

    `low` is just under the farthest same pair; `high` lies four fifths of the way from the nearest different pair to
    1, since one half does not hold the nearest opposites that there are. A wider band costs little: what is the same
    seldom is that near (no same pair of this half is as near as the nearest different one), so few are asked more.
    `group` holds the upper half of the same pairs.
    """
    low = float(similarities[same].min())
    high = 1 - (1 - float(similarities[~same].max())) / 5
    cuts = np.unique(similarities)
    single = max(cuts, key=lambda cut: (f1(similarities >= cut, same), cut))
    rounded = [float(np.floor(low * 100) / 100), float(np.ceil(high * 100) / 100), float(np.median(similarities[same]))]
    return Thresholds(rounded[0], rounded[1], round(rounded[2], 2), round(float(single), 3))


def precision_recall(said: npt.NDArray[np.bool_], same: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Precision (1 when nothing was said to be the same) and recall."""
    hits = int((said & same).sum())
    return (hits / int(said.sum()) if said.any() else 1.0), hits / max(int(same.sum()), 1)


def f1(said: npt.NDArray[np.bool_], same: npt.NDArray[np.bool_]) -> float:
    """2 x hits / (said + same)."""
    return 2 * int((said & same).sum()) / max(int(said.sum()) + int(same.sum()), 1)
