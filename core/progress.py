"""Where a run is: stage, items, failures. Kept in the store for `status --watch`, shown live by a listener."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .store import Store

_EVERY_SECONDS = 1.0


def stage_words(stage: str, iteration: int | None = None) -> str:
    """A stage as people read it, rounds and batches counted from 1: `validate@0.3` is "iteration 1, validate, batch 4".

    Without an iteration, numbers are left out: what is of one kind has one name.
    """
    name, _, place = stage.partition("@")
    number, *parts = place.split(".")
    words = [name, *(part for part in (number, *parts) if part and not part.lstrip("-").isdigit())]
    if iteration is None or number.startswith("-"):
        return ", ".join(words)
    batches = [f"batch {int(part) + 1}" for part in parts if part.isdigit()]
    return ", ".join([f"iteration {iteration + 1}", *words, *batches])


@dataclass
class Progress:
    """Counters of the running stage. Times are for people only and take part in no result."""

    store: Store
    run_id: str
    listener: Callable[["Progress"], None] | None = None
    iteration: int | None = None
    """None in jobs that have none."""
    stage: str = ""
    done: int = 0
    total: int = 0
    failures: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    """Misjudgments, candidates, valid biases and the like so far."""
    started: float = field(default_factory=time.time)
    stage_started: float = field(default_factory=time.time)
    _written: float = 0.0

    def start(self, stage: str, total: int) -> None:
        """Enter a stage of `total` items."""
        self.stage, self.done, self.total, self.failures = stage, 0, total, 0
        self.stage_started = time.time()
        self._tell(force=True)

    def step(self) -> None:
        """One more item is through."""
        self.done += 1
        self._tell()

    def failed(self) -> None:
        """The item failed."""
        self.failures += 1

    def count(self, **counts: int) -> None:
        """Set running totals."""
        self.counts.update(counts)
        self._tell(force=True)

    def finish(self) -> None:
        """The stage is through."""
        self._tell(force=True)

    def seconds_left(self) -> float | None:
        """In this stage, at its pace so far."""
        if not self.done:
            return None
        return (time.time() - self.stage_started) / self.done * (self.total - self.done)

    def snapshot(self) -> dict[str, Any]:
        """What `status` reads."""
        keys = ("iteration", "stage", "done", "total", "failures", "counts", "started", "stage_started")
        return {key: getattr(self, key) for key in keys}

    def _tell(self, force: bool = False) -> None:
        if self.listener:
            self.listener(self)
        now = time.time()
        if force or now - self._written >= _EVERY_SECONDS:
            self._written = now
            self.store.write_note(self.run_id, "progress", {**self.snapshot(), "updated": now})
