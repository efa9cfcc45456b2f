"""Ask for a value: structured output, checked against its schema."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ...core.calls import Message, Model, Request, Role, Stage
from ...core.errors import CallFailed

T = TypeVar("T", bound=BaseModel)


async def ask_json(
    model: Model,
    messages: tuple[Message, ...],
    schema: type[T],
    *,
    role: Role,
    stage: Stage,
    max_tokens: int,
    temperature: float | None = 0.0,
    seed: int | None = 0,
    draw: int = 0,
) -> tuple[T, str]:
    """The value and the request's id; raises CallFailed('malformed') when the answer does not fit `schema`."""
    request = Request(
        model=model.name,
        messages=messages,
        temperature=temperature,
        max_tokens=max_tokens,
        seed=seed,
        json_schema=schema.model_json_schema(),
        draw=draw,
        role=role,
        stage=stage,
    )
    completion = await model.complete(request)
    try:
        return schema.model_validate_json(completion.text), completion.request_id
    except ValidationError as error:
        reason = str(error).splitlines()[0]
        raise CallFailed("malformed", reason, completion.text, completion.request_id) from error
