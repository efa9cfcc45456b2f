"""Ask a model for a value of a pydantic type."""

import functools
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ...core.calls import Message, Model, Request, Role, Stage
from ...core.errors import CallFailed
from ...core.ids import canonical_json
from ...core.mistakes import mistakes
from ...prompts import render
from .json_text import last_json_object
from .structured import strict_schema

T = TypeVar("T", bound=BaseModel)
_SHOWN = 4000


async def ask_json(
    model: Model,
    messages: Sequence[Message],
    schema: type[T],
    *,
    role: Role,
    stage: Stage,
    max_tokens: int = 1024,
    temperature: float | None = 0.0,
    seed: int | None = 0,
    draw: int = 0,
) -> tuple[T, str]:
    """A value that fits `schema`, and the id of the request that gave it.

    The last JSON object of the answer counts. One that does not fit is shown to the model once, with the reason.
    Raises CallFailed('malformed') with the raw text after that, and whatever `model.complete` raises.
    """
    fields = json_schema_of(schema)
    request = Request(
        model=model.name,
        messages=tuple(messages),
        temperature=temperature,
        max_tokens=max_tokens,
        seed=seed,
        json_schema=fields,
        draw=draw,
        role=role,
        stage=stage,
    )
    completion = await model.complete(request)
    value = read_json(completion.text, schema)
    if isinstance(value, str):
        repair = render("json_repair", error=value, schema=canonical_json(strict_schema(fields)))
        answer = Message(role="assistant", content=completion.text[:_SHOWN])
        request = request.model_copy(update={"messages": (*messages, answer, *repair.messages)})
        completion = await model.complete(request)
        value = read_json(completion.text, schema)
    if isinstance(value, str):
        raise CallFailed("malformed", value, raw=completion.text, request_id=completion.request_id)
    return value, completion.request_id


def read_json(text: str, schema: type[T]) -> T | str:
    """The last JSON object of `text` as a `schema`, or one line that says why there is none."""
    found = last_json_object(text)
    if found is None:
        return "there is no complete JSON object in it"
    try:
        return schema.model_validate_json(found.text, strict=True)
    except ValidationError as error:
        return mistakes(error, "the object")[0]


@functools.cache
def json_schema_of(schema: type[BaseModel]) -> dict[str, Any]:
    """The type's JSON schema."""
    return schema.model_json_schema()
