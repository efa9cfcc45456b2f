"""Sentences, words and the final answer of a text."""

import re
from typing import NamedTuple

_BREAK = re.compile(r"(?<=[.!?…])\s+(?=\S)|\n+")
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_FINAL = re.compile(r"final answer\s*(?:is|:|=)[ \t]*(.+?)[ \t]*(?:\.(?=\s|$)|$)", re.IGNORECASE | re.MULTILINE)


class Piece(NamedTuple):
    """A sentence or line, and the white space that follows it."""

    text: str
    gap: str


def pieces(text: str) -> list[Piece]:
    """The sentences and lines of a text; joined again they are the text."""
    found, start = [], 0
    for match in _BREAK.finditer(text):
        found.append(Piece(text[start : match.start()], match.group()))
        start = match.end()
    if start < len(text):
        found.append(Piece(text[start:], ""))
    return found


def join(parts: list[Piece]) -> str:
    """The text again."""
    return "".join(part.text + part.gap for part in parts)


def words(text: str) -> list[str]:
    """Words in lower case."""
    return _WORD.findall(text.lower())


def final_answer(text: str) -> str | None:
    """What the text gives as its final answer (the last `Final answer: ...`), in lower case and bare; None without."""
    found = _FINAL.findall(text)
    if not found:
        return None
    bare = re.sub(r"[*_`$\"'“”‘’\\{}()]", "", found[-1]).strip(" .,:;!").lower()
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", re.sub(r"\s+", " ", bare)) or None


def body_and_tail(text: str) -> tuple[list[Piece], list[Piece]]:
    """What may be rewritten, and from the final answer on: the sentence with it, or the last one when none is named."""
    parts = pieces(text)
    named = [i for i, part in enumerate(parts) if _FINAL.search(part.text)]
    cut = named[-1] if named else max(len(parts) - 1, 0)
    return parts[:cut], parts[cut:]
