"""A model behind any OpenAI-compatible endpoint, through langchain-openai.

`complete` returns what came back, truncated answers and refusals too: `Stored` keeps them before it judges them.
"""

import asyncio
import os
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from ...core.calls import Completion, Message, Request
from ...core.errors import ConfigError
from ...core.store import Store
from ...core.tracing import trace_headers
from .answers import clean, read_completion
from .batches import REQUEST_HEADER, BatchTransport
from .faults import error_text, failure_from
from .reference import OPENAI_URL, ModelSpec
from .structured import Form, StructuredOutput, form_fields, with_schema

_MESSAGES: dict[str, type[BaseMessage]] = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
_OPTIONAL = ("seed", "top_logprobs", "logprobs")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class OpenAICompatible:
    """The Model protocol over HTTP. `name` is `model@base_url`, with a hash of the settings that change answers.

    With a store, a spec with `batch` asks through the batch API; its answers are those of the same model.
    """

    def __init__(
        self, spec: ModelSpec, *, run_id: str = "", name: str | None = None, store: Store | None = None
    ) -> None:
        self.spec = spec
        suffix = f"#{spec.settings_id}" if spec.settings_id else ""
        self._name = (name or self.identity(spec)) + suffix
        self._run_id = run_id
        self._secrets = secrets_of(spec)
        self._headers = headers_of(spec)
        self._http = http_client(spec)
        if spec.batch is not None and store is not None:
            self._http = _batching(spec, self._name, store, run_id, self._http)
        self._chat = _chat(spec, self._http)
        self._structured = StructuredOutput(spec.structured)
        self._not_taken: set[str] = set()

    @staticmethod
    def identity(spec: ModelSpec) -> str:
        """Model and address, without the settings."""
        return f"{spec.target}@{_public(spec.base_url)}"

    @property
    def name(self) -> str:
        """The identity that goes into requests and manifests."""
        return self._name

    def __repr__(self) -> str:
        return f"OpenAICompatible({self._name!r})"

    async def complete(self, request: Request) -> Completion:
        """Ask once, with retries below. Raises CallFailed and EndpointError as in core.errors."""
        started, request_id = time.perf_counter(), request.id
        form: Form | None = self._structured.form if request.json_schema is not None else None
        first_error: openai.APIStatusError | None = None
        paid: list[Completion] = []
        while True:
            try:
                answer = await self._send(request, form)
                fallback = "" if form in (None, "json_schema") else form
                seconds = time.perf_counter() - started
                completion = read_completion(answer, self.spec, request_id, seconds, fallback or "")
            except openai.APIStatusError as error:
                if self._drop_what_is_not_taken(request, error):
                    continue
                lower = self._structured.after_refusal(form, error) if form else None
                first_error = first_error or error
                if lower is None:
                    raise failure_from(first_error, self.spec, self._secrets, request_id) from None
                form = lower
            except (openai.APIError, ValueError) as error:
                raise failure_from(error, self.spec, self._secrets, request_id) from None
            else:
                lower = self._structured.after_answer(form, request.json_schema or {}, completion) if form else None
                if lower is None:
                    return _with_paid(completion, paid) if paid else completion
                paid.append(completion)
                form = lower

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _send(self, request: Request, form: Form | None) -> Any:
        spec, messages, more = self.spec, request.messages, dict[str, Any]()
        if form is not None and request.json_schema is not None:
            more |= form_fields(form, request.json_schema)
            if form != "json_schema":
                messages = with_schema(messages, request.json_schema)
        more["max_completion_tokens" if spec.reasoning else "max_tokens"] = spec.max_tokens or request.max_tokens
        temperature = request.temperature if spec.temperature is None else spec.temperature
        if temperature is not None and not spec.reasoning:
            more["temperature"] = temperature
        if request.seed is not None and "seed" not in self._not_taken:
            more["seed"] = request.seed
        if request.top_logprobs and "logprobs" not in self._not_taken:
            more |= {"logprobs": True, "top_logprobs": request.top_logprobs}
        headers = {
            **self._headers,
            "x-biasscope-run": self._run_id,
            "x-biasscope-role": request.role,
            "x-biasscope-stage": request.stage,
            REQUEST_HEADER: request.id,
            **trace_headers(),
        }
        extra_body = {**more, **spec.extra_body}
        result = await self._chat.ainvoke(_as_langchain(messages), extra_body=extra_body, extra_headers=headers)
        return result.response_metadata["answer"]

    def _drop_what_is_not_taken(self, request: Request, error: openai.APIStatusError) -> bool:
        """True when the endpoint named an optional field that it does not know, which is left out from now on."""
        if error.status_code not in (400, 422):
            return False
        text = error_text(error).lower()
        for field in _OPTIONAL:
            known = "logprobs" if field == "top_logprobs" else field
            sent = request.top_logprobs > 0 if known == "logprobs" else request.seed is not None
            if sent and known not in self._not_taken and (error.param == field or field in text):
                self._not_taken.add(known)
                return True
        return False


class _Chat(ChatOpenAI):
    """ChatOpenAI that hands on the endpoint's JSON as it is: its own reading loses reasoning, and takes a thread."""

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        payload = self._get_request_payload(messages, stop=stop, **kwargs)
        headers = payload.pop("extra_headers", {})
        extra = payload.pop("extra_body", {})
        body = {**payload, **extra}
        # The client's own entry for any path: the same retries, without walking the request through its types.
        response = await self.root_async_client.post(
            "/chat/completions", cast_to=httpx2.Response, body=body, options={"headers": headers}
        )
        try:
            answer = response.json()
        except RecursionError:
            raise ValueError("the answer is nested too deeply") from None
        message = AIMessage(content="", response_metadata={"answer": answer})
        return ChatResult(generations=[ChatGeneration(message=message)])


def http_client(spec: ModelSpec) -> httpx2.AsyncClient:
    """A client of this model alone: closed with it, and bound to no other event loop."""
    kept = spec.max_concurrency if spec.keep_alive else 0
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=kept)
    local = urlsplit(spec.base_url or "").hostname in _LOOPBACK  # a proxy cannot reach this machine's loopback
    # Files of batches may take longer than an answer may.
    kind = httpx2.AsyncClient if spec.batch is not None else _InTime
    return kind(limits=limits, timeout=spec.timeout, trust_env=not local, follow_redirects=True)


class _InTime(httpx2.AsyncClient):
    """The timeout is that of a whole answer too; by itself it begins anew with every byte."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            async with asyncio.timeout(self.timeout.read):
                return await super().send(request, **options)
        except TimeoutError:
            raise httpx2.ReadTimeout("the whole answer took too long", request=request) from None


def api_key(spec: ModelSpec) -> str:
    """The key from the environment; a placeholder for endpoints other than OpenAI. Raises ConfigError."""
    key = os.environ.get(spec.api_key_env, "").strip()
    if not key and (spec.base_url in (None, OPENAI_URL) or "api_key_env" in spec.model_fields_set):
        raise ConfigError(
            f"model {spec.model!r}: the environment variable {spec.api_key_env} is not set; put the key there"
        )
    return key or "none"


def headers_of(spec: ModelSpec) -> dict[str, str]:
    """The spec's headers with `$NAME` values taken from the environment. Raises ConfigError."""
    headers = {}
    for name, value in spec.headers.items():
        if value.startswith("$") and value[1:] not in os.environ:
            raise ConfigError(
                f"model {spec.model!r}: header {name!r} needs the environment variable {value[1:]}; set it"
            )
        headers[name] = os.environ[value[1:]] if value.startswith("$") else value
    return headers


def secrets_of(spec: ModelSpec) -> tuple[str, ...]:
    """Texts that no message may repeat."""
    values = (api_key(spec), *(v for v in headers_of(spec).values() if len(v) >= 8))
    return tuple(v for v in values if v != "none")


def _chat(spec: ModelSpec, http: httpx2.AsyncClient) -> _Chat:
    return _Chat(
        model=spec.target,
        base_url=spec.base_url,
        api_key=SecretStr(api_key(spec)),
        max_retries=spec.max_retries,
        timeout=spec.timeout,
        http_async_client=http,
        use_responses_api=False,
        cache=False,
        http_socket_options=(),
    )


def _batching(spec: ModelSpec, name: str, store: Store, run_id: str, http: httpx2.AsyncClient) -> httpx2.AsyncClient:
    """A client whose requests are lines of batches, which `http` sends and collects."""
    online = openai.AsyncOpenAI(
        api_key=api_key(spec),
        base_url=spec.base_url,
        max_retries=spec.max_retries,
        timeout=spec.timeout,
        default_headers=headers_of(spec),
        http_client=http,
    )
    secrets = secrets_of(spec)
    transport = BatchTransport(spec, name=name, store=store, run_id=run_id, online=online, secrets=secrets)
    return httpx2.AsyncClient(transport=transport)


def _public(url: str | None) -> str:
    return (url or OPENAI_URL).partition("?")[0]


def _as_langchain(messages: Sequence[Message]) -> list[BaseMessage]:
    return [_MESSAGES[m.role](content=clean(m.content)) for m in messages]


def _with_paid(completion: Completion, paid: Sequence[Completion]) -> Completion:
    """The completion with the tokens and cost of the answers that were paid for on the way to it."""
    every = (completion, *paid)
    costs = [c.cost for c in every if c.cost is not None]
    return completion.model_copy(
        update={
            "prompt_tokens": sum(c.prompt_tokens for c in every),
            "cached_prompt_tokens": sum(c.cached_prompt_tokens for c in every),
            "completion_tokens": sum(c.completion_tokens for c in every),
            "cost": sum(costs) if costs else None,
        }
    )
