"""What is wrong with given values, in our own words: pydantic's errors never reach a user as they are."""

import difflib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

SHOWN = 80
"""Characters of a wrong value that a message repeats."""

_NO_VALUE = ("missing", "extra_forbidden", "value_error", "assertion_error", "json_invalid")
"""Kinds whose message says all: nothing was given, a name is wrong, or the check is ours and names the value."""
_SECRET = ("headers",)
_WORDS: dict[str, str | Callable[[dict[str, Any]], str]] = {
    "missing": "is needed",
    "extra_forbidden": "is unknown; check the spelling",
    "literal_error": lambda c: f"must be {c['expected']}",
    "enum": lambda c: f"must be {c['expected']}",
    "greater_than": lambda c: f"must be greater than {c['gt']}",
    "greater_than_equal": lambda c: f"must be {c['ge']} or more",
    "less_than": lambda c: f"must be less than {c['lt']}",
    "less_than_equal": lambda c: f"must be {c['le']} or less",
    "string_too_short": lambda c: "is empty" if c["min_length"] == 1 else f"needs {c['min_length']} characters or more",
    "string_too_long": lambda c: f"may have {c['max_length']} characters at most",
    "too_short": lambda c: "is empty" if c["min_length"] == 1 else f"needs {c['min_length']} entries or more",
    "too_long": lambda c: f"may have {c['max_length']} entries at most",
    "string_pattern_mismatch": lambda c: f"must have the form {c['pattern']}",
    "finite_number": "must be a finite number",
    "json_invalid": lambda c: f"is not JSON: {c['error']}",
    "value_error": lambda c: str(c["error"]),
    "assertion_error": lambda c: str(c["error"]),
    "none_required": "must be left out",
    "path_type": "must be a path",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), "must be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("string_type", "string_unicode"), "must be a text"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type"), "must be a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type", "mapping_type"), "must be a mapping of names"),
}


def mistakes(error: ValidationError, whole: str = "", kind: type[BaseModel] | None = None) -> list[str]:
    """One line for each mistake: field, what is wrong, the value. `whole` names the thing for what is not a field's.

    With the `kind` that was to be read, an unknown name comes with the nearest known one.
    """
    lines = []
    for item in error.errors(include_url=False):
        # Parts in brackets are tags of pydantic, such as the kind of a judge, and stand in no file.
        field = ".".join(p for p in map(str, item["loc"]) if not p.startswith("(")) or whole
        said = f"{field}: {_message(item)}" if field else _message(item)
        if item["type"] == "extra_forbidden" and kind is not None:
            *parents, name = item["loc"]
            near = difflib.get_close_matches(str(name), sorted(_names(kind, parents)), 1)
            said = f"{field}: is unknown; did you mean {near[0]}?" if near else said
        hidden = item["type"] in _NO_VALUE or any(part in _SECRET for part in item["loc"])
        lines.append(said if hidden else f"{said} (got {short(item['input'])})")
    return lines


def _names(kind: type[BaseModel], parents: Sequence[int | str]) -> set[str]:
    """The fields of what stands under `parents`, of all kinds where several may stand there."""
    kinds = {kind}
    for part in parents:
        inner = {
            k for known in kinds if part in known.model_fields for k in _kinds(known.model_fields[str(part)].annotation)
        }
        kinds = inner or kinds
    return {name for known in kinds for name in known.model_fields}


def _kinds(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _kinds(inner)


def short(value: Any) -> str:
    """A value for a message."""
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def _message(item: Any) -> str:
    words = _WORDS.get(item["type"])
    if words is None:
        return str(item["msg"]).replace("Input should be", "must be").replace("Input should", "must")
    return words if isinstance(words, str) else words(item.get("ctx") or {})
