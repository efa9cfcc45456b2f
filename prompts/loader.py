"""Load and render prompt templates.

A template is split into chat messages by lines `== system`, `== user` and `== assistant` before anything is rendered,
so that untrusted text can never open a message. Untrusted text is fenced: `{{ question | fence("question") }}`.
"""

import functools
import hashlib
import re
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import jinja2

from ..core.calls import Message

_FOLDER = Path(__file__).parent
_HEADER = re.compile(r"^== (system|user|assistant)\n", re.MULTILINE)


class Prompt(NamedTuple):
    """Rendered messages, with the template's name and SHA-256."""

    name: str
    sha256: str
    messages: tuple[Message, ...]


def fence(text: str, label: str) -> str:
    """`text` between tags that its own content cannot close: the tag carries a hash of the text.

    `<label-1a2b3c4d>`, a line break, the text, a line break, `</label-1a2b3c4d>`.
    """
    tag = f"{label}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    return f"<{tag}>\n{text}\n</{tag}>"


def render(name: str, **fields: Any) -> Prompt:
    """Render the template `name`; a field that the template needs and does not get is an error."""
    sha256, parts = _template(name)
    messages = tuple(Message(role=role, content=part.render(**fields).strip()) for role, part in parts)
    return Prompt(name, sha256, messages)


def prompt_hashes() -> dict[str, str]:
    """SHA-256 of every template, by name; part of a run's manifest."""
    return {path.stem: _template(path.stem)[0] for path in sorted(_FOLDER.glob("*.j2"))}


_Parts = tuple[tuple[Literal["system", "user", "assistant"], jinja2.Template], ...]


@functools.cache
def _template(name: str) -> tuple[str, _Parts]:
    source = (_FOLDER / f"{name}.j2").read_text(encoding="utf-8")
    pieces = _HEADER.split(source)
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False, trim_blocks=True)
    environment.filters["fence"] = fence
    parts = tuple(
        (cast(Literal["system", "user", "assistant"], role), environment.from_string(text))
        for role, text in zip(pieces[1::2], pieces[2::2], strict=True)
    )
    return hashlib.sha256(source.encode()).hexdigest(), parts
