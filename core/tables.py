"""Where each record lives: a table per kind, with the fields that are searched as columns and the whole as JSON."""

from sqlalchemy import Boolean, Column, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text

from . import records as r

metadata = MetaData()


def _records(name: str, *columns: Column[str] | Column[int]) -> Table:
    return Table(
        name, metadata, Column("id", String(64), primary_key=True), *columns, Column("body", Text, nullable=False)
    )


def _key(name: str, index: bool = False) -> Column[str]:
    return Column(name, String(128), nullable=False, index=index)


def _number(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False)


RECORDS: dict[type[r.Record], Table] = {
    r.PreferencePair: _records("pairs"),
    r.Bias: _records("biases"),
    r.Perturbation: _records("perturbations", _key("run_id"), _key("arm"), _key("pair_id")),
    r.Judgment: _records("judgments", _key("run_id"), _key("arm"), _key("pair_id")),
    r.Explanation: _records("explanations", _key("run_id"), _key("judgment_id", index=True)),
    r.Candidate: _records("candidates", _key("run_id"), _number("iteration")),
    r.MergeDecision: _records("merges", _key("run_id"), _number("iteration")),
    r.Validation: _records("validations", _key("run_id"), _key("bias_id"), _number("iteration")),
    r.Failure: _records("failures", _key("run_id"), _key("stage")),
    r.Drop: _records("drops", _key("run_id"), _key("stage")),
    r.Item: _records("items", _key("run_id"), _key("pair_id")),
    r.Annotation: _records("annotations", _key("run_id"), _key("item_id")),
    r.LibraryEvent: _records("events", _key("run_id"), _number("seq"), _key("bias_id")),
}

for _name, _columns in {
    "perturbations": ("run_id", "arm", "pair_id"),
    "judgments": ("run_id", "arm", "pair_id"),
    "candidates": ("run_id", "iteration"),
    "merges": ("run_id", "iteration"),
    "validations": ("run_id", "bias_id"),
    "failures": ("run_id", "stage"),
    "drops": ("run_id", "stage"),
    "items": ("run_id", "pair_id"),
    "annotations": ("run_id", "item_id"),
    "events": ("run_id", "seq"),
}.items():
    _table = metadata.tables[_name]
    Index(f"ix_{_name}_{'_'.join(_columns)}", *(_table.c[c] for c in _columns))

completions = Table(
    "completions",
    metadata,
    Column("request_id", String(64), primary_key=True),
    Column("run_id", String(128), primary_key=True),
    Column("ok", Boolean, nullable=False),
    Column("body", Text, nullable=False),
)
"""Every answer that was paid for, by the run that paid. `ok` is false for truncated answers, refusals and the like:
the run that paid meets them again as the failures they are, another run asks anew."""

usage = Table(
    "usage",
    metadata,
    Column("run_id", String(128), primary_key=True),
    Column("role", String(32), primary_key=True),
    Column("stage", String(32), primary_key=True),
    Column("request_id", String(64), primary_key=True),
    Column("cached", Boolean, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("cost", Float, nullable=True),
)
"""The ledger: one line per run, role, stage and request; a resumed run writes the same lines again to no effect."""

run_pairs = Table(
    "run_pairs",
    metadata,
    Column("run_id", String(128), primary_key=True),
    Column("pair_set", String(16), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("pair_id", String(64), nullable=False),
)

vectors = Table(
    "vectors",
    metadata,
    Column("model", String(256), primary_key=True),
    Column("text_id", String(64), primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)
"""Embeddings as little-endian float32, normalised; the FAISS index is rebuilt from them."""

notes = Table(
    "notes",
    metadata,
    Column("run_id", String(128), primary_key=True),
    Column("name", String(128), primary_key=True),
    Column("body", Text, nullable=False),
)
"""Small named JSON values of a run: progress for `status --watch`, data reports, session log. May be replaced."""
