"""JSON paths (RFC 9535) that find one value."""

from functools import cache
from typing import Any

import jsonpath_rfc9535 as jsonpath

from ...core.errors import ConfigError


@cache
def compile_path(path: str) -> Any:
    """A JSON path, `$` in front or not. Raises ConfigError."""
    try:
        return jsonpath.compile(path if path.startswith("$") else f"$.{path}")
    except jsonpath.JSONPathError as error:
        raise ConfigError(
            f"the JSON path {path!r} cannot be read ({str(error).splitlines()[0]}); write one like $.result.score"
        ) from None


def find(query: Any, value: Any) -> Any:
    """The one value that a compiled JSON path finds; None for none or several."""
    try:
        found = query.find(value).values()
    except (jsonpath.JSONPathError, RecursionError, TypeError):
        return None
    return found[0] if len(found) == 1 else None
