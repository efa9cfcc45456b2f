"""What every piece of work on a store has: whose rows it writes, its seed, its progress and how much runs at once."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from .pool import run_all, stream_all
from .progress import Progress
from .store import Store

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Job:
    """A discovery run, an audit or the making of a data set, while a process works on it."""

    run_id: str
    store: Store
    seed: int
    """Seed of everything that is drawn."""
    progress: Progress
    width: int
    """Items in flight at a time."""

    async def run_all(
        self, stage: str, items: Iterable[T], work: Callable[[T], Awaitable[R]], subject: Callable[[T], str]
    ) -> list[R | None]:
        """`work` on every item; None where one failed, which is then a Failure row under `stage` and `subject`."""
        return await run_all(
            items,
            work,
            store=self.store,
            run_id=self.run_id,
            stage=stage,
            subject=subject,
            progress=self.progress,
            width=self.width,
        )

    def stream_all(
        self,
        stage: str,
        items: Iterable[T],
        work: Callable[[T], Awaitable[R]],
        subject: Callable[[T], str],
        total: int,
    ) -> AsyncIterator[tuple[T, R | None]]:
        """`run_all` in flat memory: each item with its result, in order, as they come."""
        return stream_all(
            items,
            work,
            store=self.store,
            run_id=self.run_id,
            stage=stage,
            subject=subject,
            progress=self.progress,
            width=self.width,
            total=total,
        )
