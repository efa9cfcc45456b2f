"""Model references: one syntax for judge, teacher, verifier and embedder, on the command line and in YAML.

openai:MODEL                    an OpenAI-compatible endpoint at OPENAI_BASE_URL, else OpenAI
openai:MODEL@http://host/v1     the same at another base URL (vLLM, llama.cpp, Ollama, gateways)
openai:MODEL@http://a/v1,http://b/v1    the same model at several addresses, load-balanced
local:                          the best model for this machine (see `gguf`); as embedder: MiniLM
local:smollm2                   the packaged SmolLM2-135M; as embedder local:minilm
local:/path/model.gguf          a GGUF file
local:org/repo/file.gguf        a GGUF file from the model hub
vllm:/path or vllm:org/name     a model or LoRA adapter, run by vLLM in this process (one GPU or several)
hf:/path/folder                 a model or adapter in Hugging Face format, run by transformers (extra train)
embed:relevance                 a scorer: how near an answer is to its question in the packaged MiniLM
reward:/path or reward:org/name a scorer: a transformers sequence classifier, from a folder or the model hub
score:MODEL@http://host:8000    a scorer: the /score endpoint of vLLM and its like
rerank:MODEL@http://host:8000   a scorer: the /v1/rerank endpoint
python:module:function          a Python callable, sync or async: a scorer, or a judge that compares
http://host/path                any endpoint, with `http` settings: a scorer, or a judge that compares
"""

import os
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ...core.errors import ConfigError
from ...core.ids import content_id
from ...core.mistakes import mistakes

OPENAI_URL = "https://api.openai.com/v1"
SCHEMES = ("openai", "local", "hf", "vllm", "embed", "reward", "score", "rerank", "python", "http", "https")
SCORERS: tuple[str, ...] = ("embed", "reward", "score", "rerank")
"""Schemes whose models give a number for one answer; see `judges.score`."""
CALLED = ("python", "http", "https")
"""Schemes whose models give a number for one answer, or a verdict on two; see `judges.compare`."""
IN_PROCESS = ("local", "hf", "vllm", "embed", "reward", "python")
"""Schemes whose models run here and cost no money."""
_EMBEDDED_AT_ONCE = 64
_OFFLINE_AT_ONCE = 256
_AT = ("openai", "score", "rerank")
"""Schemes that take MODEL@URL."""
_EXAMPLES = "openai:MODEL, openai:MODEL@http://host:8000/v1, local:, local:/path/model.gguf"
_AT_URL = re.compile(r"@(?=https?://)")
_NEXT_URL = re.compile(r",(?=https?://)")

Structured = Literal["auto", "json_schema", "json_object", "prompt"]


class HttpCall(BaseModel):
    """What an endpoint of one's own is sent, and where its answer is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    body: Any
    """The JSON that is sent. Its texts are Jinja templates with the fields prompt and answer, or prompt, answer_a and
    answer_b for a judge that compares."""
    answer: str = Field(min_length=1)
    """JSON path (RFC 9535) of the score or the verdict in what comes back, such as $.result.score."""
    method: Literal["POST", "PUT"] = "POST"
    """How it is sent."""


class BatchSettings(BaseModel):
    """How a provider's batch API is used (docs/batches.md)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests: int = Field(default=10_000, ge=1, le=50_000)
    """The most requests of one batch."""
    quiet_s: float = Field(default=5.0, gt=0)
    """A batch is sent when nothing new was asked for this many seconds."""
    poll_s: float = Field(default=60.0, gt=0)
    """Seconds between looks at a batch."""
    patience_h: float | None = Field(default=None, gt=0)
    """Hours of waiting after which the run stops, to be resumed another day; None waits as long as it takes."""
    window: str = "24h"
    """The time that the provider is given, as it names it."""


class VllmSettings(BaseModel):
    """How vLLM runs in this process (docs/scale.md)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tensor_parallel: int = Field(default=1, ge=1)
    """GPUs over which one model is spread."""
    memory: float = Field(default=0.9, gt=0, le=1)
    """Share of a GPU's memory that the engine may take."""
    sleep: bool = False
    """Give the memory to the other role's model when this one has nothing to do."""
    lora_rank: int | None = Field(default=None, ge=1)
    """Serve LoRA adapters up to this rank; a model that is an adapter is served up to 64 without it. Roles share one
    engine when all of these settings are equal."""


class ModelSpec(BaseModel):
    """A model and how to speak to it. Holds no secret: keys are named by environment variable."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schemes: ClassVar[tuple[str, ...]] = SCHEMES

    model: str
    """Reference, as in the head of this module."""
    base_url: str | None = None
    """Where the endpoint is; also `@URL` in the reference."""
    endpoints: tuple[str, ...] = ()
    """More addresses that serve the same model beside base_url, which stays its identity: requests are spread over
    those that answer, and what a dead one was asked goes to the others."""
    batch: BatchSettings | None = None
    """Ask through the provider's batch API, cheaper and within a day: true, or how. The prices are then those of
    batches."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; an endpoint without keys needs none."""
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    """More request headers; a value `$NAME` is taken from the environment variable NAME when a model is opened."""
    max_concurrency: int = Field(default=8, ge=1)
    """Requests in flight at once, at each address; for local models at most the slots."""
    timeout_s: float | None = Field(default=None, gt=0)
    """Seconds for one attempt; None is 120 for endpoints and 1800 for local models."""
    max_retries: int = Field(default=4, ge=0)
    """Further attempts after 429 (Retry-After is honoured), 5xx, timeouts and broken connections."""
    temperature: float | None = Field(default=None, ge=0)
    """Sent instead of what the role asks for. None leaves the role's value."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Sent instead of what the role asks for. None leaves the role's value."""
    structured: Structured = "auto"
    """How JSON answers are asked for; auto tries json_schema, json_object and prompt and remembers what works."""
    reasoning: bool = False
    """A thinking model: no temperature, max_completion_tokens, <think> blocks split off."""
    price_input: float | None = Field(default=None, ge=0)
    """Money per million prompt tokens."""
    price_output: float | None = Field(default=None, ge=0)
    """Money per million answer tokens."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """More fields for the request body, such as {"top_p": 0.9}."""
    keep_alive: bool = True
    """Reuse connections; switch off for servers that close idle ones at the wrong moment."""
    vllm: VllmSettings | None = None
    """For vllm: models."""
    http: HttpCall | None = None
    """For a reference that is an address: what is sent there and where the answer is."""
    n_ctx: int = Field(default=8192, ge=512)
    """Local: context window per slot, in tokens."""
    threads: int | None = Field(default=None, ge=1)
    """Local: CPU threads; None takes all cores."""
    slots: int = Field(default=1, ge=1)
    """Local: requests served at once. More than one is faster and no longer reproducible to the bit."""
    cache_prompt: bool = False
    """Local: keep the prompt's state for the next request with the same beginning; faster, not reproducible."""

    @property
    def scheme(self) -> str:
        """The part of the reference before the colon."""
        return self.model.partition(":")[0]

    @property
    def target(self) -> str:
        """The part of the reference after the colon."""
        return self.model.partition(":")[2]

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where the model is served: base_url and endpoints, each once."""
        return tuple(dict.fromkeys((*((self.base_url,) if self.base_url else ()), *self.endpoints)))

    @property
    def at_once(self) -> int:
        """Requests in flight at once, all addresses together."""
        if self.scheme == "local":
            return min(self.max_concurrency, self.slots)
        if self.batch is not None:
            return self.batch.requests
        return self.max_concurrency * max(1, len(self.addresses))

    @property
    def timeout(self) -> float:
        """Seconds for one attempt."""
        return self.timeout_s or (1800.0 if self.scheme in ("local", "hf", "vllm") else 120.0)

    @property
    def settings_id(self) -> str:
        """Short hash of the settings that change answers; empty when all have their defaults."""
        names = ("temperature", "max_tokens", "structured", "reasoning", "extra_body", "http")
        changed = {
            n: v
            for n in names
            if (v := getattr(self, n))
            != type(self).model_fields[n].get_default(call_default_factory=True, validated_data={})
        }
        return content_id("settings", changed)[:8] if changed else ""

    @field_validator("batch", mode="before")
    @classmethod
    def _switched(cls, batch: Any) -> Any:
        return {True: BatchSettings(), False: None}[batch] if isinstance(batch, bool) else batch

    @model_validator(mode="after")
    def _batches_of_one_endpoint(self) -> "ModelSpec":
        if self.batch is not None and (self.scheme != "openai" or len(self.addresses) > 1):
            raise ValueError(f"{self.model!r}: batch works with an openai: model at one address; leave it out here")
        return self

    @field_validator("endpoints")
    @classmethod
    def _plain_urls(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_plain(url) for url in urls)

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, url: str | None) -> str | None:
        return None if url is None else _plain(url)

    @model_validator(mode="before")
    @classmethod
    def _split_reference(cls, given: Any) -> Any:
        if not isinstance(given, Mapping) or not isinstance(given.get("model"), str):
            return given
        fields = dict(given)
        if isinstance(fields.get("base_url"), list | tuple):
            fields["base_url"], more = (*fields["base_url"], None)[0], fields["base_url"][1:]
            fields["endpoints"] = (*more, *fields.get("endpoints", ()))
        reference = fields["model"].strip()
        scheme, colon, target = reference.partition(":")
        if not colon or scheme not in cls.schemes:
            raise ValueError(
                f"{_shown(reference)!r} is no model reference: it starts with none of "
                f"{', '.join(s + ':' for s in cls.schemes)}; write one of {_EXAMPLES}"
            )
        if scheme in _AT:
            name, *given_urls = _AT_URL.split(target, maxsplit=1)
            url, *more = _NEXT_URL.split(given_urls[0]) if given_urls else [""]
            if not name:
                raise ValueError(f"{_shown(reference)!r} names no model; write {scheme}:MODEL")
            if url and fields.get("base_url") not in (None, url, url.rstrip("/")):
                raise ValueError(f"{_shown(reference)!r} and base_url name two addresses; keep one")
            fields["model"] = f"{scheme}:{name}"
            if url:
                fields["base_url"] = url
                fields["endpoints"] = tuple(dict.fromkeys((*more, *fields.get("endpoints", ()))))
            elif fields.get("base_url") is None and scheme != "openai":
                raise ValueError(f"{reference!r} has no address; write {scheme}:MODEL@http://host:8000")
            elif fields.get("base_url") is None:
                fields["base_url"] = os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
            if scheme != "openai" and fields.get("endpoints"):
                raise ValueError(f"{_shown(reference)!r}: only openai: models take several addresses; keep one")
        elif scheme in ("http", "https"):
            if fields.get("http") is None:
                raise ValueError(
                    f"{_shown(reference)!r} needs http settings: a body to send and the path of its answer"
                )
            fields |= {"model": reference, "base_url": reference}
        else:
            fields["model"] = reference
            if scheme in ("embed", "reward", "vllm"):  # what is in flight goes through the model together
                fields.setdefault("max_concurrency", _EMBEDDED_AT_ONCE if scheme != "vllm" else _OFFLINE_AT_ONCE)
            if fields.get("base_url") is not None or fields.get("endpoints"):
                raise ValueError(f"{reference!r} runs in this process and has no base_url; write openai:MODEL@URL")
        return fields


def parse_reference(value: "str | Mapping[str, Any] | ModelSpec") -> ModelSpec:
    """A model reference, or a mapping with one under `model` and settings beside it.

    Raises ConfigError with the value and the next step.
    """
    if isinstance(value, ModelSpec):
        return value
    if not isinstance(value, str | Mapping):
        raise ConfigError(f"model reference: {value!r} is neither text nor a mapping; write {_EXAMPLES}")
    try:
        return ModelSpec.model_validate({"model": value} if isinstance(value, str) else dict(value))
    except ValidationError as error:
        raise ConfigError(f"model reference: {_first(error)}") from None


def _first(error: ValidationError) -> str:
    found = error.errors(include_url=False)[0]
    if found["type"] == "extra_forbidden":
        place = ".".join(str(p) for p in found["loc"])
        return f"{place!r} is no setting; there are {', '.join(ModelSpec.model_fields)}"
    said = mistakes(error)[0]
    return f"{said}; write {_EXAMPLES}" if found["loc"] == ("model",) else said


def _shown(url: str) -> str:
    """An address for a message: what stands before @ in a host, and queries, may be secrets."""
    return re.sub(r"\?.*", "?...", re.sub(r"(\w+://)[^/@\s]*@", r"\1...@", url))


def _plain(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{_shown(url)!r} is no http address; write http://host:port/v1")
    if parts.username or parts.password or parts.query:
        raise ValueError(f"{_shown(url)!r}: leave credentials out of the address and name them with api_key_env")
    return url.rstrip("/")
