"""JSON in free text."""

import json
from typing import Any, NamedTuple

_EFFORT = 1_000_000


class FoundObject(NamedTuple):
    """A JSON object and its own text."""

    value: dict[str, Any]
    text: str


def last_json_object(text: str) -> FoundObject | None:
    """The last outermost JSON object in `text`, or None. Prose and code fences around it do not matter.

    Strict inside the object: no NaN, no repeated keys, no comments. Work is bounded for hostile text.
    """
    found = None
    at, effort = text.find("{"), 0
    while at != -1 and effort < _EFFORT:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            effort += max(error.pos - at, 1) + 50
            end = at + 1
        except (RecursionError, ValueError):
            effort += len(text) - at
            end = at + 1
        else:
            found = FoundObject(value, text[at:end])
            effort += end - at
        at = text.find("{", end)
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
