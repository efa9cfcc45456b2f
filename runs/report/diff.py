"""Word differences between two answers, in time that does not explode with their length."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

from .model import Span, Text

_WORD = re.compile(r"\s*(?:[\u3040-\u30ff\u3400-\u9fff]|[^\s\u3040-\u30ff\u3400-\u9fff]+)|\s+")
"""A word, or a character of a script without spaces, with the space before it: two spaces are no common ground."""
_MOST_WORDS = 3000
"""Words compared on either side; the matcher is quadratic at worst."""
_MOST_WORK = 50_000
"""Equal words across the two sides up to which every word counts; texts that repeat a few words without end have more,
and there the matcher has to leave the frequent ones out of account, or it takes minutes."""
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
    parts = groupby(_edits(_WORD.findall(before), _WORD.findall(after)), key=lambda edit: edit[0])
    edits = [(kind, "".join(text for _, text in texts)) for kind, texts in parts]
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
    matcher = SequenceMatcher(None, a, b, autojunk=_work(a, b) > _MOST_WORK)
    for op, i, j, k, m in matcher.get_opcodes():
        if op == "equal":
            yield from _nonempty("same", b[k:m])
        else:
            yield from _change("".join(a[i:j]), "".join(b[k:m]))


def _work(a: list[str], b: list[str]) -> int:
    ours, theirs = Counter(a), Counter(b)
    return sum(n * theirs[word] for word, n in ours.items())


def _change(removed: str, added: str) -> Iterator[tuple[_Kind, str]]:
    """Whitespace that both sides begin with stays unmarked."""
    shared = removed[: len(removed) - len(removed.lstrip())]
    if not added.startswith(shared):
        shared = ""
    yield from _nonempty("same", shared)
    yield from _nonempty("removed", removed[len(shared) :])
    yield from _nonempty("added", added[len(shared) :])


def _nonempty(kind: _Kind, words: Iterable[str]) -> Iterator[tuple[_Kind, str]]:
    if text := "".join(words):
        yield kind, text


def _shorten(kind: _Kind, text: str, limit: int) -> Iterator[Span]:
    if len(text) <= limit:
        if text:
            yield Span(kind=kind, text=text)
        return
    head, tail = 2 * limit // 3, limit // 3
    yield Span(kind=kind, text=text[:head])
    yield Span(kind="cut", text=f"{len(text) - head - tail:,} characters left out")
    yield Span(kind=kind, text=text[-tail:])
