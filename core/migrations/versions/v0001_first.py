"""The first schema. Migrations are only ever appended."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _records(name: str, *columns: sa.Column[str] | sa.Column[int]) -> None:
    op.create_table(
        name, sa.Column("id", sa.String(64), primary_key=True), *columns, sa.Column("body", sa.Text, nullable=False)
    )


def _key(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(128), nullable=False)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False)


def upgrade() -> None:
    """Create every table of version 0.1."""
    _records("pairs")
    _records("biases")
    _records("perturbations", _key("run_id"), _key("arm"), _key("pair_id"))
    _records("judgments", _key("run_id"), _key("arm"), _key("pair_id"))
    _records("explanations", _key("run_id"), _key("judgment_id"))
    _records("candidates", _key("run_id"), _number("iteration"))
    _records("merges", _key("run_id"), _number("iteration"))
    _records("validations", _key("run_id"), _key("bias_id"), _number("iteration"))
    _records("failures", _key("run_id"), _key("stage"))
    _records("events", _key("run_id"), _number("seq"), _key("bias_id"))
    op.create_index("ix_explanations_judgment_id", "explanations", ["judgment_id"])
    for table, columns in {
        "perturbations": ["run_id", "arm", "pair_id"],
        "judgments": ["run_id", "arm", "pair_id"],
        "candidates": ["run_id", "iteration"],
        "merges": ["run_id", "iteration"],
        "validations": ["run_id", "bias_id"],
        "failures": ["run_id", "stage"],
        "events": ["run_id", "seq"],
    }.items():
        op.create_index(f"ix_{table}_{'_'.join(columns)}", table, columns)
    op.create_table(
        "completions",
        sa.Column("request_id", sa.String(64), primary_key=True),
        sa.Column("run_id", sa.String(128), primary_key=True),
        sa.Column("ok", sa.Boolean, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "usage",
        sa.Column("run_id", sa.String(128), primary_key=True),
        sa.Column("role", sa.String(32), primary_key=True),
        sa.Column("stage", sa.String(32), primary_key=True),
        sa.Column("request_id", sa.String(64), primary_key=True),
        sa.Column("cached", sa.Boolean, nullable=False),
        sa.Column("prompt_tokens", sa.Integer, nullable=False),
        sa.Column("completion_tokens", sa.Integer, nullable=False),
        sa.Column("cost", sa.Float, nullable=True),
    )
    op.create_table(
        "run_pairs",
        sa.Column("run_id", sa.String(128), primary_key=True),
        sa.Column("pair_set", sa.String(16), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("pair_id", sa.String(64), nullable=False),
    )
    op.create_table(
        "vectors",
        sa.Column("model", sa.String(256), primary_key=True),
        sa.Column("text_id", sa.String(64), primary_key=True),
        sa.Column("vector", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "notes",
        sa.Column("run_id", sa.String(128), primary_key=True),
        sa.Column("name", sa.String(128), primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
    )
