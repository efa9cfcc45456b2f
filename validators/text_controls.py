"""Text length and changes: word counts, truncation and a word diff. All are linear or bounded for texts of any size."""

import difflib
import math
import re
from typing import Literal

from ..core.words import WORD, word_count

Tag = Literal["same", "removed", "added"]

_SENTENCE_END = re.compile(r"[.!?。！？][\"')\]*_”’]*$")
DIFF_WORDS = 2_000
"""Longer middles are not aligned word by word: the matcher's time grows with the product of both lengths."""


def length_ratio(text: str, reference: str) -> float:
    """Words of `text` over words of `reference`; NaN when the reference has none."""
    base = word_count(reference)
    return word_count(text) / base if base else float("nan")


def truncate_words(text: str, words: int, tolerance: float = 0.1) -> str:
    """The first `words` words, cut back to the end of a sentence or line when that loses at most `tolerance` of them.

    White space inside is kept. A text that is short enough comes back as it is; `words` <= 0 gives "".
    """
    spans = []
    for match in WORD.finditer(text):
        spans.append(match.span())
        if len(spans) > max(words, 0):
            break
    if len(spans) <= max(words, 0):
        return text
    if words <= 0:
        return ""
    for keep in range(words, max(0, math.ceil(words * (1 - tolerance)) - 1), -1):
        start, end = spans[keep - 1]
        following = text[end : spans[keep][0]]
        if _SENTENCE_END.search(text[start:end][-8:]) or "\n" in following:
            return text[:end]
    return text[: spans[words - 1][1]]


def word_diff(before: str, after: str) -> list[tuple[Tag, str]]:
    """Segments of `before` -> `after` for marking changed words.

    The `same` and `added` texts together are `after`, letter by letter; `same` and `removed` together are `before`.
    Common beginnings and ends are cut off first; what is longer than DIFF_WORDS words is
    compared line by line, and shown as one removed and one added block when even the lines are too many.
    """
    old, new = _tokens(before), _tokens(after)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    segments: list[tuple[Tag, str]] = []
    _add(segments, "same", new[:head])
    _middle(segments, old[head : len(old) - tail], new[head : len(new) - tail])
    _add(segments, "same", new[len(new) - tail :])
    return segments


def _middle(segments: list[tuple[Tag, str]], old: list[str], new: list[str]) -> None:
    if max(len(old), len(new)) <= DIFF_WORDS:
        _align(segments, old, new)
        return
    old_lines, new_lines = "".join(old).splitlines(keepends=True), "".join(new).splitlines(keepends=True)
    if max(len(old_lines), len(new_lines)) <= DIFF_WORDS:
        _align(segments, old_lines, new_lines)
    else:
        _add(segments, "removed", old)
        _add(segments, "added", new)


def _align(segments: list[tuple[Tag, str]], old: list[str], new: list[str]) -> None:
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            _add(segments, "same", new[j1:j2])
        else:
            _add(segments, "removed", old[i1:i2])
            _add(segments, "added", new[j1:j2])


def _tokens(text: str) -> list[str]:
    """Words with the white space after them; leading white space is a token of its own."""
    return re.findall(r"\S+\s*|^\s+", text)


def _add(segments: list[tuple[Tag, str]], tag: Tag, tokens: list[str]) -> None:
    text = "".join(tokens)
    if not text:
        return
    if segments and segments[-1][0] == tag:
        segments[-1] = (tag, segments[-1][1] + text)
    else:
        segments.append((tag, text))
