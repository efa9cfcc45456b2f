"""What a text is made of, as far as edits need it: blocks, sentences, and what must not be touched.

Code (fenced, indented, or plainly code by its look) and display mathematics belong to no sentence, so no edit lands in
them. Headings, table rows, quoted lines and rules are no sentences either. Everything is linear in the text's length.
"""

import functools
import re
from typing import Literal, NamedTuple

from ...core.words import word_count

Kind = Literal["prose", "item", "heading", "table", "quote", "rule", "code", "math", "blank"]


class Line(NamedTuple):
    """One line: where it starts and ends (without its break), and what it is."""

    start: int
    end: int
    kind: Kind


class Sentence(NamedTuple):
    """A sentence by its offsets. `closed`: it ends in a punctuation mark. `block`: number of its paragraph or item."""

    start: int
    end: int
    closed: bool
    block: int
    listed: bool
    """It stands in a list item."""


class Anatomy(NamedTuple):
    """A text taken apart. `prose` is the text without code, apostrophes made plain; `words` counts the words in it."""

    text: str
    lines: tuple[Line, ...]
    sentences: tuple[Sentence, ...]
    prose: str
    lowered: str
    words: int


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"\s{0,12}(?:[-*+•]|\d{1,3}[.)])\s+(?=\S)")
_RULE = re.compile(r"\s{0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|={3,})$")
_CODE = re.compile(
    r"\s*(?:(?:async )?def \w|class \w+[:(]|import \w|from [\w.]+ import|return\b|#include|#!|public |private |static "
    r"|func(?:tion)? \w*\(|(?:const|let|var) \w+ ?=|(?:if|for|while|elif|switch) ?\("
    r"|(?:if|for|while|elif|with|except|try|else)\b.*[:{]$|[\]})]+[;,]?$|>>> |\$ \w"
    r"|\w[\w.\[\]]* [-+*/]?= \S+|print\(|<[/!?a-zA-Z][^>]*>)|.*[;{]$"
)
_MATH_OPEN = re.compile(r"\s*(?:\$\$|\\\[|\\begin\{)")
_MATH_CLOSE = re.compile(r"(?:\$\$|\\\]|\\end\{[a-z*]+\})\s*$")
_END = re.compile(r"(?<![.!?…؟۔।])[.!?…؟۔।]++[\"'”’)\]*_]*+(?=\s|$)|(?<![。！？])[。！？]++[”’」』）]*+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|dr|mrs?|ms|prof|st|vs|etc|fig|eq|cf|al|approx)|(?:^|[\s(])[A-Z])\.$", re.I
)
_PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})


@functools.lru_cache(maxsize=64)
def anatomy(text: str) -> Anatomy:
    """`text` taken apart; remembered for the last few texts, since many measures look at the same one."""
    lines = _lines(text)
    prose = "\n".join(text[line.start : line.end] for line in lines if line.kind not in ("code", "math"))
    prose = prose.translate(_PLAIN)
    return Anatomy(text, lines, _sentences(text, lines), prose, prose.lower(), word_count(prose))


def _lines(text: str) -> tuple[Line, ...]:
    lines: list[Line] = []
    fence, in_math, start = "", False, 0
    for raw in text.split("\n"):
        end = start + len(raw)
        kind: Kind
        opening = _FENCE.match(raw)
        if fence:
            kind = "code"
            if opening and opening.group(1).startswith(fence) and raw.strip() == opening.group(1):
                fence = ""
        elif in_math:
            kind, in_math = "math", not _MATH_CLOSE.search(raw)
        elif opening:
            kind, fence = "code", opening.group(1)
        elif _MATH_OPEN.match(raw):
            kind, in_math = "math", not _MATH_CLOSE.search(raw, len(raw) - len(raw.lstrip()) + 2)
        else:
            kind = _kind(raw, lines[-1].kind if lines else "blank")
        lines.append(Line(start, end, kind))
        start = end + 1
    return tuple(lines)


def _kind(raw: str, before: Kind) -> Kind:
    stripped = raw.strip()
    if not stripped:
        return "blank"
    if _RULE.match(raw[:200]):
        return "rule"
    if before == "code" and stripped.startswith(("#", "//", "--", "/*")):
        return "code"
    if re.match(r"\s{0,3}#{1,6}\s", raw):
        return "heading"
    if stripped.startswith(">") and not stripped.startswith(">>>"):
        return "quote"
    if stripped.startswith("|") or re.match(r"\[\^\w+\]:", stripped):
        return "table"
    if _ITEM.match(raw):
        return "item"
    indented = raw.startswith(("    ", "\t")) and before not in ("prose", "item")
    return "code" if indented or _CODE.match(raw[:2000]) else "prose"


def _blocks(text: str, lines: tuple[Line, ...]) -> list[tuple[int, int, bool]]:
    """Where paragraphs and list items lie; an item goes on over the plain lines that follow it."""
    blocks: list[tuple[int, int, bool]] = []
    open_ = False
    for line in lines:
        if line.kind == "item":
            marker = _ITEM.match(text[line.start : line.end])
            blocks.append((line.start + (marker.end() if marker else 0), line.end, True))
            open_ = True
        elif line.kind == "prose":
            if open_:
                blocks[-1] = (blocks[-1][0], line.end, blocks[-1][2])
            else:
                blocks.append((line.start + _leading(text[line.start : line.end]), line.end, False))
            open_ = True
        else:
            open_ = False
    return blocks


def _leading(raw: str) -> int:
    return len(raw) - len(raw.lstrip())


def _sentences(text: str, lines: tuple[Line, ...]) -> tuple[Sentence, ...]:
    found: list[Sentence] = []
    for number, (start, end, listed) in enumerate(_blocks(text, lines)):
        at = start
        for match in _END.finditer(text, start, end):
            stop = match.end()
            rest = end - stop
            if rest and _ABBREVIATION.search(text[max(at, stop - 12) : stop]):
                continue
            if not re.search(r"\w", text[at:stop][:400]):
                continue
            found.append(Sentence(at, stop, True, number, listed))
            at = stop
            while at < end and text[at].isspace():
                at += 1
        if re.search(r"\w", text[at:end]):
            found.append(Sentence(at, end, False, number, listed))
    return tuple(found)
