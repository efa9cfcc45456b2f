"""Request bodies as the product's prompts make them, for tests of a world."""

from typing import Any

from biasscope.prompts import fence


def ask(schema: dict[str, Any] | None = None, system: str = "", tail: str = "", **fields: str) -> dict[str, Any]:
    """A chat body whose user message holds the fields between tags."""
    content = "\n\n".join([*(fence(text, label) for label, text in fields.items()), tail])
    messages = [{"role": "system", "content": system}] if system else []
    body: dict[str, Any] = {"model": "any", "messages": [*messages, {"role": "user", "content": content}]}
    if schema is not None:
        described = {"type": "object", "properties": schema, "required": list(schema), "additionalProperties": False}
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": described},
        }
    return body


def judge(question: str, a: str, b: str, **more: Any) -> dict[str, Any]:
    """A judging request with reasoning."""
    tail = "Write your verdict: [[A]] or [[B]] or [[C]]."
    return {**ask(question=question, answer_a=a, answer_b=b, tail=tail), **more}


def text_of(reply: dict[str, Any]) -> str:
    """The assistant's text."""
    content = reply["choices"][0]["message"]["content"]
    assert isinstance(content, str)
    return content
