"""A run's store and library, for as long as a command looks at them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...bias_library.library import Library, load_library
from ...core.store import Store
from ...runs.folder import find_run
from ...runs.jobs import open_store


@contextmanager
def opened_store(run: str, workspace: Path, kind: str = "discover") -> Iterator[tuple[Store, str]]:
    """The store that holds a job of that kind, and the job's id."""
    folder = find_run(run, workspace, kind)
    store = open_store(folder)
    try:
        yield store, folder.run_id
    finally:
        store.close()


@contextmanager
def opened_library(run: str, workspace: Path) -> Iterator[tuple[Store, str, Library]]:
    """The same with the run's library."""
    with opened_store(run, workspace) as (store, run_id):
        yield store, run_id, load_library(store, run_id)


def name_of(library: Library, bias_id: str) -> str:
    """A bias by name, or by id when the library does not have it."""
    entry = library.entries.get(bias_id)
    return entry.bias.name if entry else bias_id
