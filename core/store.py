"""The store: append-only rows in SQLite (default) or any SQLAlchemy URL, written in groups by one thread.

Rows are inserted or ignored under their content ids, so writing twice does no harm. `write` returns when the rows
are on disk: what was paid for is kept before anyone uses it.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from .calls import Completion, Role, Stage
from .database import as_store_error, open_database, store_url
from .reading import IN_LIMIT, Reader, chunks, conditions
from .records import Drop, Failure, Item, PreferencePair, Record
from .tables import RECORDS, completions, notes, run_pairs, usage, vectors
from .writing import Row, Writer


class Store(Reader):
    """Open database; migrated to the newest schema on opening."""

    def __init__(self, target: str | Path) -> None:
        url = store_url(target)
        super().__init__(url, open_database(url))
        self._writer = Writer(url, self._engine)

    async def write(self, *records: Record) -> None:
        """Insert records that are not there yet; back when they are on disk."""
        await asyncio.gather(*(asyncio.wrap_future(f) for f in self._submit_records(records)))

    def write_now(self, *records: Record) -> None:
        """The same for callers without an event loop."""
        for future in self._submit_records(records):
            future.result()

    async def write_completion(self, run_id: str, completion: Completion, ok: bool) -> None:
        """Keep an answer under the run that paid for it."""
        await asyncio.wrap_future(self._writer.submit((completions, [_completion_row(run_id, completion, ok)])))

    async def write_call(self, run_id: str, role: Role, stage: Stage, completion: Completion, ok: bool) -> None:
        """Keep an answer and its ledger line, both or neither."""
        answer = _completion_row(run_id, completion, ok)
        line = _usage_row(run_id, role, stage, completion, cached=False)
        await asyncio.wrap_future(self._writer.submit((completions, [answer]), (usage, [line])))

    def write_usage(self, run_id: str, role: Role, stage: Stage, completion: Completion, cached: bool) -> Future[None]:
        """One ledger line. A call that another run paid for costs this one nothing."""
        return self._writer.submit((usage, [_usage_row(run_id, role, stage, completion, cached)]))

    def write_pairs(self, run_id: str, pair_set: str, pairs: Iterable[PreferencePair]) -> int:
        """Keep the pairs of a run in their order; returns how many."""
        count = 0
        for chunk in chunks(pairs, IN_LIMIT):
            self.write_now(*chunk)
            rows = [
                {"run_id": run_id, "pair_set": pair_set, "position": count + k, "pair_id": pair.id}
                for k, pair in enumerate(chunk)
            ]
            self._writer.submit((run_pairs, rows)).result()
            count += len(chunk)
        return count

    def write_vectors(self, model: str, items: Sequence[tuple[str, npt.NDArray[np.float32]]]) -> None:
        """Keep embeddings by the content id of their text."""
        rows = [{"model": model, "text_id": i, "vector": v.astype("<f4").tobytes()} for i, v in items]
        if rows:
            self._writer.submit((vectors, rows)).result()

    def write_note(self, run_id: str, name: str, value: Any) -> None:
        """Set or replace a small named value."""
        row = {"run_id": run_id, "name": name, "body": json.dumps(value, ensure_ascii=False)}
        self._writer.submit((notes, [row]), replace=True).result()

    def forget_failures(self, run_id: str, stage: str) -> None:
        """Delete the failures of a stage that starts again: it writes anew what still fails."""
        self._forget(RECORDS[Failure], run_id=run_id, stage=stage)

    def replace_outcome(self, run_id: str, drops: Sequence[Drop], items: Sequence[Item]) -> None:
        """What came of making a data set, in place of what came of it before. Annotations are never touched."""
        for kind, records in ((Drop, drops), (Item, items)):
            self._forget(RECORDS[kind], run_id=run_id)
            self.write_now(*records)

    def _forget(self, table: sa.Table, **where: str) -> None:
        with as_store_error(self.url), self._engine.begin() as connection:
            connection.execute(sa.delete(table).where(*conditions(table, where)))

    def close(self) -> None:
        """Write what is queued and let go."""
        self._writer.close()
        self._engine.dispose()

    def _submit_records(self, records: Sequence[Record]) -> list[Future[None]]:
        by_kind: dict[type[Record], list[Row]] = defaultdict(list)
        for record in records:
            by_kind[type(record)].append(_row(record))
        return [self._writer.submit((RECORDS[kind], rows)) for kind, rows in by_kind.items()]


def _row(record: Record) -> Row:
    table = RECORDS[type(record)]
    row: Row = {c.name: getattr(record, c.name) for c in table.c if c.name != "body"}
    row["body"] = record.model_dump_json()
    return row


def _completion_row(run_id: str, completion: Completion, ok: bool) -> Row:
    body = completion.model_dump_json(exclude_defaults=True)
    return {"request_id": completion.request_id, "run_id": run_id, "ok": ok, "body": body}


def _usage_row(run_id: str, role: Role, stage: Stage, completion: Completion, cached: bool) -> Row:
    return {
        "run_id": run_id,
        "role": role,
        "stage": stage,
        "request_id": completion.request_id,
        "cached": cached,
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "cost": 0.0 if cached and completion.cost is not None else completion.cost,
    }
