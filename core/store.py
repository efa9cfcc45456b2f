"""The store: append-only rows in SQLite (default) or any SQLAlchemy URL, written in groups by one thread.

Rows are inserted or ignored under their content ids, so writing twice does no harm. `write` returns when the rows
are on disk: what was paid for is kept before anyone uses it.
"""

import asyncio
import json
import queue
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from .calls import Completion, Role, Stage, Usage
from .database import as_store_error, open_database, store_url
from .errors import StoreError
from .records import Drop, Failure, Item, PreferencePair, Record
from .tables import RECORDS, completions, notes, run_pairs, usage, vectors

R = TypeVar("R", bound=Record)
Row = dict[str, Any]
_Parts = tuple[tuple[sa.Table, list[Row]], ...]
_IN_LIMIT = 500


class Store:
    """Open database; migrated to the newest schema on opening."""

    def __init__(self, target: str | Path) -> None:
        self.url = store_url(target)
        self._engine = open_database(self.url)
        self._insert = postgresql.insert if self._engine.dialect.name == "postgresql" else sqlite.insert
        self._queue: queue.SimpleQueue[tuple[_Parts, bool, Future[None]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_loop, name="store-writer", daemon=True)
        self._thread.start()

    # Writing

    async def write(self, *records: Record) -> None:
        """Insert records that are not there yet; back when they are on disk."""
        await asyncio.gather(*(asyncio.wrap_future(f) for f in self._submit_records(records)))

    def write_now(self, *records: Record) -> None:
        """The same for callers without an event loop."""
        for future in self._submit_records(records):
            future.result()

    async def write_completion(self, run_id: str, completion: Completion, ok: bool) -> None:
        """Keep an answer under the run that paid for it."""
        await asyncio.wrap_future(self._submit(completions, [_completion_row(run_id, completion, ok)]))

    async def write_call(self, run_id: str, role: Role, stage: Stage, completion: Completion, ok: bool) -> None:
        """Keep an answer and its ledger line, both or neither."""
        answer = _completion_row(run_id, completion, ok)
        line = _usage_row(run_id, role, stage, completion, cached=False)
        await asyncio.wrap_future(self._submit_together((completions, [answer]), (usage, [line])))

    def write_usage(self, run_id: str, role: Role, stage: Stage, completion: Completion, cached: bool) -> Future[None]:
        """One ledger line. A call that another run paid for costs this one nothing."""
        return self._submit(usage, [_usage_row(run_id, role, stage, completion, cached)])

    def write_pairs(self, run_id: str, pair_set: str, pairs: Iterable[PreferencePair]) -> int:
        """Keep the pairs of a run in their order; returns how many."""
        count = 0
        for chunk in _chunks(pairs, _IN_LIMIT):
            self.write_now(*chunk)
            rows = [
                {"run_id": run_id, "pair_set": pair_set, "position": count + k, "pair_id": pair.id}
                for k, pair in enumerate(chunk)
            ]
            self._submit(run_pairs, rows).result()
            count += len(chunk)
        return count

    def write_vectors(self, model: str, items: Sequence[tuple[str, npt.NDArray[np.float32]]]) -> None:
        """Keep embeddings by the content id of their text."""
        rows = [{"model": model, "text_id": i, "vector": v.astype("<f4").tobytes()} for i, v in items]
        if rows:
            self._submit(vectors, rows).result()

    def write_note(self, run_id: str, name: str, value: Any) -> None:
        """Set or replace a small named value."""
        row = {"run_id": run_id, "name": name, "body": json.dumps(value, ensure_ascii=False)}
        self._submit(notes, [row], replace=True).result()

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
            connection.execute(sa.delete(table).where(*_conditions(table, where)))

    # Reading

    def get(self, kind: type[R], id: str) -> R | None:
        """One record by id."""
        found = self.get_many(kind, [id])
        return found[0] if found else None

    def get_many(self, kind: type[R], ids: Sequence[str]) -> list[R]:
        """The records that exist among `ids`, in the order of `ids`."""
        table = RECORDS[kind]
        bodies: dict[str, str] = {}
        for chunk in _chunks(ids, _IN_LIMIT):
            for id_, body in self._rows(sa.select(table.c.id, table.c.body).where(table.c.id.in_(chunk))):
                bodies[id_] = body
        return [kind.model_validate_json(bodies[i]) for i in ids if i in bodies]

    def select(self, kind: type[R], **where: str | int | Sequence[str]) -> list[R]:
        """Records whose columns equal the given values (or are among them), ordered by id.

        Only key columns can be asked for; see `tables`.
        """
        return list(self.iterate(kind, **where))

    def iterate(self, kind: type[R], **where: str | int | Sequence[str]) -> Iterator[R]:
        """As `select`, one at a time in flat memory."""
        table = RECORDS[kind]
        query = sa.select(table.c.body).where(*_conditions(table, where)).order_by(table.c.id)
        with as_store_error(self.url), self._engine.connect() as connection:
            for (body,) in connection.execution_options(yield_per=1000).execute(query):
                yield kind.model_validate_json(body)

    def count(self, kind: type[Record], **where: str | int | Sequence[str]) -> int:
        """How many records `select` would give."""
        table = RECORDS[kind]
        [(n,)] = self._rows(sa.select(sa.func.count()).select_from(table).where(*_conditions(table, where)))
        return int(n)

    def completion(self, request_id: str, run_id: str) -> tuple[Completion, str] | None:
        """A stored answer and the run that paid: this run's own, else a usable one of another run."""
        found = self._rows(
            sa.select(completions.c.body, completions.c.run_id)
            .where(completions.c.request_id == request_id)
            .where(sa.or_(completions.c.run_id == run_id, completions.c.ok))
        )
        if not found:
            return None
        body, payer = next((row for row in found if row[1] == run_id), found[0])
        return Completion.model_validate_json(body), payer

    def pairs(self, run_id: str, pair_set: str) -> list[PreferencePair]:
        """The pairs of a run in their order."""
        return self.get_many(PreferencePair, self.pair_ids(run_id, pair_set))

    def pair_ids(self, run_id: str, pair_set: str) -> list[str]:
        """Their ids only."""
        query = (
            sa.select(run_pairs.c.pair_id)
            .where(run_pairs.c.run_id == run_id, run_pairs.c.pair_set == pair_set)
            .order_by(run_pairs.c.position)
        )
        return [pair_id for (pair_id,) in self._rows(query)]

    def vectors(self, model: str, text_ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """The stored embeddings among `text_ids`."""
        found = {}
        for chunk in _chunks(text_ids, _IN_LIMIT):
            query = sa.select(vectors.c.text_id, vectors.c.vector).where(
                vectors.c.model == model, vectors.c.text_id.in_(chunk)
            )
            for text_id, blob in self._rows(query):
                found[text_id] = np.frombuffer(blob, dtype="<f4").astype(np.float32)
        return found

    def note(self, run_id: str, name: str) -> Any:
        """A named value, or None."""
        found = self._rows(sa.select(notes.c.body).where(notes.c.run_id == run_id, notes.c.name == name))
        return json.loads(found[0][0]) if found else None

    def run_ids(self) -> list[str]:
        """The runs that have pairs in this store."""
        return [r for (r,) in self._rows(sa.select(run_pairs.c.run_id).distinct().order_by(run_pairs.c.run_id))]

    def usage(self, run_id: str) -> list[Usage]:
        """The ledger by role and stage; tokens and cost are those that this run paid for."""
        cached = sa.case((usage.c.cached, 1), else_=0)
        paid = 1 - cached
        query = (
            sa.select(
                usage.c.role,
                usage.c.stage,
                sa.func.sum(paid),
                sa.func.sum(cached),
                sa.func.sum(paid * usage.c.prompt_tokens),
                sa.func.sum(paid * usage.c.completion_tokens),
                sa.func.sum(usage.c.cost),
            )
            .where(usage.c.run_id == run_id)
            .group_by(usage.c.role, usage.c.stage)
            .order_by(usage.c.role, usage.c.stage)
        )
        names = ("role", "stage", "calls", "cached_calls", "prompt_tokens", "completion_tokens", "cost")
        return [Usage.model_validate(dict(zip(names, row, strict=True))) for row in self._rows(query)]

    def calls(self, run_id: str) -> Iterator[tuple[str, str, Completion]]:
        """Role, stage and answer of each call of a run, also of those that another run had paid for."""
        query = (
            sa.select(usage.c.role, usage.c.stage, sa.func.min(completions.c.body))
            .join(completions, completions.c.request_id == usage.c.request_id)
            .where(usage.c.run_id == run_id)
            .group_by(usage.c.role, usage.c.stage, usage.c.request_id)
        )
        with as_store_error(self.url), self._engine.connect() as connection:
            for role, stage, body in connection.execution_options(yield_per=1000).execute(query):
                yield role, stage, Completion.model_validate_json(body)

    def usage_of(self, run_id: str, request_ids: Sequence[str]) -> Usage:
        """The ledger summed over some requests of a run, whatever their role and stage."""
        cached = sa.case((usage.c.cached, 1), else_=0)
        calls, cached_calls, prompt, completion, cost = 0, 0, 0, 0, None
        for chunk in _chunks(request_ids, _IN_LIMIT):
            query = sa.select(
                sa.func.sum(1 - cached),
                sa.func.sum(cached),
                sa.func.sum(usage.c.prompt_tokens),
                sa.func.sum(usage.c.completion_tokens),
                sa.func.sum(usage.c.cost),
            ).where(usage.c.run_id == run_id, usage.c.request_id.in_(chunk))
            [(c, k, p, a, money)] = self._rows(query)
            calls, cached_calls, prompt, completion = (
                calls + (c or 0),
                cached_calls + (k or 0),
                prompt + (p or 0),
                completion + (a or 0),
            )
            cost = cost if money is None else (cost or 0.0) + money
        return Usage(
            role="all",
            stage="all",
            calls=calls,
            cached_calls=cached_calls,
            prompt_tokens=prompt,
            completion_tokens=completion,
            cost=cost,
        )

    def close(self) -> None:
        """Write what is queued and let go."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()
        self._engine.dispose()

    # Inside

    def _submit_records(self, records: Sequence[Record]) -> list[Future[None]]:
        by_kind: dict[type[Record], list[Row]] = defaultdict(list)
        for record in records:
            by_kind[type(record)].append(_row(record))
        return [self._submit(RECORDS[kind], rows) for kind, rows in by_kind.items()]

    def _submit(self, table: sa.Table, rows: list[Row], replace: bool = False) -> Future[None]:
        return self._submit_together((table, rows), replace=replace)

    def _submit_together(self, *parts: tuple[sa.Table, list[Row]], replace: bool = False) -> Future[None]:
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
            try:
                with as_store_error(self.url), self._engine.begin() as connection:
                    for table, rows, replace in _grouped(batch):
                        connection.execute(self._statement(table, replace), rows)
            except BaseException as error:
                for *_, future in batch:
                    future.set_exception(error)
            else:
                for *_, future in batch:
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

    def _rows(self, query: Any) -> list[tuple[Any, ...]]:
        with as_store_error(self.url), self._engine.connect() as connection:
            return [tuple(row) for row in connection.execute(query)]


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


def _grouped(batch: Sequence[tuple[_Parts, bool, Any]]) -> Iterator[tuple[sa.Table, list[Row], bool]]:
    groups: dict[tuple[str, bool], tuple[sa.Table, list[Row]]] = {}
    for parts, replace, _ in batch:
        for table, rows in parts:
            groups.setdefault((table.name, replace), (table, []))[1].extend(rows)
    for (_, replace), (table, rows) in groups.items():
        if rows:
            yield table, rows, replace


def _conditions(table: sa.Table, where: dict[str, Any]) -> list[sa.ColumnElement[bool]]:
    return [table.c[k].in_(list(v)) if isinstance(v, list | tuple) else table.c[k] == v for k, v in where.items()]


def _chunks(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    chunk: list[Any] = []
    for item in items:
        chunk.append(item)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
