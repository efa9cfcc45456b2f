"""The embedded engine: a llama.cpp server in this process, on a free loopback port, spoken to over HTTP.

One server per file and settings, shared by all roles. With one slot and no prompt cache (the defaults) temperature 0
is reproducible; more slots or the cache are faster and may change a token now and then.
"""

import asyncio
import importlib.util
import os
import threading
from pathlib import Path
from typing import Any

from ...core.calls import Completion, Request
from ...core.errors import ConfigError, EndpointError
from .gguf import find_gguf, gguf_identity, resolve
from .openai_compatible import OpenAICompatible
from .reference import ModelSpec

INSTALL = "pip install 'biasscope[local]'"
_Key = tuple[str, int, int, int, bool]

_guard = threading.Lock()
_servers: dict[_Key, Any] = {}
_users: dict[_Key, int] = {}


class Embedded:
    """The Model protocol over a GGUF file. The server starts with the first call, and stops with its last user."""

    def __init__(self, spec: ModelSpec, *, run_id: str = "") -> None:
        if importlib.util.find_spec("xllamacpp") is None:
            raise ConfigError(f"model {spec.model!r}: the embedded engine is not installed; run: {INSTALL}")
        self.spec = resolve(spec).spec
        self._path = find_gguf(self.spec)
        suffix = f"#{self.spec.settings_id}" if self.spec.settings_id else ""
        self._name, self._run_id = gguf_identity(self._path) + suffix, run_id
        self._key: _Key = (str(self._path.resolve()), spec.n_ctx, _threads(spec), spec.slots, spec.cache_prompt)
        self._lock = asyncio.Lock()
        self._client: OpenAICompatible | None = None

    @property
    def name(self) -> str:
        """File name and hash, the same on every machine."""
        return self._name

    async def complete(self, request: Request) -> Completion:
        """Answer; the first call loads the model."""
        return await (await self._started()).complete(request)

    async def endpoint(self) -> ModelSpec:
        """The server as an OpenAI-compatible endpoint; starts it."""
        return (await self._started()).spec

    async def aclose(self) -> None:
        """Let go; the server stops when nobody else uses it."""
        async with self._lock:
            client, self._client = self._client, None
            if client is not None:
                await client.aclose()
                await asyncio.to_thread(_release, self._key)

    async def _started(self) -> OpenAICompatible:
        if self._client is None:
            async with self._lock:
                if self._client is None:
                    url = await asyncio.to_thread(_acquire, self._key, self.spec.model)
                    self._client = OpenAICompatible(_endpoint(self.spec, self._path, url), run_id=self._run_id)
        return self._client


def _endpoint(spec: ModelSpec, path: Path, url: str) -> ModelSpec:
    fields = {
        "model": f"openai:{path.stem}",
        "base_url": url,
        "keep_alive": False,  # the server closes connections at the wrong moment after long answers
        "timeout_s": spec.timeout,
        "extra_body": {"cache_prompt": spec.cache_prompt, **spec.extra_body},
        "price_input": spec.price_input or 0.0,
        "price_output": spec.price_output or 0.0,
    }
    return spec.model_copy(update=fields)


def _threads(spec: ModelSpec) -> int:
    return spec.threads or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def _acquire(key: _Key, shown: str) -> str:
    with _guard:
        if key not in _servers:
            _servers[key] = _load(key, shown)
        _users[key] = _users.get(key, 0) + 1
        return f"{_servers[key].listening_address}/v1"


def _release(key: _Key) -> None:
    with _guard:
        _users[key] -= 1
        if _users[key] == 0:
            del _users[key], _servers[key]  # the server stops when nothing refers to it


def _load(key: _Key, shown: str) -> Any:
    import xllamacpp

    path, n_ctx, threads, slots, cache_prompt = key
    params = xllamacpp.CommonParams()
    params.verbosity = -1
    params.model.path, params.model_alias = path, {Path(path).stem}
    params.hostnames, params.port, params.ui = ["127.0.0.1"], 0, False
    params.n_parallel, params.n_ctx, params.cache_prompt = slots, n_ctx * slots, cache_prompt
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    if not cache_prompt:
        params.cache_ram_mib = 0
    try:
        return xllamacpp.Server(params)
    except Exception as error:
        raise EndpointError(
            f"model {shown!r}: the file {path!r} cannot be loaded ({error}); is it a GGUF model?"
        ) from None
