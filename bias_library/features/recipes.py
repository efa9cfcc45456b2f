"""Which feature, if any, writes a given bias."""

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

from ..bias import normalised
from .feature import Feature

_FILE = Path(__file__).parent / "recipes.yaml"
_NO_RECIPE = "none"
_SUFFIX = re.compile(r"\b(?:bias|effect|preference|heuristic)\b")


class Recipes(NamedTuple):
    """The table of recipes.yaml: whole names first, then patterns in order. "" means that no feature writes it."""

    names: Mapping[str, str]
    words: tuple[tuple[re.Pattern[str], str], ...]


@functools.cache
def recipes() -> Recipes:
    """The packaged table."""
    rows = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    names = {name: "" if feature == _NO_RECIPE else feature for name, feature in rows["names"].items()}
    words = [(row["fits"], "" if row["feature"] == _NO_RECIPE else row["feature"]) for row in rows["words"]]
    return Recipes(names, tuple((re.compile(rf"\b(?:{fits})"), feature) for fits, feature in words))


def nearest_feature(name: str, definition: str, features: Mapping[str, Feature]) -> Feature | None:
    """The feature of `features` that writes the bias of this name and definition; None when no edit does.

    Looked for in this order: a feature of that title, name or definition; the bias's whole name in the table
    (recipes.yaml); words of its name. The definition's words are not matched: it often names a feature to say
    that the bias is not about it, and a wrong recipe would measure another bias under this one's name.
    """
    plain = _plain(name)
    said = normalised(definition)
    for feature in features.values():
        if plain in (_plain(feature.title), _plain(feature.name)) or said == normalised(feature.definition):
            return feature
    table = recipes()
    if plain in table.names:
        return features.get(table.names[plain])
    return next((features.get(feature) for pattern, feature in table.words if pattern.search(plain)), None)


def _plain(name: str) -> str:
    """A name in lower case without the word bias, underscores and hyphens as spaces."""
    return " ".join(_SUFFIX.sub(" ", normalised(name).replace("_", " ").replace("-", " ")).split())
