"""Texts as they come from files, made fit to be stored, hashed and shown; every change is counted."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

REPLACEMENT = "\ufffd"
_ODD = re.compile("[\r\ufffd\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")

_FIELDS = (("role", "content"), ("from", "value"))
_USER = ("user", "human")
_ASSISTANT = ("assistant", "gpt", "bot", "model", "chatbot")


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
    messages = messages_of(value)
    return _turns(value) if messages is None else joined(messages)


def joined(messages: Sequence["ChatMessage"]) -> tuple[str, int]:
    """Chat messages as a prompt, and their number of turns."""
    if len(messages) == 1:
        return messages[0].text, 1
    turns = sum(message.role == "user" for message in messages)
    return "\n\n".join(f"{message.role.capitalize()}: {message.text}" for message in messages), turns


def answer_text(value: Any, turns: int = 1) -> str:
    """An answer as text: text, the last of some chat messages, or one text for each of the prompt's `turns`."""
    messages = messages_of(value)
    if messages is not None:
        if messages[-1].role not in _ASSISTANT:
            raise UnreadableText(f"the last chat message is of the role {messages[-1].role!r}, not of the assistant")
        return messages[-1].text
    text, parts = _turns(value)
    if parts not in (1, turns):
        raise UnreadableText(f"{parts} texts where one answer should be: {str(value)[:80]!r}")
    return text


class ChatMessage(NamedTuple):
    """Who said what; `user` and `assistant` for all their names."""

    role: str
    text: str


def messages_of(value: Any) -> list[ChatMessage] | None:
    """The chat messages that a field holds, one or a list of them; None when it is something else."""
    given = [value] if isinstance(value, dict) else value
    if not isinstance(given, list) or not given:
        return None
    for role, content in _FIELDS:
        if all(isinstance(m, dict) and role in m and content in m for m in given):
            return [_message(m[role], m[content]) for m in given]
    return None


def _message(role: Any, content: Any) -> ChatMessage:
    if not isinstance(role, str) or not role.strip():
        raise UnreadableText(f"a chat message whose role is {role!r:.40}")
    if isinstance(content, list) and content and all(isinstance(p, dict) and p.get("type") == "text" for p in content):
        content = "".join(_turns(part.get("text"))[0] for part in content)
    word = role.strip().lower()
    return ChatMessage("user" if word in _USER else "assistant" if word in _ASSISTANT else word, _turns(content)[0])


def _turns(value: Any) -> tuple[str, int]:
    if value is None or value != value:
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
