"""Features of the user's own: what goes wrong in their functions is one line that names file, feature and function."""

import math
import random
from collections.abc import Callable
from dataclasses import replace
from numbers import Real

from ...core.errors import LibraryError
from .feature import Feature


def guarded(feature: Feature) -> Feature:
    """`feature`, whose functions raise LibraryError for any exception of theirs and for what is no number or text."""
    where = f"{feature.source}: feature {feature.name!r}"

    def measure(text: str, question: str = "") -> float:
        value: object = _run(f"{where}, measure", text, lambda: feature.measured_by(text, question))
        if not isinstance(value, Real) or not math.isfinite(value):
            raise LibraryError(f"{where}, measure: must give a finite number, got {value!r}")
        return float(value)

    def write(text: str, rng: random.Random, question: str = "") -> str:
        value: object = _run(f"{where}, write", text, lambda: feature.written_by(text, rng, question))
        if not isinstance(value, str):
            raise LibraryError(f"{where}, write: must give a text, got {value!r}")
        return value

    return replace(feature, measured_by=measure, written_by=write)


def _run(what: str, text: str, function: Callable[[], object]) -> object:
    try:
        return function()
    except TimeoutError as error:
        raise LibraryError(
            f"{what}: too slow on a text of {len(text)} characters: give a simpler pattern, without repeats in repeats"
        ) from error
    except (Exception, SystemExit) as error:
        raise LibraryError(f"{what}: stops with {type(error).__name__}: {error}") from error
