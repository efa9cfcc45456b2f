"""Untrusted text made harmless to look at: what cannot be seen, or turns a line around, is shown by its number.

Also the few shapes that every Markdown page of ours has: rates, intervals and tables.
"""

import re
from collections.abc import Sequence

_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters other than tab and line break
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff"  # lone surrogates
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U00013430-\U0001343f"  # marks of shorthand, notes and hieroglyphs
    "\U000e0000-\U000e007f"  # tags, which spell out text that nobody sees
    "]"
)
# What cannot begin anything where it stands ("43.3", "cross-validated", "so: this.") is left alone, to be readable raw.
_INERT = r"(?<=\w)-(?=\w)|(?<=\d)\.(?=\d)|[.:!)](?=[\s,;:.)]|$)|\("
_MARKUP = re.compile(rf"{_INERT}|([\\`*_{{}}\[\]()#+\-.!|<>&~$:@])")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_NUMBERED = re.compile(r"(\d+)([.)])(?=\s|$)")


def visible(text: str) -> str:
    """`text` with control characters, direction marks and invisible characters spelled out as ⟨U+202E⟩."""
    return _HIDDEN.sub(lambda m: f"⟨U+{ord(m[0]):04X}⟩", text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 300) -> str:
    """`visible` text on one line, cut at `limit` characters."""
    line = " ".join(visible(text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def markdown(text: str, limit: int = 300) -> str:
    """One line in which nothing is markup in Markdown, in a table cell or in HTML."""
    inert = _MARKUP.sub(lambda m: _ENTITIES.get(m[0], "\\" + m[0]) if m[1] else m[0], one_line(text, limit))
    return _NUMBERED.sub(r"\1\\\2", inert, count=1) if _NUMBERED.match(inert) else inert


def fenced(text: str) -> str:
    """A code block whose fence the text cannot close."""
    shown = visible(text)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return f"{fence}text\n{shown}\n{fence}"


def percent(value: float | None) -> str:
    """A rate as percent with one decimal."""
    return "–" if value is None else f"{100 * value:.1f}"


def span(low: float, high: float) -> str:
    """An interval of rates in percent."""
    return f"{100 * low:.1f} to {100 * high:.1f}"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], text: int = 1) -> str:
    """A Markdown table of ready cells; the first `text` columns are aligned left, the others right."""
    rule = ["---" if k < text else "--:" for k in range(len(columns))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (columns, rule, *rows)) + "\n"
