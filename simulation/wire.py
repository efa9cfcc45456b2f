"""What a chat request says: its texts between tags, its schema, its options. Requests are known by content alone."""

import json
import re
from functools import cached_property
from typing import Any

_FENCE = re.compile(r"<(([a-z_0-9]+)-[0-9a-f]{8})>\n(.*?)\n</\1>", re.DOTALL)


class Asked:
    """A /v1/chat/completions body, read. Raises ValueError, saying what is wrong, for a body that is none."""

    def __init__(self, body: dict[str, Any]) -> None:
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages or not all(isinstance(m, dict) for m in messages):
            raise ValueError("'messages' must be a list of at least one message")
        for number, message in enumerate(messages):
            content = message.get("content")
            if not isinstance(content, str | list) and not (content is None and message.get("role") == "assistant"):
                raise ValueError(f"'messages.{number}.content' must be a text or a list of parts")
        _check_options(body)
        self.body = body
        self.messages = [(str(m.get("role", "user")), _text(m.get("content"))) for m in messages]
        self.last = self.messages[-1][1]
        self.fields: dict[str, str] = {}
        for role, content in self.messages:
            if role == "user":
                for match in _FENCE.finditer(content):
                    self.fields.setdefault(match[2], match[3])

    @cached_property
    def key(self) -> str:
        """Everything said, with the request's own seed: equal requests have equal keys."""
        return json.dumps([self.messages, self.body.get("seed")])

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema asked for, empty without one."""
        wanted = self.body.get("response_format") or {}
        wanted = wanted.get("json_schema") if isinstance(wanted, dict) else None
        schema = wanted.get("schema") if isinstance(wanted, dict) else None
        return schema if isinstance(schema, dict) else {}

    @property
    def max_tokens(self) -> int | None:
        """The most tokens that the answer may have."""
        value = self.body.get("max_completion_tokens") or self.body.get("max_tokens")
        return value if isinstance(value, int) else None

    @property
    def temperature(self) -> float:
        """0 when not given."""
        return float(self.body.get("temperature") or 0.0)

    def numbered(self, label: str) -> list[str]:
        """The texts labelled `label_1`, `label_2`, ..."""
        found: list[str] = []
        while (text := self.fields.get(f"{label}_{len(found) + 1}")) is not None:
            found.append(text)
        return found


def _check_options(body: dict[str, Any]) -> None:
    for name, (kind, least, most) in _OPTIONS.items():
        value = body.get(name)
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, kind) or not least <= value <= (most or value)
        ):
            span = f"from {least} to {most}" if most else f"of {least} or more"
            raise ValueError(f"{name!r} must be {'a number' if kind is not int else 'a whole number'} {span}")
    if body.get("top_logprobs") is not None and not body.get("logprobs"):
        raise ValueError("'top_logprobs' needs 'logprobs'")


_OPTIONS: dict[str, tuple[Any, int, int | None]] = {
    "temperature": (int | float, 0, 2),
    "top_p": (int | float, 0, 1),
    "max_tokens": (int, 1, None),
    "max_completion_tokens": (int, 1, None),
    "top_logprobs": (int, 0, 20),
    "n": (int, 1, 1),
}
"""Kind, least and most of what a request may set; the world gives one answer to each."""


def task(asked: Asked) -> str:
    """Which of the known tasks this is, or `chat`."""
    has = asked.fields.keys()
    if {"chosen_answer", "rejected_answer"} <= has:
        return "discover"
    if {"answer_a", "answer_b"} <= has:
        properties = asked.schema.get("properties", {})
        if "verdict" in properties or (not properties and '"verdict"' in asked.last):
            return "verify_answer"
        if "verdict" in has:
            return "argue" if "alone on the last line" in asked.last else "explain_other"
        turns = [role for role, _ in asked.messages if role == "assistant"]
        # After its verdict the judge is asked to go on, unless it is only reminded of the form of a verdict.
        reminded = "[[A]]" in asked.last or re.search(r"\bone letter\b", asked.last)
        return "explain" if turns and not reminded else "judge"
    if "graded_answer" in has or "ranked_1" in has:
        if any(role == "assistant" for role, _ in asked.messages):
            return "repair" if asked.schema else "defend"
        return "rank" if "ranked_1" in has else "rubric" if asked.schema else "grade"
    if {"text_1", "text_2"} <= has:
        return "verify_manipulation"
    if "answer" in has:
        return "perturb" if "bias" in has else "placebo"
    if "candidate_1" in has:
        return "merge_summary"
    return "merge_compare" if "candidate" in has else "chat"


def as_json(values: dict[str, Any], schema: dict[str, Any]) -> str:
    """JSON text of the values that the schema knows, in the types that it wants; what it asks beyond them is empty."""
    properties = schema.get("properties")
    if isinstance(properties, dict):
        values = {name: _fit(values.get(name), spec) for name, spec in properties.items()}
    return json.dumps(values)


def tokens(text: str) -> int:
    """About how many tokens a text has: a quarter of its characters."""
    return -(-len(text) // 4)


_EMPTY: dict[str, Any] = {"boolean": False, "integer": 0, "number": 0.0, "array": [], "object": {}}


def _fit(value: Any, spec: Any) -> Any:
    spec = spec if isinstance(spec, dict) else {}
    allowed = spec.get("enum") or ([spec["const"]] if "const" in spec else None)
    if allowed:
        return next((one for one in allowed if str(one) == str(value)), allowed[0])
    kind = spec.get("type")
    if value is None:
        return _EMPTY.get(str(kind), "")
    return str(value) if kind == "string" else value


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
