"""The runs that the app shows, their open stores, and what has been worked out from them."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from ...core.errors import BiasScopeError
from ...core.records import Record
from ...core.store import Store
from ...runs.folder import RunFolder, runs_in
from ...runs.jobs import open_store
from ...runs.state import RunState, state_of

T = TypeVar("T")
_MOST_OPEN = 24
"""Stores held open; each has a thread and a few connections."""
_MOST_KEPT = 64


class NotHere(BiasScopeError):
    """The address names nothing that the app shows."""


@dataclass
class OpenRun:
    """A run with its store."""

    folder: RunFolder
    store: Store
    deciding: threading.Lock = field(default_factory=threading.Lock)
    """Held from reading the library to writing an event, so that two people's decisions follow each other."""
    leases: int = 0
    _kept: OrderedDict[Hashable, tuple[Hashable, Any]] = field(default_factory=OrderedDict)
    _locks: dict[Hashable, threading.Lock] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def run_id(self) -> str:
        """Whose rows are read."""
        return self.folder.run_id

    def counts(self, *kinds: type[Record]) -> tuple[int, ...]:
        """How many rows of each kind the run has. Rows are only ever added, so equal counts mean equal content."""
        return tuple(self.store.count(kind, run_id=self.run_id) for kind in kinds)

    def kept(self, name: Hashable, version: Hashable, make: Callable[[], T]) -> T:
        """`make()`, or what it gave before when `version` is the same; made once however many ask."""
        with self._guard:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            found = self._kept.get(name)
            if found is None or found[0] != version:
                found = (version, make())
            with self._guard:
                self._kept[name] = found
                self._kept.move_to_end(name)
                while len(self._kept) > _MOST_KEPT:
                    self._kept.popitem(last=False)
            return cast(T, found[1])

    def state(self) -> RunState:
        """How the run stands."""
        return state_of(self.folder, self.store)


class Site:
    """A workspace, or one run of it."""

    def __init__(self, workspace: Path, only: RunFolder | None = None) -> None:
        self.workspace, self.only = workspace, only
        self._open: OrderedDict[str, OpenRun] = OrderedDict()
        self._folders: dict[Path, tuple[int, RunFolder]] = {}
        self._guard = threading.Lock()

    def folders(self) -> list[RunFolder]:
        """The runs there are now, by name."""
        if self.only:
            return [self.only]
        found = []
        for folder in runs_in(self.workspace):
            changed = folder.config.stat().st_mtime_ns
            known = self._folders.get(folder.path)
            if known is None or known[0] != changed:
                known = self._folders[folder.path] = (changed, folder)
            found.append(known[1])
        return found

    @contextmanager
    def lease(self, run_id: str) -> Iterator[OpenRun]:
        """A run by its name, open for as long as it is used. The name is looked up among the runs there are, never
        made into a path. Raises NotHere."""
        folder = next((f for f in self.folders() if f.run_id == run_id), None)
        if folder is None:
            raise NotHere(f"there is no run {run_id[:100]!r} here")
        with self._guard:
            run = self._open.get(run_id)
            if run is None or run.folder.path != folder.path:
                run = self._open[run_id] = OpenRun(folder, open_store(folder))
            self._open.move_to_end(run_id)
            run.leases += 1
            idle = [name for name, other in self._open.items() if not other.leases]
            for name in idle[: max(0, len(self._open) - _MOST_OPEN)]:
                self._open.pop(name).store.close()
        try:
            yield run
        finally:
            with self._guard:
                run.leases -= 1

    def states(self) -> list[RunState]:
        """How every run stands; one whose store cannot be read says so."""
        found = []
        for folder in self.folders():
            try:
                with self.lease(folder.run_id) as run:
                    found.append(run.state())
            except BiasScopeError as error:
                found.append(RunState(run=folder.run_id, kind=folder.kind, state="unreadable", reason=str(error)))
        return found

    def close(self) -> None:
        """Let go of the stores."""
        with self._guard:
            for run in self._open.values():
                run.store.close()
            self._open.clear()
