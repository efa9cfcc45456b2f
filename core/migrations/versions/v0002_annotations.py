"""Items of benchmarks, annotations, and what was left out of a data set."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the tables of data sets in the making."""
    for table, column in (("drops", "stage"), ("items", "pair_id"), ("annotations", "item_id")):
        op.create_table(
            table,
            sa.Column("id", sa.String(64), primary_key=True),
            sa.Column("run_id", sa.String(128), nullable=False),
            sa.Column(column, sa.String(128), nullable=False),
            sa.Column("body", sa.Text, nullable=False),
        )
        op.create_index(f"ix_{table}_run_id_{column}", table, ["run_id", column])
