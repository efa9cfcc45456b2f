"""Answers in JSON from endpoints that know JSON schemas, only JSON, or neither.

Forms, best first: `json_schema` (the endpoint constrains decoding), `json_object` (it promises JSON; the schema is
described in the last message), `prompt` (described only). Which one an endpoint has is learnt from its first answers.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import openai

from ...core.calls import Completion, Message
from ...core.ids import canonical_json
from ...prompts import render
from .faults import TOO_LONG, error_text
from .json_text import last_json_object
from .reference import Structured

Form = Literal["json_schema", "json_object", "prompt"]
FORMS: tuple[Form, ...] = ("json_schema", "json_object", "prompt")
_ABOUT_FORM = ("response_format", "json_schema", "json_object", "json mode", "structured", "schema", "grammar")


class StructuredOutput:
    """What one endpoint is known to do."""

    def __init__(self, setting: Structured) -> None:
        self._forms: tuple[Form, ...] = FORMS if setting == "auto" else (setting,)
        self._proven = False

    @property
    def form(self) -> Form:
        """The form to ask in first."""
        return self._forms[0]

    def after_refusal(self, form: Form, error: openai.APIStatusError) -> Form | None:
        """The form to try next when an endpoint would not take the request; None when the form is not to blame.

        The same whatever was learnt before: a resumed process, which learns afresh, must end at the same answer.
        """
        text = error_text(error).lower()
        if any(word in text for word in TOO_LONG):
            return None
        if any(word in text for word in _ABOUT_FORM) or error.status_code in (400, 415, 422, 501):
            return self._below(form)
        return None

    def after_answer(self, form: Form, schema: Mapping[str, Any], completion: Completion) -> Form | None:
        """The form to try next when the answer shows that the schema was ignored; None for a good one."""
        found = last_json_object(completion.text)
        fits = found is not None and set(schema.get("required", ())) <= set(found.value)
        if fits:
            if not self._proven and form in self._forms:
                self._forms = self._forms[self._forms.index(form) :]
            self._proven = True
        elif form == "json_schema" and not self._proven and completion.finish_reason == "stop" and completion.text:
            return self._below(form)
        return None

    def _below(self, form: Form) -> Form | None:
        return next((f for f in self._forms if FORMS.index(f) > FORMS.index(form)), None)


def form_fields(form: Form, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the request body that asks for the form."""
    if form == "json_schema":
        named = {"name": "answer", "schema": strict_schema(schema), "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    return {"response_format": {"type": "json_object"}} if form == "json_object" else {}


def with_schema(messages: Sequence[Message], schema: Mapping[str, Any]) -> tuple[Message, ...]:
    """The messages with the schema described in the last one."""
    text = render("json_answer", schema=canonical_json(strict_schema(schema))).messages[0].content
    *before, last = messages
    if last.role != "user":
        return (*messages, Message(role="user", content=text))
    return (*before, Message(role="user", content=f"{last.content}\n\n{text}"))


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as strict endpoints want it: every object closed, every property required, no titles, no defaults."""
    return _strict(dict(schema))  # type: ignore[no-any-return]


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    kept = {k: v for k, v in node.items() if k != "default" and not (k == "title" and isinstance(v, str))}
    for name in ("properties", "$defs", "definitions"):
        if isinstance(kept.get(name), Mapping):
            kept[name] = {k: _strict(v) for k, v in kept[name].items()}
    out = {
        k: v if k in ("properties", "$defs", "definitions", "enum", "const") else _strict(v) for k, v in kept.items()
    }
    if isinstance(out.get("properties"), Mapping):
        out |= {"required": list(out["properties"]), "additionalProperties": False}
    return out
