"""A model call as a value: what is asked (hashed) and what came back."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Protocol, Self, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field

from .ids import content_id

Role = Literal["teacher", "judge", "verifier", "explainer", "embedder", "author", "panel"]
Stage = Literal["probe", "perturb", "judge", "explain", "discover", "merge", "validate", "confirm", "audit"]


class Message(BaseModel):
    """One chat message."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["system", "user", "assistant"]
    content: str


class Request(BaseModel):
    """What is asked of a model. `id` hashes everything that can change the answer; role and stage cannot."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    """The model's identity as in the run's manifest (reference and endpoint, never a key)."""
    messages: tuple[Message, ...]
    temperature: float | None = 0.0
    """None leaves it to the endpoint (reasoning models refuse a value)."""
    max_tokens: int = 1024
    seed: int | None = 0
    top_logprobs: int = 0
    """How many alternatives per token to return; 0 for none."""
    json_schema: Mapping[str, Any] | None = None
    """Answer must be JSON that fits this schema."""
    draw: int = 0
    """Which repetition this is (test-retest); part of the id, not sent."""
    role: Role = "judge"
    stage: Stage = "judge"

    @cached_property
    def id(self) -> str:
        """The content id, without role and stage."""
        return content_id(
            "request",
            self.model,
            [[m.role, m.content] for m in self.messages],
            self.temperature,
            self.max_tokens,
            self.seed,
            self.top_logprobs,
            self.json_schema,
            self.draw,
        )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As pydantic's, without the id, which would be that of the original."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("id", None)
        return copied


class Completion(BaseModel):
    """What came back. Stored before anyone uses it, also when it is truncated or a refusal."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    request_id: str
    text: str
    reasoning: str = ""
    """Thinking that the model gave apart from its answer."""
    finish_reason: str = "stop"
    """stop, length, content_filter or refusal."""
    token_logprobs: tuple[dict[str, float], ...] = ()
    """For each answer token, log-probability of the alternatives (natural log), when asked for."""
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """In the currency of the configured prices; None when no price is known."""
    seconds: float = 0.0
    served_by: str = ""
    """The model name that the endpoint reported."""
    fallback: str = ""
    """How structured output was had when the endpoint has no JSON schema: json_object or prompt."""


class Usage(BaseModel):
    """Calls, tokens and cost of one role in one stage."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: str
    stage: str
    calls: int = Field(ge=0)
    cached_calls: int = Field(ge=0)
    """Answered from another run in the same store, at no cost."""
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
    cost: float | None


@runtime_checkable
class Model(Protocol):
    """The one seam to the outside world: engines, wrappers and test fakes all have this face.

    `complete` raises CallFailed when this request has no usable answer (truncated, refused, empty,
    malformed transport, ...), EndpointError when no request can have one.
    """

    @property
    def name(self) -> str:
        """Identity that goes into Request.model and the manifest."""
        ...

    async def complete(self, request: Request) -> Completion:
        """Answer one request."""
        ...

    async def aclose(self) -> None:
        """Let go of connections, threads and memory."""
        ...
