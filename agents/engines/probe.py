"""What a model can do, by one small call each: for `biasscope doctor`."""

import time
from collections.abc import Mapping
from typing import Any, Literal

import httpx2
from pydantic import BaseModel, ConfigDict

from ...core.calls import Message, Model, Request
from ...core.errors import BiasScopeError, CallFailed
from .ask import json_schema_of, read_json
from .embedded import Embedded
from .embedder import open_embedder
from .gguf import resolve
from .openai_compatible import api_key, headers_of, http_client
from .opening import open_engine
from .reference import ModelSpec, parse_reference

_WORD = Message(role="user", content="Answer with the single word: yes")
_SECONDS = 120.0


class ProbeReport(BaseModel):
    """What was found. `reason` is empty for a model that answers; otherwise it ends with the next step."""

    model_config = ConfigDict(frozen=True)

    reference: str
    name: str = ""
    reachable: bool = False
    answer: str = ""
    structured: str = ""
    """json_schema, json_object or prompt; empty when no JSON came."""
    logprobs: bool = False
    context: int | None = None
    """Tokens per request, when the endpoint tells."""
    dimensions: int | None = None
    """Embedders: length of a vector."""
    seconds: float = 0.0
    """Of the first answer, loading of a local model apart."""
    notes: tuple[str, ...] = ()
    reason: str = ""


class _YesNo(BaseModel):
    answer: str


Asks = Literal["text", "score", "compare"]
"""What a model is asked for: text, the score of one answer, or the comparison of two."""


async def probe(spec: str | Mapping[str, Any] | ModelSpec, asks: Asks = "text") -> ProbeReport:
    """Ask a language model for a word, JSON and log-probabilities; another one for a score or a comparison.

    Never raises for a model that is wrong or dead.
    """
    shown = _reference(spec)
    try:
        resolved, notice = resolve(parse_reference(spec))
        # A probe is for a person who waits: fail soon.
        quick = resolved.model_copy(update={"max_retries": min(1, resolved.max_retries), "timeout_s": _wait(resolved)})
        engine = open_engine(quick, run_id="doctor")
    except BiasScopeError as error:
        return ProbeReport(reference=shown, reason=str(error))
    notes = [notice] if notice else []
    try:
        endpoint = await engine.endpoint() if isinstance(engine, Embedded) else quick
        started = time.perf_counter()
        answer = await engine.complete(_request(engine) if asks == "text" else _judging(engine, asks))
        seconds = time.perf_counter() - started
        if asks != "text":
            return ProbeReport(
                reference=shown, name=engine.name, reachable=True, answer=answer.text[:80], seconds=seconds
            )
        return ProbeReport(
            reference=shown,
            name=engine.name,
            reachable=True,
            answer=" ".join(answer.text.split())[:80],
            structured=await _structured(engine, notes),
            logprobs=await _logprobs(engine, notes),
            context=await _context(endpoint),
            seconds=seconds,
            notes=tuple(notes),
        )
    except BiasScopeError as error:
        return ProbeReport(reference=shown, name=engine.name, notes=tuple(notes), reason=str(error))
    finally:
        await engine.aclose()


async def probe_embedder(spec: str | Mapping[str, Any] | ModelSpec) -> ProbeReport:
    """Embed two texts. Never raises for an embedder that is wrong or dead."""
    shown = _reference(spec)
    try:
        parsed = parse_reference(spec)
        embedder = open_embedder(parsed.model_copy(update={"max_retries": 1, "timeout_s": _wait(parsed)}))
    except BiasScopeError as error:
        return ProbeReport(reference=shown, reason=str(error))
    try:
        started = time.perf_counter()
        vectors = await embedder.embed(["a short text", "another"])
        seconds = time.perf_counter() - started
        return ProbeReport(
            reference=shown, name=embedder.name, reachable=True, dimensions=vectors.shape[1], seconds=seconds
        )
    except BiasScopeError as error:
        return ProbeReport(reference=shown, name=embedder.name, reason=str(error))
    finally:
        await embedder.aclose()


def _reference(spec: str | Mapping[str, Any] | ModelSpec) -> str:
    if isinstance(spec, ModelSpec):
        return spec.model
    return str(spec if isinstance(spec, str) else spec.get("model", ""))


def _wait(spec: ModelSpec) -> float:
    return min(spec.timeout, _SECONDS)


def _request(engine: Model, **more: Any) -> Request:
    fields = {"max_tokens": 16, **more}
    return Request(model=engine.name, messages=(_WORD,), role="judge", stage="probe", **fields)


def _judging(engine: Model, asks: Asks) -> Request:
    answers = ("Water is wet.",) if asks == "score" else ("Water is wet.", "Water is dry.")
    messages = (
        Message(role="user", content="Is water wet?"),
        *(Message(role="assistant", content=a) for a in answers),
    )
    return Request(
        model=engine.name, messages=messages, temperature=None, max_tokens=1, seed=None, role="judge", stage="probe"
    )


async def _structured(engine: Model, notes: list[str]) -> str:
    question = Message(role="user", content="Is water wet? Give the field `answer` the value yes or no.")
    request = _request(engine, max_tokens=256, json_schema=json_schema_of(_YesNo))
    try:
        answer = await engine.complete(request.model_copy(update={"messages": (question,)}))
    except CallFailed as error:
        notes.append(f"no JSON answer: {error}")
        return ""
    if isinstance(value := read_json(answer.text, _YesNo), str):
        notes.append(f"no JSON answer: {value}")
        return ""
    return answer.fallback or "json_schema"


async def _logprobs(engine: Model, notes: list[str]) -> bool:
    try:
        answer = await engine.complete(_request(engine, max_tokens=1, top_logprobs=5))
    except CallFailed as error:
        notes.append(f"no log-probabilities: {error}")
        return False
    return bool(answer.token_logprobs)


async def _context(endpoint: ModelSpec) -> int | None:
    """What `/v1/models` (vLLM, gateways) or `/props` (llama.cpp) tell about the context window."""
    headers = {"authorization": f"Bearer {api_key(endpoint)}", **headers_of(endpoint)}
    base = endpoint.base_url or ""
    async with http_client(endpoint.model_copy(update={"timeout_s": 10.0})) as http:
        listed = (await _json(http, f"{base}/models", headers)).get("data")
        entries = [e for e in listed if isinstance(e, dict)] if isinstance(listed, list) else []
        for entry in [e for e in entries if e.get("id") == endpoint.target] or entries[:1]:
            told = (entry.get("max_model_len"), entry.get("context_length"), (entry.get("meta") or {}).get("n_ctx"))
            for value in told:
                if isinstance(value, int):
                    return value
        settings = (await _json(http, f"{base.removesuffix('/v1')}/props", headers)).get("default_generation_settings")
    value = settings.get("n_ctx") if isinstance(settings, dict) else None
    return value if isinstance(value, int) else None


async def _json(http: httpx2.AsyncClient, url: str, headers: dict[str, str]) -> dict[str, Any]:
    try:
        answer = (await http.get(url, headers=headers)).json()
    except (httpx2.HTTPError, ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}
