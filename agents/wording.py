"""Name, definition and manifestation of a bias as a model words them, made safe to store and show."""

import re
import unicodedata
from typing import NamedTuple

from ..core.errors import CallFailed

NAME_LENGTH = 80
TEXT_LENGTH = 600


class Wording(NamedTuple):
    """How a bias is described, each on one line."""

    name: str
    definition: str
    manifestation: str = ""


def clean_line(text: str, limit: int) -> str:
    """One line without control, format or surrogate characters, at most `limit` long, cut between words."""
    spaced = "".join(" " if c.isspace() else c for c in text[: 20 * limit])
    line = " ".join("".join(c for c in spaced if unicodedata.category(c)[0] != "C").split())
    if len(line) <= limit:
        return line
    return (line[: limit - 1].rsplit(" ", 1)[0] or line[: limit - 1]).rstrip(",;:") + "…"


def clean_wording(name: str, definition: str, manifestation: str, request_id: str) -> Wording:
    """The three texts cleaned; raises CallFailed('malformed') when name or definition says nothing."""
    wording = Wording(
        clean_line(name, NAME_LENGTH).strip(" \"'`*_#.:“”‘’"),
        clean_line(definition, TEXT_LENGTH),
        clean_line(manifestation, TEXT_LENGTH),
    )
    for field in ("name", "definition"):
        value = getattr(wording, field)
        if not re.search(r"\w", value):
            raise CallFailed("malformed", f"the bias has no {field}", repr((name, definition)), request_id)
    return wording


def described(name: str, definition: str, manifestation: str = "") -> str:
    """A bias as text for a prompt; to be fenced there."""
    lines = [f"Name: {name}", f"Definition: {definition}"]
    return "\n".join([*lines, f"How it shows: {manifestation}"] if manifestation else lines)
