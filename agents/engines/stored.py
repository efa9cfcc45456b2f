"""The completion cache: what was paid for is in the store before anyone uses it."""

import asyncio
import contextlib

from ...core.calls import Completion, Model, Request
from ...core.store import Store
from .answers import check, failure_of

_GRACE = 5.0


class Stored:
    """Looks in the store first; a call's answer and its ledger line are on disk before `complete` returns.

    Truncated, refused and empty answers are kept too: the run that paid meets them again as the same failure without
    paying again, another run asks anew. Equal requests in flight are one call. A caller that is cancelled does not
    cancel the call, since its answer will have been paid for.
    """

    def __init__(self, model: Model, store: Store, run_id: str) -> None:
        self._model, self._store, self._run_id = model, store, run_id
        self._in_flight: dict[str, asyncio.Task[Completion]] = {}

    @property
    def name(self) -> str:
        """The identity of the model."""
        return self._model.name

    async def complete(self, request: Request) -> Completion:
        """The stored answer, else a new one. Raises CallFailed for one that cannot be used."""
        key = request.id
        if (shared := self._in_flight.get(key)) is not None:
            completion = await asyncio.shield(shared)
            self._count_as_cached(request, completion)
            return check(completion, request)
        if (found := self._store.completion(key, self._run_id)) is not None:
            completion = found[0]
            self._count_as_cached(request, completion)
            return check(completion, request)
        task = asyncio.create_task(self._pay(request))
        self._in_flight[key] = task
        task.add_done_callback(lambda done: self._landed(key, done))
        return check(await asyncio.shield(task), request)

    async def aclose(self) -> None:
        """Give calls in flight a few seconds to land in the store, then close the model."""
        if self._in_flight:
            _, late = await asyncio.wait(self._in_flight.values(), timeout=_GRACE)
            for task in late:
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(*late, return_exceptions=True)
        await self._model.aclose()

    async def _pay(self, request: Request) -> Completion:
        completion = await self._model.complete(request)
        ok = failure_of(completion, request) is None
        await self._store.write_call(self._run_id, request.role, request.stage, completion, ok)
        return completion

    def _count_as_cached(self, request: Request, completion: Completion) -> None:
        # No effect where this run's own paid line stands already: lines are inserted or ignored.
        self._store.write_usage(self._run_id, request.role, request.stage, completion, cached=True)

    def _landed(self, key: str, task: asyncio.Task[Completion]) -> None:
        del self._in_flight[key]
        if not task.cancelled():
            task.exception()  # looked at, so that a failure whose callers have gone is not reported as lost
