"""`vllm:MODEL`: vLLM in this process, as an offline batch engine. MODEL is a folder or a name of the model hub.

What is asked while a batch runs is the next batch. Roles with the same base model and settings share one engine; a
folder with a LoRA adapter is served on its base without merging. Where two models do not fit the memory together,
`vllm.sleep: true` lets the one that has nothing to do give its memory to the other.
"""

import asyncio
import contextlib
import importlib.util
import json
import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core.calls import Completion, Request
from ...core.errors import CallFailed, ConfigError, EndpointError
from .answers import clean, split_thinking
from .faults import TOO_LONG
from .reference import ModelSpec, VllmSettings
from .structured import strict_schema
from .weights import ADAPTER, folder_identity, holds_model

INSTALL = "pip install vllm"

_guard, _memory = threading.Lock(), threading.Lock()
_engines: dict[str, "_Engine"] = {}
_awake: "_Engine | None" = None


@dataclass
class _Engine:
    """One loaded base model, its users, and what waits for its next batch."""

    key: str
    llm: Any
    turn: threading.Lock
    """Held while it works; the same for all engines that sleep when others work."""
    sleeps: bool
    asleep: bool = False
    users: int = 0
    adapters: list[str] = field(default_factory=list)


class Offline:
    """The Model protocol over vllm.LLM. The model is loaded with the first call."""

    def __init__(self, spec: ModelSpec) -> None:
        if importlib.util.find_spec("vllm") is None:
            raise ConfigError(f"model {spec.model!r}: vLLM is not installed; run: {INSTALL}")
        self.spec, self._settings = spec, spec.vllm or VllmSettings()
        folder = Path(spec.target).expanduser()
        self._adapter = str(folder) if (folder / ADAPTER).is_file() else ""
        self._base = adapter_base(folder) if self._adapter else spec.target
        identity = folder_identity(folder) if holds_model(folder) else spec.target
        self._name = f"{identity}#{spec.settings_id}" if spec.settings_id else identity
        self._engine: _Engine | None = None
        self._waiting: list[tuple[Request, asyncio.Future[Completion]]] = []
        self._worker: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """The hub's name, or folder name and hash of the weights."""
        return self._name

    async def complete(self, request: Request) -> Completion:
        """Answer with the next batch."""
        future: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await future

    async def aclose(self) -> None:
        """Let go; the engine ends with its last user."""
        if self._worker is not None:
            self._worker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._worker
        if self._engine is not None:
            await asyncio.to_thread(_release, self._engine)
            self._engine = None

    async def _work(self) -> None:
        await asyncio.sleep(0)  # callers that were woken together are in the same batch
        while self._waiting:
            batch, self._waiting = self._waiting, []
            asked = [(request, future) for request, future in batch if not future.done()]
            try:
                found = await asyncio.to_thread(self._answer, [request for request, _ in asked])
            except Exception as error:
                found = [error] * len(asked)
            for (_, future), answer in zip(asked, found, strict=True):
                if future.done():
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)

    def _answer(self, requests: Sequence[Request]) -> list[Completion | Exception]:
        if self._engine is None:
            self._engine = _acquire(self.spec, self._settings, self._base, self._adapter)
        engine = self._engine
        with engine.turn:
            if engine.sleeps:
                _make_room(engine)
            try:
                return list(self._chat(engine, requests))
            except ValueError as error:
                # One request that vLLM does not take refuses all of them: ask each by itself.
                if len(requests) == 1:
                    return [_refused(error, requests[0])]
            found: list[Completion | Exception] = []
            for request in requests:
                try:
                    found += self._chat(engine, [request])
                except ValueError as error:
                    found.append(_refused(error, request))
            return found

    def _chat(self, engine: _Engine, requests: Sequence[Request]) -> list[Completion]:
        from vllm import SamplingParams
        from vllm.lora.request import LoRARequest
        from vllm.sampling_params import StructuredOutputsParams

        params = []
        for request in requests:
            fields = sampling_fields(request, self.spec)
            if request.json_schema is not None:
                fields["structured_outputs"] = StructuredOutputsParams(json=strict_schema(request.json_schema))
            params.append(SamplingParams(**fields))
        lora = None
        if self._adapter:
            lora = LoRARequest(self._name, engine.adapters.index(self._adapter) + 1, self._adapter)
        started = time.perf_counter()
        outputs = engine.llm.chat(
            [[{"role": m.role, "content": clean(m.content)} for m in request.messages] for request in requests],
            params,
            use_tqdm=False,
            lora_request=lora,
        )
        seconds = time.perf_counter() - started
        return [read_output(o, r, self.spec, seconds) for o, r in zip(outputs, requests, strict=True)]


def adapter_base(folder: Path) -> str:
    """The model that an adapter was trained on. Raises ConfigError."""
    try:
        base = json.loads((folder / ADAPTER).read_text(encoding="utf-8"))["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError):
        base = None
    if not isinstance(base, str) or not base:
        raise ConfigError(f"model {str(folder)!r}: {ADAPTER} names no base_model_name_or_path; train it again")
    return base


def engine_fields(spec: ModelSpec, settings: VllmSettings, base: str, adapter: str) -> dict[str, Any]:
    """The arguments of vllm.LLM."""
    fields: dict[str, Any] = {
        "model": base,
        "tensor_parallel_size": settings.tensor_parallel,
        "gpu_memory_utilization": settings.memory,
        "max_model_len": spec.n_ctx,
        "enable_prefix_caching": True,
        "enable_sleep_mode": settings.sleep,
        "max_logprobs": 20,
        "seed": 0,
    }
    if adapter or settings.lora_rank:
        fields |= {"enable_lora": True, "max_loras": 4, "max_lora_rank": settings.lora_rank or 64}
    return fields


def sampling_fields(request: Request, spec: ModelSpec) -> dict[str, Any]:
    """The arguments of vllm.SamplingParams, without the schema. A greedy answer needs no seed."""
    temperature = request.temperature if spec.temperature is None else spec.temperature
    fields: dict[str, Any] = {
        "temperature": temperature or 0.0,
        "max_tokens": spec.max_tokens or request.max_tokens,
        "logprobs": min(request.top_logprobs, 20) or None,
        **spec.extra_body,
    }
    if temperature and request.seed is not None:
        fields["seed"] = request.seed + request.draw
    return fields


def read_output(output: Any, request: Request, spec: ModelSpec, seconds: float) -> Completion:
    """A vllm.RequestOutput as a completion."""
    answer = output.outputs[0]
    thought, text = split_thinking(answer.text, spec.reasoning)
    tokens = answer.logprobs if request.top_logprobs and answer.logprobs else ()
    return Completion(
        request_id=request.id,
        text=clean(text),
        reasoning=clean(thought),
        finish_reason=answer.finish_reason or "stop",
        token_logprobs=tuple(_alternatives(step) for step in tokens),
        prompt_tokens=len(output.prompt_token_ids or ()),
        cached_prompt_tokens=output.num_cached_tokens or 0,
        completion_tokens=len(answer.token_ids),
        cost=0.0,
        seconds=seconds,
        served_by=spec.target,
    )


def _alternatives(step: Any) -> dict[str, float]:
    found: dict[str, float] = {}
    for option in step.values():
        token = clean(option.decoded_token or "")
        if math.isfinite(option.logprob):
            found[token] = max(option.logprob, found.get(token, -math.inf))
    return found


def _refused(error: ValueError, request: Request) -> CallFailed:
    said = " ".join(str(error).split())[:400]
    kind: Any = "too_long" if any(word in said.lower() for word in (*TOO_LONG, "max_model_len")) else "bad_request"
    return CallFailed(kind, f"vLLM did not take the request ({said})", request_id=request.id)


def _acquire(spec: ModelSpec, settings: VllmSettings, base: str, adapter: str) -> _Engine:
    fields = engine_fields(spec, settings, base, adapter)
    key = json.dumps(fields, sort_keys=True)
    with _guard:
        if key not in _engines:
            with _memory if settings.sleep else contextlib.nullcontext():
                _engines[key] = _load(spec, fields, key, settings.sleep)
        engine = _engines[key]
        engine.users += 1
        if adapter and adapter not in engine.adapters:
            engine.adapters.append(adapter)
        return engine


def _load(spec: ModelSpec, fields: dict[str, Any], key: str, sleeps: bool) -> _Engine:
    from vllm import LLM

    if sleeps:
        _make_room(None)
    try:
        engine = _Engine(key, LLM(**fields), _memory if sleeps else threading.Lock(), sleeps)
    except Exception as error:
        said = " ".join(str(error).split())[:300]
        raise EndpointError(f"model {spec.model!r}: vLLM cannot load {fields['model']!r}: {said}") from None
    if sleeps:
        _make_room(engine)
    return engine


def _release(engine: _Engine) -> None:
    global _awake
    with _guard, engine.turn:
        engine.users -= 1
        if engine.users == 0:
            del _engines[engine.key]
            engine.llm = None  # its processes end when nothing refers to it
            _awake = None if _awake is engine else _awake


def _make_room(engine: _Engine | None) -> None:
    """Of the engines that take turns, only this one is awake; `_memory` is held by who calls."""
    global _awake
    if _awake is not engine and _awake is not None:
        _awake.llm.sleep(level=1)
        _awake.asleep = True
    if engine is not None and engine.asleep:
        engine.llm.wake_up()
        engine.asleep = False
    _awake = engine
