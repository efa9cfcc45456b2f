"""Open the database behind a store: SQLite in a file, or PostgreSQL by URL, migrated to the newest schema."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from .errors import ConfigError, StoreError

_MIGRATING = 7_203_151
"""Key of the advisory lock under which one process at a time migrates a shared database."""


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
    """An engine with the tables of `tables` in it. Raises StoreError, ConfigError without the driver."""
    if url.startswith("sqlite:///"):
        Path(url.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
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
        raise StoreError(f"the database {url!r} cannot be used: {cause}") from error
    except OSError as error:
        raise StoreError(f"the database {url!r} cannot be used: {error}") from error


def _connect_args(url: str) -> dict[str, Any]:
    return {"timeout": 60} if url.startswith("sqlite") else {"connect_timeout": 10}


def _sqlite_pragmas(connection: Any, _: Any) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=60000"):
        connection.execute(f"PRAGMA {pragma}")


def _migrate(engine: sa.Engine) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATING)))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
