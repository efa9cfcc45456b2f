"""Word differences between two answers, in time that does not explode with their length."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal

from .model import Span, Text

_WORD = re.compile(r"\s+|[\u3040-\u30ff\u3400-\u9fff]|[^\s\u3040-\u30ff\u3400-\u9fff]+")
_MOST_WORDS = 3000
"""Words compared on either side; the matcher is quadratic at worst."""
_CONTEXT = 160
"""Characters of an unchanged stretch that are shown next to a change."""


def cut(text: str, limit: int = 1500) -> Text:
    """`text` with its middle left out when it is longer than `limit` characters."""
    return Text(spans=tuple(_shorten("same", text, limit)), characters=len(text))


def marked(before: str, after: str, limit: int = 4000) -> Text:
    """`after` with words marked as added to, or removed from, `before`.

    Long unchanged stretches are left out, and what remains is cut at about `limit` characters, both with a note.
    """
    spans: list[Span] = []
    shown = 0
    edits = list(_edits(_WORD.findall(before), _WORD.findall(after)))
    for k, (kind, text) in enumerate(edits):
        if shown >= limit:
            left = sum(len(t) for _, t in edits[k:])
            spans.append(Span(kind="cut", text=f"{left:,} characters left out"))
            break
        short = list(_shorten(kind, text, 3 * _CONTEXT if kind == "same" else limit // 2))
        shown += sum(len(s.text) for s in short)
        spans += short
    return Text(spans=tuple(spans), characters=len(after))


_Kind = Literal["same", "added", "removed"]


def _edits(a: list[str], b: list[str]) -> Iterator[tuple[_Kind, str]]:
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    tail = b[len(b) - end :]
    yield from _nonempty("same", b[:start])
    yield from _middle(a[start : len(a) - end], b[start : len(b) - end])
    yield from _nonempty("same", tail)


def _middle(a: list[str], b: list[str]) -> Iterator[tuple[_Kind, str]]:
    if max(len(a), len(b)) > _MOST_WORDS:
        yield from _nonempty("removed", a)
        yield from _nonempty("added", b)
        return
    removed: list[str] = []
    added: list[str] = []
    for op, i, j, k, m in SequenceMatcher(None, a, b).get_opcodes():
        gap = op == "equal" and not "".join(b[k:m]).strip()
        if op == "equal" and not (gap and (removed or added)):
            yield from _change(removed, added)
            removed, added = [], []
            yield from _nonempty("same", b[k:m])
        else:  # a mere space between two changed words belongs to the change
            removed += a[i:j]
            added += b[k:m]
    yield from _change(removed, added)


def _change(removed: list[str], added: list[str]) -> Iterator[tuple[_Kind, str]]:
    """Whitespace that both sides end with stays unmarked."""
    shared = removed[-1:] if removed and added and removed[-1] == added[-1] and removed[-1].isspace() else []
    yield from _nonempty("removed", removed[: len(removed) - len(shared)])
    yield from _nonempty("added", added[: len(added) - len(shared)])
    yield from _nonempty("same", shared)


def _nonempty(kind: _Kind, words: list[str]) -> Iterator[tuple[_Kind, str]]:
    if words:
        yield kind, "".join(words)


def _shorten(kind: _Kind, text: str, limit: int) -> Iterator[Span]:
    if len(text) <= limit:
        if text:
            yield Span(kind=kind, text=text)
        return
    head, tail = 2 * limit // 3, limit // 3
    yield Span(kind=kind, text=text[:head])
    yield Span(kind="cut", text=f"{len(text) - head - tail:,} characters left out")
    yield Span(kind=kind, text=text[-tail:])
