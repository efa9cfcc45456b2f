"""What an edit does to the features that it is not meant for, against the placebo edit."""

import functools
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import yaml

from ...core.ids import seed_from
from .feature import Feature
from .lexicon import measure_all
from .neutral import neutral_words, write_matched, write_neutral


def side_effects(
    texts: Sequence[tuple[str, str]], features: Mapping[str, Feature], seed: int = 0
) -> npt.NDArray[np.float64]:
    """Side-effect matrix over `texts`, pairs of (text, question).

    Entry [a, b]: how much the edit of feature a changes the measure of feature b, as a share of what b's own edit does;
    both are mean changes against the placebo edit of the same text, the contrast that validation uses. The diagonal
    is 1; 0.2 means that a judge that rewards b only would show a fifth of b's effect for a. NaN in a column whose own
    edit does not raise its measure.
    """
    names = list(features)
    totals = np.zeros((len(names), len(names)))
    for number, (text, question) in enumerate(texts):
        rng = random.Random(seed_from("placebo", seed, number))
        placebo = _profile(write_neutral(text, rng, neutral_words(text), question), question, features)
        for row, name in enumerate(names):
            rng = random.Random(seed_from("edit", seed, number, name))
            totals[row] += _profile(write_matched(features[name], text, rng, question), question, features) - placebo
    own = np.diag(totals).copy()
    own[own <= 0] = np.nan
    return np.asarray(totals / own[None, :])


class Related(NamedTuple):
    """Two features that belong together by nature: the edit of one shows in the measure of the other, and why."""

    edit: str
    shows: str
    why: str


BOUND = 0.3
"""Largest share for features that are not related."""


@functools.cache
def related() -> tuple[Related, ...]:
    """The pairs that may exceed the bound (related.yaml)."""
    path = Path(__file__).parent / "related.yaml"
    return tuple(Related(**row) for row in yaml.safe_load(path.read_text(encoding="utf-8")))


def _profile(text: str, question: str, features: Mapping[str, Feature]) -> npt.NDArray[np.float64]:
    return np.array(list(measure_all(text, question, features).values()))
