"""Which answer a label prefers, in every convention of the known data sets."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from ..core.errors import DataError

Reading = Literal["A", "B", "tie"]
Numbers = Literal["1/2", "0/1"]

_SIDES: dict[str, Reading] = {"a": "A", "b": "B", "first": "A", "second": "B", "left": "A", "right": "B"}
_TIES = {"tie", "ties", "equal", "draw", "same", "both", "neither", "none", "tied", "even", "c", "a=b", "b=a"}
_STRIP = re.compile(r"[\s\[\]()'\"*.]+")
_COMPARISON = re.compile(r"(a|b)(>{1,3}|<{1,3}|={1,2}|≻|≺)(a|b)")
_NAMED = re.compile(r"(?:assistant|answer|response|output|model|option|choice|candidate)[ _-]?(a|b|1|2|one|two)")


def read_label(
    value: Any,
    numbers: Numbers | None = None,
    models: tuple[str, str] = ("", ""),
    own: Mapping[str, Reading] | None = None,
) -> Reading | None:
    """The preferred answer, or None when `value` cannot be read without guessing.

    `numbers` says what bare numbers mean, `models` the names of both authors (a label may name one), `own` the
    user's words in lower case. True and False are not read: they need an entry in `own`.
    """
    text = str(value).strip().lower() if value is not None else ""
    if own and text in own:
        return own[text]
    if value is None or isinstance(value, bool) or not text:
        return None
    number = as_number(value)
    if number is not None:
        return _numbered(number, numbers)
    names = tuple(m.strip().lower() for m in models)
    if text in names and names[0] != names[1]:
        named: Reading = "A" if text == names[0] else "B"
        plain = _worded(text)
        return named if plain in (None, named) else None
    return _worded(text)


def as_number(value: Any) -> int | None:
    """The whole number in a label (1, 1.0, "1", "2.0"), or None."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if number in (-1.0, 0.0, 1.0, 2.0, 3.0) else None


def numbers_of(values: Iterable[Any], column: str) -> Numbers | None:
    """What numbers mean in a column, from its first values; None when it holds none.

    Raises DataError when that cannot be told: only 1, or 0 and 2 together.
    """
    seen = {n for n in map(as_number, values) if n is not None}
    if not seen:
        return None
    if 0 in seen and 2 in seen:
        raise DataError(
            f"column {column!r} holds both 0 and 2: say what they mean with columns.label_values, "
            'e.g. {"0": "A", "1": "B", "2": "tie"}'
        )
    if 2 in seen:
        return "1/2"
    if 0 in seen:
        return "0/1"
    raise DataError(
        f"column {column!r} holds only {sorted(seen)} in its first rows, which may be A (of 1/2) or B (of 0/1): "
        "set columns.labels to '1/2' or '0/1'"
    )


def _numbered(number: int, numbers: Numbers | None) -> Reading | None:
    if numbers == "1/2":
        return {1: "A", 2: "B"}.get(number)  # type: ignore[return-value]
    if numbers == "0/1":
        return {0: "A", 1: "B"}.get(number)  # type: ignore[return-value]
    return None


def _worded(text: str) -> Reading | None:
    if text.startswith("tie") and not text[3:4].isalnum():
        return "tie"
    packed = _STRIP.sub("", text)
    if packed in _SIDES:
        return _SIDES[packed]
    if packed in _TIES or packed.replace("_", "") in _TIES:
        return "tie"
    if match := _COMPARISON.fullmatch(packed):
        left, sign, right = match.groups()
        if left == right:
            return None
        if sign[0] == "=":
            return "tie"
        return _SIDES[left if sign[0] in ">≻" else right]
    if match := _NAMED.fullmatch(text.strip(" \t\n[]()'\"*.")):
        return "A" if match[1] in ("a", "1", "one") else "B"
    return None
