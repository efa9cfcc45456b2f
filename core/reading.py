"""Read a store: records, pairs, answers, vectors, notes and the ledger."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from .calls import Completion, Usage
from .database import as_store_error
from .records import PreferencePair, Record
from .tables import RECORDS, completions, notes, run_pairs, usage, vectors

R = TypeVar("R", bound=Record)
IN_LIMIT = 500
"""Values in one IN clause, and rows in one insert."""

# Built once: this is asked before every call.
_ANSWERS = (
    sa.select(completions.c.body, completions.c.run_id)
    .where(completions.c.request_id == sa.bindparam("request"))
    .where(sa.or_(completions.c.run_id == sa.bindparam("run"), completions.c.ok))
)


class Reader:
    """An open database."""

    def __init__(self, url: str, engine: sa.Engine) -> None:
        self.url = url
        self._engine = engine

    def get(self, kind: type[R], id: str) -> R | None:
        """One record by id."""
        found = self.get_many(kind, [id])
        return found[0] if found else None

    def get_many(self, kind: type[R], ids: Sequence[str]) -> list[R]:
        """The records that exist among `ids`, in the order of `ids`."""
        table = RECORDS[kind]
        bodies: dict[str, str] = {}
        for chunk in chunks(ids, IN_LIMIT):
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
        query = sa.select(table.c.body).where(*conditions(table, where)).order_by(table.c.id)
        with as_store_error(self.url), self._engine.connect() as connection:
            for (body,) in connection.execution_options(yield_per=1000).execute(query):
                yield kind.model_validate_json(body)

    def count(self, kind: type[Record], **where: str | int | Sequence[str]) -> int:
        """How many records `select` would give."""
        table = RECORDS[kind]
        [(n,)] = self._rows(sa.select(sa.func.count()).select_from(table).where(*conditions(table, where)))
        return int(n)

    def completion(self, request_id: str, run_id: str) -> tuple[Completion, str] | None:
        """A stored answer and the run that paid: this run's own, else a usable one of another run."""
        found = self._rows(_ANSWERS, {"request": request_id, "run": run_id})
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
        for chunk in chunks(text_ids, IN_LIMIT):
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

    def notes(self, run_id: str, prefix: str) -> dict[str, Any]:
        """The named values whose names begin with `prefix`."""
        query = sa.select(notes.c.name, notes.c.body).where(
            notes.c.run_id == run_id, notes.c.name.startswith(prefix, autoescape=True)
        )
        return {name: json.loads(body) for name, body in self._rows(query)}

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
        for chunk in chunks(request_ids, IN_LIMIT):
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

    def _rows(self, query: Any, values: Mapping[str, str] | None = None) -> list[tuple[Any, ...]]:
        with as_store_error(self.url), self._engine.connect() as connection:
            return [tuple(row) for row in connection.execute(query, values)]


def conditions(table: sa.Table, where: dict[str, Any]) -> list[sa.ColumnElement[bool]]:
    """Columns that equal the given values, or are among them."""
    return [table.c[k].in_(list(v)) if isinstance(v, list | tuple) else table.c[k] == v for k, v in where.items()]


def chunks(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Lists of at most `size` items, in order."""
    chunk: list[Any] = []
    for item in items:
        chunk.append(item)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
