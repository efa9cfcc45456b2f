"""The lexicon: all features by name, from the YAML files of this folder, and features of the user's own."""

import functools
import importlib.util
import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...core.errors import LibraryError
from ...core.yaml_text import read_yaml
from .feature import Feature
from .guarded import guarded
from .measures import MEASURES, pattern_measure, phrase_measure
from .spec import UNITS, FeatureSpec, read_specs
from .templates import fill, write_templates
from .writers import WRITERS

_FOLDER = Path(__file__).parent
PACKAGED = "lexicon"
PATIENCE = 10.0
"""Seconds that a pattern of the user's may take on one text."""
FILES = ("layout", "evidence", "provenance", "social", "tone", "discourse")


def load_features() -> dict[str, Feature]:
    """The packaged features by name, in a fixed order."""
    return dict(_packaged())


def measure_all(text: str, question: str = "", features: Mapping[str, Feature] | None = None) -> dict[str, float]:
    """Every measure of `text` (about 3 ms for 300 words), in the order of `features`; the packaged ones by default."""
    chosen = load_features() if features is None else features
    return {name: feature.measure(text, question) for name, feature in chosen.items()}


def user_features(path: Path) -> dict[str, Feature]:
    """Features from a YAML file (as in this folder) or a Python module that holds `FEATURES`, a list of Feature.

    A Python module is run. Raises LibraryError naming file, feature and field for what cannot be read, for a name given
    twice and for one that the lexicon has. So do the features when a function of theirs fails.
    """
    try:
        if path.suffix in (".yaml", ".yml"):
            features = [as_feature(spec, str(path)) for spec in read_specs(_rows(path), str(path))]
        elif path.suffix == ".py":
            features = [replace(feature, source=str(path)) for feature in _from_module(path)]
        else:
            raise LibraryError(
                f"{path}: features come from a .yaml or .py file, got {path.suffix!r}: rename or convert it"
            )
    except (OSError, UnicodeDecodeError) as error:
        raise LibraryError(f"{path}: cannot be read: {error}") from error
    known = load_features()
    for number, feature in enumerate(features):
        if feature.name in known or any(other.name == feature.name for other in features[:number]):
            raise LibraryError(f"{path}: the feature name {feature.name!r} is taken: choose another")
    return {feature.name: guarded(feature) for feature in features}


def _rows(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    try:
        return read_yaml(text)
    except ValueError as error:
        raise LibraryError(f"{path}: {error}") from error


def as_feature(spec: FeatureSpec, source: str = PACKAGED) -> Feature:
    """The feature that a specification describes; LibraryError for a measure or writer that is not there."""
    for field, name, there in (("measured_as", spec.measured_as, MEASURES), ("written_as", spec.written_as, WRITERS)):
        if name and name not in there:
            raise LibraryError(f"{source}: feature {spec.name!r}, {field}: no {name!r}: choose from {sorted(there)}")
    per_words = spec.per == "words"
    if spec.measured_as:
        measure = MEASURES[spec.measured_as]
    elif spec.phrases:
        measure = phrase_measure(spec.phrases, per_words)
    else:
        measure = pattern_measure(spec.pattern, per_words, None if source == PACKAGED else PATIENCE)
    shown = () if spec.written_as else spec.write.openings or spec.write.endings or spec.write.templates
    return Feature(
        name=spec.name,
        title=spec.title,
        definition=spec.definition.strip(),
        dimension=spec.dimension,
        unit=spec.unit or UNITS[spec.per],
        examples=tuple(
            fill(text, spec.write.slots, random.Random(0), question=_ASKED if "{word" in text else "").strip()
            for text in shown[:3]
        ),
        measured_by=measure,
        written_by=functools.partial(WRITERS.get(spec.written_as, write_templates), spec.write),
        source=source,
    )


_ASKED = "Why does the moon draw water towards the shore?"
"""The question whose words stand in examples of what an edit takes from a question."""


@functools.cache
def _packaged() -> tuple[tuple[str, Feature], ...]:
    features: list[Feature] = []
    for name in FILES:
        features += [as_feature(spec) for spec in read_specs(_rows(_FOLDER / f"{name}.yaml"), f"{name}.yaml")]
    return tuple((feature.name, feature) for feature in features)


def _from_module(path: Path) -> list[Feature]:
    if not path.is_file():
        raise LibraryError(f"{path}: there is no such file")
    spec = importlib.util.spec_from_file_location(f"_features_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise LibraryError(f"{path}: cannot be loaded as a Python module")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise LibraryError(f"{path}: stops with {type(error).__name__}: {error}") from error
    found = getattr(module, "FEATURES", None)
    if not isinstance(found, Iterable) or isinstance(found, str):
        raise LibraryError(f"{path}: holds no list FEATURES: give it one of Feature objects (docs/features.md)")
    features = list(found)
    for feature in features:
        if not isinstance(feature, Feature):
            raise LibraryError(f"{path}: FEATURES holds {feature!r}: only Feature objects belong there")
    return features
