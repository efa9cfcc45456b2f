"""One thread writes what others hand it, in groups: many rows share one commit."""

import queue
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from .database import as_store_error
from .errors import StoreError

Row = dict[str, Any]
_Parts = tuple[tuple[sa.Table, list[Row]], ...]


class Writer:
    """The thread. Futures are done when the rows are on disk."""

    def __init__(self, url: str, engine: sa.Engine) -> None:
        self.url = url
        self._engine = engine
        self._insert = postgresql.insert if engine.dialect.name == "postgresql" else sqlite.insert
        self._queue: queue.SimpleQueue[tuple[_Parts, bool, Future[None]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_loop, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, *parts: tuple[sa.Table, list[Row]], replace: bool = False) -> Future[None]:
        """Insert rows that are not there yet, all or none; with `replace`, put them in place of what is there."""
        if not self._thread.is_alive():
            raise StoreError(f"the store {self.url!r} is closed")
        future: Future[None] = Future()
        self._queue.put((parts, replace, future))
        return future

    def _write_loop(self) -> None:
        while (first := self._queue.get()) is not None:
            batch, stop = [first], False
            while not stop and len(batch) < 1000 and not self._queue.empty():
                item = self._queue.get()
                stop = item is None
                if item is not None:
                    batch.append(item)
            # Rows whose writer was cancelled meanwhile, by Ctrl-C say, are written like all others: they are paid for.
            heard = [future for *_, future in batch if future.set_running_or_notify_cancel()]
            try:
                with as_store_error(self.url), self._engine.begin() as connection:
                    for table, rows, replace in _grouped(batch):
                        connection.execute(self._statement(table, replace), rows)
            except BaseException as error:
                for future in heard:
                    future.set_exception(error)
            else:
                for future in heard:
                    future.set_result(None)
            if stop:
                return

    def _statement(self, table: sa.Table, replace: bool) -> Any:
        insert = self._insert(table)
        if not replace:
            return insert.on_conflict_do_nothing()
        keys = [c.name for c in table.primary_key]
        rest = {c.name: insert.excluded[c.name] for c in table.c if c.name not in keys}
        return insert.on_conflict_do_update(index_elements=keys, set_=rest)

    def close(self) -> None:
        """Write what is queued and end."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()


def _grouped(batch: Sequence[tuple[_Parts, bool, Any]]) -> Iterator[tuple[sa.Table, list[Row], bool]]:
    groups: dict[tuple[str, bool], tuple[sa.Table, list[Row]]] = {}
    for parts, replace, _ in batch:
        for table, rows in parts:
            groups.setdefault((table.name, replace), (table, []))[1].extend(rows)
    for (_, replace), (table, rows) in groups.items():
        if rows:
            yield table, rows, replace
