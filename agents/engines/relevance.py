"""`embed:relevance`: how near an answer is to its question in embedding space, a common score of answer relevancy."""

import asyncio
import time
from collections import OrderedDict

import numpy as np
import numpy.typing as npt

from ...core.calls import Completion, Request
from ...core.errors import CallFailed, ConfigError
from .embedder import Embedder, MiniLM
from .reference import ModelSpec

BATCH = 64
_REMEMBERED = 4096
_DIGITS = 5
"""Behind the point: more would differ with the texts that happen to share a batch."""

Vector = npt.NDArray[np.float32]


def open_relevance(spec: ModelSpec) -> "RelevanceScorer":
    """The scorer of a reference `embed:relevance`. Raises ConfigError for another one."""
    if spec.target != "relevance":
        raise ConfigError(f"scorer {spec.model!r}: {spec.target!r} is no embedding score; write embed:relevance")
    return RelevanceScorer(MiniLM())


class RelevanceScorer:
    """A scorer: the cosine of question and answer, in [-1, 1].

    It is asked with the prompt as user message and the answer as assistant message (see `judges.score`). Requests in
    flight are embedded together, BATCH texts at a time. The packaged MiniLM reads the first 256 tokens of a text.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._waiting: dict[str, asyncio.Future[Vector]] = {}
        self._known: OrderedDict[str, Vector] = OrderedDict()
        self._worker: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """The score and the embedder."""
        return f"embed:relevance@{self._embedder.name}"

    async def complete(self, request: Request) -> Completion:
        """The score as a decimal number. Raises CallFailed for a request that is not one question and one answer."""
        if [message.role for message in request.messages] != ["user", "assistant"]:
            raise CallFailed("bad_request", f"{self.name} scores one question and one answer", request_id=request.id)
        started = time.perf_counter()
        question, answer = await asyncio.gather(*(self._vector(message.content) for message in request.messages))
        score = round(float(question @ answer), _DIGITS)
        return Completion(
            request_id=request.id,
            text=f"{score:.{_DIGITS}f}",
            served_by=self._embedder.name,
            seconds=time.perf_counter() - started,
            cost=0.0,
        )

    async def aclose(self) -> None:
        """Close the embedder."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)
        await self._embedder.aclose()

    async def _vector(self, text: str) -> Vector:
        if text in self._known:
            self._known.move_to_end(text)
            return self._known[text]
        if text not in self._waiting:
            self._waiting[text] = asyncio.get_running_loop().create_future()
            if self._worker is None or self._worker.done():
                self._worker = asyncio.create_task(self._work())
        return await asyncio.shield(self._waiting[text])  # shared: one caller that gives up takes nothing away

    async def _work(self) -> None:
        """Embed what waits until nothing does."""
        await asyncio.sleep(0)  # let the callers that are ready now join the first batch
        while self._waiting:
            batch = list(self._waiting)[:BATCH]
            try:
                rows = await self._embedder.embed(batch)
            except Exception as error:
                for text in batch:
                    self._waiting.pop(text).set_exception(error)
                continue
            for text, row in zip(batch, rows, strict=True):
                self._known[text] = row
                self._waiting.pop(text).set_result(row)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
