"""Where the loop's checkpoints are kept: beside the rows in PostgreSQL, else in a file of the run."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from ..core.errors import StoreError


@asynccontextmanager
async def open_checkpoints(store_url: str, file: Path) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """LangGraph's saver for a run whose rows are at `store_url`. Raises StoreError."""
    if not store_url.startswith("postgresql"):
        try:
            async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
                yield saver
        except sqlite3.Error as error:
            raise StoreError(
                f"the checkpoints in {str(file)!r} cannot be used: {error}: is the disk full, or the folder not to be "
                "written? Mend that, then resume"
            ) from error
        return
    # Imported here: the driver comes with the extra `postgres`.
    import psycopg
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    try:
        async with AsyncPostgresSaver.from_conn_string(store_url.replace("+psycopg", "", 1)) as saver:
            await _set_up(saver)
            yield saver
    except psycopg.Error as error:
        raise StoreError(f"the checkpoints in {store_url!r} cannot be used: {error}") from error


async def _set_up(saver: Any) -> None:
    """Make LangGraph's tables, one process at a time.

    The lock is asked for again and again: a statement that waits for it would hold up the concurrent index that
    `setup` builds, and both would wait for ever.
    """
    async with saver.conn.cursor() as cursor:
        while True:
            await cursor.execute("SELECT pg_try_advisory_lock(%s) AS got", (_SETTING_UP,))
            if (await cursor.fetchone())["got"]:
                break
            await asyncio.sleep(0.05)
        try:
            await saver.setup()
        finally:
            await cursor.execute("SELECT pg_advisory_unlock(%s)", (_SETTING_UP,))


_SETTING_UP = 7_203_152
"""Key of the advisory lock."""
