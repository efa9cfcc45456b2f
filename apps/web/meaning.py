"""Search by meaning: the run's own embedder on the query, its stored vectors in a FAISS index."""

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...agents.engines.embedder import Embedder, StoredEmbedder, open_embedder
from ...bias_library.bias import bias_text, clean
from ...bias_library.index import Hit, Index, build
from ...runs.config import load_config
from .site import OpenRun
from .snapshot import Snapshot


@dataclass
class _Opened:
    plain: Embedder
    version: Hashable = None
    vectors: dict[str, npt.NDArray[np.float32]] = field(default_factory=dict)
    index: Index = field(default_factory=lambda: build({}))
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Meaning:
    """The embedders of the runs that have been searched. Belongs to one event loop."""

    def __init__(self) -> None:
        self._opened: dict[str, _Opened] = {}

    async def nearest(self, run: OpenRun, snap: Snapshot, query: str, most: int) -> list[Hit]:
        """The `most` biases nearest to the query in meaning, nearest first.

        Biases that were never embedded are, once, and kept in the run's store; a query is not. Raises ConfigError or
        EndpointError where the run's embedder cannot be used here.
        """
        opened = await self._ready(run, snap)
        [hits] = opened.index.nearest(await opened.plain.embed([clean(query)]), most)
        return hits

    async def vectors(self, run: OpenRun, snap: Snapshot) -> dict[str, npt.NDArray[np.float32]]:
        """Every bias's vector by id. Raises as `nearest`."""
        return (await self._ready(run, snap)).vectors

    async def _ready(self, run: OpenRun, snap: Snapshot) -> _Opened:
        opened = self._opened.get(run.run_id)
        if opened is None:
            plain = open_embedder(load_config(run.folder.config).embedder)
            opened = self._opened.setdefault(run.run_id, _Opened(plain))
        async with opened.lock:
            if opened.version != snap.version:
                texts = {r.id: bias_text(r.entry.bias.name, r.entry.bias.definition) for r in snap.rows}
                rows = await StoredEmbedder(opened.plain, run.store).embed(list(texts.values()))
                opened.vectors = dict(zip(texts, rows, strict=True))
                opened.index, opened.version = build(opened.vectors), snap.version
        return opened

    async def aclose(self) -> None:
        """Let go of the embedders."""
        for opened in self._opened.values():
            await opened.plain.aclose()
        self._opened.clear()
