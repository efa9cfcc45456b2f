"""What the nodes work with. Built by the launcher, never part of the state."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from ..agents.engines.embedder import Embedder
from ..agents.judges.protocol import Judge
from ..agents.teacher import Teacher
from ..core.calls import Model
from ..core.records import Order, PreferencePair
from ..core.store import Store
from ..data.order import draw_order
from .pool import run_all
from .progress import Progress
from .settings import LoopSettings

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Context:
    """Everything outside the state."""

    run_id: str
    settings: LoopSettings
    store: Store
    judge: Judge
    teacher: Teacher
    teacher_model: Model
    verifier_model: Model
    embedder: Embedder
    progress: Progress
    width: int
    """Items in flight at a time."""

    def order(self, pair: PreferencePair) -> Order:
        """The pair's drawn order, the same in every arm."""
        return draw_order(pair.id, self.settings.seed)

    def orders(self, pair: PreferencePair) -> tuple[Order, ...]:
        """The orders in which an arm of the pair is judged; one where the judge knows no position."""
        both = self.settings.orders == "both" and self.judge.has_position
        return ("chosen_first", "rejected_first") if both else (self.order(pair),)

    async def run_all(
        self, stage: str, items: Iterable[T], work: Callable[[T], Awaitable[R]], subject: Callable[[T], str]
    ) -> list[R | None]:
        """`run_all` on this run's store and progress."""
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
