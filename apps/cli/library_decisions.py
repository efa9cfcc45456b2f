"""`biasscope library import`, `merge`, `split`, `retire`, `rename` and `undo`: decide about a run's biases."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from ...bias_library import events as e
from ...bias_library.bias import make_bias
from ...bias_library.exchange import adopt, read_file
from ...bias_library.library import Library, append_now, checked, stamp_now
from ...core.errors import LibraryError
from ...core.records import LibraryEvent
from ...runs.folder import find_run
from .library_views import done
from .opened import name_of, opened_library
from .options import DEFAULT_WORKSPACE, BiasName, Run, RunName, Workspace, named

Author = Annotated[str, typer.Option(envvar="USER", help="Who decides.")]
Reason = Annotated[str, typer.Option(help="Why; kept in the history.")]


def import_(
    path: Annotated[Path, typer.Argument(metavar="FILE.json", help="A library file, full or published form.")],
    run_name: RunName = None,
    run: Run = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    author: Author = "unknown",
    reason: Reason = "imported",
) -> None:
    """Take the biases of a file into a run's library as candidates; those it has already stay as they are."""
    with opened_library(named(run_name, run), workspace) as (store, run_id, library):
        brought = read_file(path)
        new = adopt(brought, stamp_now(library, author, reason, run_id), library)
        append_now(store, new)
    said = f"{len(new)} {'bias' if len(new) == 1 else 'biases'} taken in"
    if there := len(brought.offered) - len(new):
        said += f", {there} there already"
    if aside := len(brought.biases) - len(brought.offered):
        said += f"; {aside} left aside, not in use there (candidates, merged, rejected)"
    typer.echo(said)


def merge(
    bias: BiasName,
    into: Annotated[str, typer.Argument(metavar="INTO", help="The bias that stays: id, start of an id, or name.")],
    run_name: RunName = None,
    run: Run = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    author: Author = "unknown",
    reason: Reason = "",
) -> None:
    """Make one bias part of another."""

    def event(library: Library, stamp: e.Stamp) -> LibraryEvent:
        return e.merge(stamp, library.find(bias).bias.id, library.find(into).bias.id)

    _decide(named(run_name, run), workspace, author, reason, event)


def split(
    bias: BiasName,
    parts: Annotated[
        Path, typer.Argument(metavar="PARTS.json", help="{name: {Definition, Manifestations}}, two or more.")
    ],
    run_name: RunName = None,
    run: Run = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    author: Author = "unknown",
    reason: Reason = "",
) -> None:
    """Replace a bias by two or more that it was made of."""

    def event(library: Library, stamp: e.Stamp) -> LibraryEvent:
        parent = library.find(bias).bias.id
        made = [
            make_bias(part.name, part.definition, part.manifestation, origin="split", parents=(parent,))
            for part in read_file(parts).biases
        ]
        if len(made) < 2:
            raise LibraryError(f"{parts}: holds {len(made)} biases; a split needs two or more")
        return e.split(stamp, parent, [(part, e.Support()) for part in made])

    _decide(named(run_name, run), workspace, author, reason, event)


def retire(
    bias: BiasName,
    run_name: RunName = None,
    run: Run = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    author: Author = "unknown",
    reason: Reason = "",
) -> None:
    """Take a bias out of use; its history stays."""
    _decide(
        named(run_name, run),
        workspace,
        author,
        reason,
        lambda library, stamp: e.retire(stamp, library.find(bias).bias.id),
    )


def rename(
    bias: BiasName,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
    run_name: RunName = None,
    run: Run = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    author: Author = "unknown",
    reason: Reason = "",
) -> None:
    """Give a bias another name."""
    _decide(
        named(run_name, run),
        workspace,
        author,
        reason,
        lambda library, stamp: e.rename(stamp, library.find(bias).bias.id, name),
    )


def undo(
    event: Annotated[
        str, typer.Argument(metavar="EVENT", help="Id of the event or its start, from `library history`.")
    ],
    run_name: RunName = None,
    run: Run = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    author: Author = "unknown",
    reason: Reason = "",
) -> None:
    """Take an event back; an undo can be undone."""
    folder = find_run(named(run_name, run), workspace)

    def cancel(library: Library, stamp: e.Stamp) -> LibraryEvent:
        found = [line for line in library.events if line.id.startswith(event)]
        if len(found) != 1:
            raise LibraryError(f"{event!r} fits {len(found)} events: see `{folder.command('library history')}`")
        return e.undo(stamp, found[0])

    _decide(str(folder.path), workspace, author, reason, cancel)


def _decide(
    run: str, workspace: Path, author: str, reason: str, event: Callable[[Library, e.Stamp], LibraryEvent]
) -> None:
    folder = find_run(run, workspace)
    with opened_library(str(folder.path), workspace) as (store, run_id, library):
        made = event(library, stamp_now(library, author, reason, run_id))
        after = checked(library, made)
        append_now(store, [made])
    name = name_of(library, made.bias_id)
    back = folder.command(f"library undo {made.id[:8]}")
    typer.echo(f"{name}: {done(after, made)} (event {made.id[:8]}; `{back}` takes it back)")
