"""Load and render prompt templates.

A template is split into chat messages by lines `== system`, `== user` and `== assistant` before anything is rendered,
so that untrusted text can never open a message. Untrusted text is fenced: `{{ question | fence("question") }}`.
"""

import functools
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import jinja2
import jinja2.meta
import jinja2.sandbox

from ..core.calls import Message
from ..core.errors import ConfigError

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


class OwnPrompt:
    """A template that a user brings, in the same form as ours; without a header line the whole is one user message.

    Rendered in Jinja's sandbox, with the filter `fence`. `fields` are the names that it may use; others, and what is
    no template, raise ConfigError.
    """

    def __init__(self, source: str, fields: Sequence[str], system: str = "") -> None:
        self.sha256 = hashlib.sha256(f"{system}\0{source}".encode()).hexdigest()
        environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
            undefined=jinja2.StrictUndefined, autoescape=False, trim_blocks=True
        )
        environment.filters["fence"] = fence
        try:
            self.used = jinja2.meta.find_undeclared_variables(environment.parse(source))
            unknown = sorted(self.used - set(fields))
            self._parts = _compile(environment, source if _HEADER.search(source) else f"== user\n{source}")
        except jinja2.TemplateSyntaxError as error:
            raise ConfigError(f"the prompt template, line {error.lineno}: {error.message}") from None
        if unknown:
            raise ConfigError(f"the prompt template uses {', '.join(unknown)}; its fields are {', '.join(fields)}")
        self._system = (Message(role="system", content=system),) if system else ()
        self.render(**dict.fromkeys(fields, "text"))

    def render(self, **fields: Any) -> tuple[Message, ...]:
        """The messages. Raises ConfigError for a template that fails on these fields."""
        try:
            filled = [(role, part.render(**fields).strip()) for role, part in self._parts]
        except Exception as error:  # whatever a template can do wrong
            raise ConfigError(f"the prompt template fails: {error}") from None
        return (*self._system, *(Message(role=role, content=text) for role, text in filled))


@functools.cache
def _template(name: str) -> tuple[str, _Parts]:
    source = (_FOLDER / f"{name}.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False, trim_blocks=True)
    environment.filters["fence"] = fence
    return hashlib.sha256(source.encode()).hexdigest(), _compile(environment, source)


def _compile(environment: jinja2.Environment, source: str) -> _Parts:
    pieces = _HEADER.split(source)
    return tuple(
        (cast(Literal["system", "user", "assistant"], role), environment.from_string(text))
        for role, text in zip(pieces[1::2], pieces[2::2], strict=True)
    )
