"""Untrusted text made harmless to look at: what cannot be seen, or turns a line around, is shown by its number."""

import re

_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters other than tab and line break
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff"  # lone surrogates
    "\U000e0000-\U000e007f"  # tags, which spell out text that nobody sees
    "]"
)
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>&~$:@])")


def visible(text: str) -> str:
    """`text` with control characters, direction marks and invisible characters spelled out as ⟨U+202E⟩."""
    return _HIDDEN.sub(lambda m: f"⟨U+{ord(m[0]):04X}⟩", text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 300) -> str:
    """`visible` text on one line, cut at `limit` characters."""
    line = " ".join(visible(text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def markdown(text: str, limit: int = 300) -> str:
    """One line in which nothing is markup in Markdown, in a table cell or in HTML."""
    line = one_line(text, limit)
    return _MARKUP.sub(lambda m: {"<": "&lt;", ">": "&gt;", "&": "&amp;"}.get(m[1], "\\" + m[1]), line)


def fenced(text: str) -> str:
    """A code block whose fence the text cannot close."""
    shown = visible(text)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return f"{fence}text\n{shown}\n{fence}"
