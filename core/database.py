"""Open the database behind a store: SQLite in a file, or PostgreSQL by URL, migrated to the newest schema."""

import contextlib
import os
import sqlite3
import threading
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from .errors import ConfigError, StoreError

_MIGRATING = 7_203_151
"""Key of the advisory lock under which one process at a time migrates a shared database."""

_one_thread = threading.Lock()
"""Alembic keeps what it works on in globals of the process."""

_NEXT_STEPS = {
    "readonly": ": this process may not write it or its folder; look at it, or copy the folder to where you may write",
    "unable to open": ": is its folder there, and may it be written? What a killed run left half written can be read "
    "from a copy of its folder",
    "disk is full": ": free some space, then resume",
    "disk I/O error": ": is the disk full or gone? Then resume",
}


def store_url(target: str | Path) -> str:
    """A SQLAlchemy URL from a URL or a file path. Raises ConfigError for a URL with a password or of another kind."""
    text = str(target)
    if "://" not in text:
        return f"sqlite:///{text}"
    try:
        url = sa.engine.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        raise ConfigError("store: is no database URL; write postgresql://user@host:5432/database") from None
    shown = url.set(query={}).render_as_string(hide_password=True)
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise ConfigError(f"store {shown!r}: is neither sqlite:// nor postgresql://")
    if url.password or "password" in url.query:
        raise ConfigError(
            f"store {shown!r}: leave the password out, since configurations are kept; set PGPASSWORD or use ~/.pgpass"
        )
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    return url.render_as_string(hide_password=False)


def open_database(url: str) -> sa.Engine:
    """An engine with the tables of `tables` in it; for a file that is not to be written, one that only reads.

    Raises StoreError, ConfigError without the driver.
    """
    if url.startswith("sqlite:///"):
        file = Path(url.removeprefix("sqlite:///"))
        with as_store_error(url):
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.is_file() and not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)):
                return _open_to_read(url, file)
    with as_store_error(url):
        try:
            engine = sa.create_engine(url, connect_args=_connect_args(url))
        except ModuleNotFoundError:
            raise ConfigError(f"store {url!r}: PostgreSQL needs a driver; pip install 'biasscope[postgres]'") from None
        if engine.dialect.name == "sqlite":
            sa.event.listen(engine, "connect", _sqlite_pragmas)
        _migrate(engine)
    return engine


@contextlib.contextmanager
def as_store_error(url: str) -> Iterator[None]:
    """Turn what the database says into one line that names it."""
    try:
        yield
    except sa.exc.SQLAlchemyError as error:
        cause = str(getattr(error, "orig", None) or error).splitlines()[0]
        step = next((step for word, step in _NEXT_STEPS.items() if word in cause), "")
        raise StoreError(f"the database {url!r} cannot be used: {cause}{step}") from error
    except OSError as error:
        raise StoreError(f"the database {url!r} cannot be used: {error.strerror or error}") from error


def _open_to_read(url: str, file: Path) -> sa.Engine:
    """A file in a folder that this process may not write, such as a colleague's run or an archive.

    SQLite wants to make files beside a database with a write-ahead log, unless it is told that nobody writes: true
    where the log is empty. Where a killed run has left one, the file is opened with it if it can be.
    """
    log = file.with_name(f"{file.name}-wal")
    still = "" if log.is_file() and log.stat().st_size else "&immutable=1"
    address = f"file:{urllib.parse.quote(str(file.absolute()))}?mode=ro{still}"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(address, uri=True, timeout=60, check_same_thread=False)

    engine = sa.create_engine("sqlite://", creator=connect, poolclass=sa.pool.NullPool)
    with engine.connect() as connection:
        found = MigrationContext.configure(connection).get_current_revision()
    if found != ScriptDirectory.from_config(_config()).get_current_head():
        raise StoreError(
            f"the database {url!r} is of another version and may not be changed here: copy its folder to where it can "
            "be written"
        )
    return engine


def _connect_args(url: str) -> dict[str, Any]:
    return {"timeout": 60} if url.startswith("sqlite") else {"connect_timeout": 10}


def _sqlite_pragmas(connection: Any, _: Any) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=60000"):
        connection.execute(f"PRAGMA {pragma}")


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def _migrate(engine: sa.Engine) -> None:
    config = _config()
    with _one_thread, engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATING)))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
