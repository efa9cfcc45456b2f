"""Texts as they come from files, made fit to be stored, hashed and shown; every change is counted."""

import re
from collections import Counter
from typing import Any

REPLACEMENT = "\ufffd"
_ODD = re.compile("[\r\ufffd\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class UnreadableText(Exception):
    """A field that is neither text nor turns."""


def clean(text: str, counts: Counter[str]) -> str:
    """`text` with line ends as `\\n` and without control characters; adds what was met to `counts`, once a text.

    CRLF and bare CR become `\\n`. NUL, other control characters (C0 without tab and line feed, DEL, C1) and lone
    surrogates each become U+FFFD, so that a lost character leaves a mark. U+FFFD that was there stays.
    """
    if not _ODD.search(text):
        return text
    if REPLACEMENT in text:
        counts["U+FFFD"] += 1
    if "\r\n" in text:
        counts["CRLF"] += 1
        text = text.replace("\r\n", "\n")
    if "\r" in text:
        counts["bare CR"] += 1
        text = text.replace("\r", "\n")
    if "\x00" in text:
        counts["NUL"] += 1
        text = text.replace("\x00", REPLACEMENT)
    for name, pattern in (("control character", _CONTROL), ("lone surrogate", _SURROGATE)):
        text, found = pattern.subn(REPLACEMENT, text)
        if found:
            counts[name] += 1
    return text


def prompt_text(value: Any) -> tuple[str, int]:
    """A prompt as text, and its number of turns: text, a list of turns, or a list of chat messages."""
    if _are_messages(value):
        turns = [(str(m["role"]).capitalize(), _content(m)) for m in value]
        if len(turns) == 1:
            return turns[0][1], 1
        return "\n\n".join(f"{role}: {text}" for role, text in turns), sum(role == "User" for role, _ in turns)
    return _turns(value)


def answer_text(value: Any) -> str:
    """An answer as text; of a list of chat messages the last one."""
    if _are_messages(value):
        return _content(value[-1])
    return _turns(value)[0]


def split_messages(value: Any) -> tuple[list[Any], Any]:
    """Prompt messages and the answer, from a conversation whose last message is the answer."""
    if not _are_messages(value) or len(value) < 2:
        raise UnreadableText("no prompt column, and no list of chat messages that holds one")
    return value[:-1], value[-1:]


def words(text: str) -> int:
    """Number of words: runs without white space."""
    return len(text.split())


def _turns(value: Any) -> tuple[str, int]:
    if value is None:
        return "", 1
    if isinstance(value, str):
        return value, 1
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        if len(value) == 1:
            return value[0], 1
        return "\n\n".join(f"Turn {i}:\n{text}" for i, text in enumerate(value, 1)), len(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value), 1
    raise UnreadableText(f"{type(value).__name__} where a text should be: {str(value)[:80]!r}")


def _are_messages(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(m, dict) and "role" in m and "content" in m for m in value)
    )


def _content(message: dict[str, Any]) -> str:
    return _turns(message["content"])[0]
