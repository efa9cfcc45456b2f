"""Run many calls at once in flat memory, turning failed items into Failure rows."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TypeVar

from .errors import CallFailed
from .ids import content_id
from .progress import Progress
from .records import Failure
from .store import Store
from .tracing import span

T = TypeVar("T")
R = TypeVar("R")


async def run_all(
    items: Iterable[T],
    work: Callable[[T], Awaitable[R]],
    *,
    store: Store,
    run_id: str,
    stage: str,
    subject: Callable[[T], str],
    progress: Progress,
    width: int,
) -> list[R | None]:
    """`work` on every item, `width` at a time; results in the order of the items, None where an item failed.

    A CallFailed becomes a Failure row. Any other error stops new items, lets those in flight finish, so that
    what they paid for is kept, and is then raised.
    """
    queue = list(enumerate(items))
    results: list[R | None] = [None] * len(queue)
    stopped: list[BaseException] = []
    store.forget_failures(run_id, stage)
    progress.start(stage, len(queue))
    waiting = iter(queue)

    async def worker() -> None:
        for position, item in waiting:
            if stopped:
                return
            try:
                results[position] = await work(item)
            except CallFailed as failed:
                await store.write(failure(run_id, stage, subject(item), failed))
                progress.failed()
            except Exception as error:
                stopped.append(error)
                return
            progress.step()

    with span(f"stage {stage}", biasscope__items=len(queue)) as tell:
        await asyncio.gather(*(worker() for _ in range(min(width, len(queue)))))
        tell(biasscope__failed=progress.failures)
        if stopped:
            raise stopped[0]
    progress.finish()
    return results


async def stream_all(
    items: Iterable[T],
    work: Callable[[T], Awaitable[R]],
    *,
    store: Store,
    run_id: str,
    stage: str,
    subject: Callable[[T], str],
    progress: Progress,
    width: int,
    total: int,
) -> AsyncIterator[tuple[T, R | None]]:
    """`run_all` for streams of any length: each item with its result, in the order of the items, as soon as it and
    all before it are done. At most `width` items are held; `total` is for the progress only.
    """
    store.forget_failures(run_id, stage)
    progress.start(stage, total)

    async def attempt(item: T) -> R | None:
        try:
            return await work(item)
        except CallFailed as failed:
            await store.write(failure(run_id, stage, subject(item), failed))
            progress.failed()
            return None

    source = iter(items)
    flying: deque[tuple[T, asyncio.Task[R | None]]] = deque()
    try:
        while True:
            while len(flying) < width:
                try:
                    item = next(source)
                except StopIteration:
                    break
                flying.append((item, asyncio.create_task(attempt(item))))
            if not flying:
                break
            item, task = flying.popleft()
            result = await task
            progress.step()
            yield item, result
    finally:
        # Whatever stops the stream: what is in flight has been paid for and comes to its end.
        await asyncio.gather(*(task for _, task in flying), return_exceptions=True)
    progress.finish()


def failure(run_id: str, stage: str, subject: str, failed: CallFailed) -> Failure:
    """The row for one failed item."""
    return Failure(
        id=content_id("failure", run_id, stage, subject, failed.kind, failed.request_id),
        run_id=run_id,
        stage=stage,
        kind=failed.kind,
        subject=subject,
        reason=failed.reason,
        raw=failed.raw[:20_000],
        request_id=failed.request_id or "",
    )
