"""`biasscope library`: look at a run's biases and decide about them."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...bias_library import events as e
from ...bias_library.bias import make_bias
from ...bias_library.diff import Diff, decisive
from ...bias_library.diff import diff as compare
from ...bias_library.exchange import adopt, export_full, export_published, read_file
from ...bias_library.library import Entry, Library, append_now, checked, load_library, stamp_now
from ...core.errors import LibraryError
from ...core.records import Bias, LibraryEvent, Status, Validation
from ...core.store import Store
from ...runs.folder import find_run
from ...runs.jobs import open_store
from .options import DEFAULT_WORKSPACE, AsJson, Run, Workspace

app = typer.Typer(help="The biases of a run: look, decide, take in and out.", no_args_is_help=True)

BiasName = Annotated[str, typer.Argument(metavar="BIAS", help="Id, start of an id, or name.")]
Author = Annotated[str, typer.Option(envvar="USER", help="Who decides.")]
Reason = Annotated[str, typer.Option(help="Why; kept in the history.")]


@app.command("list")
def list_biases(
    run: Run = "latest",
    workspace: Workspace = DEFAULT_WORKSPACE,
    status: Annotated[list[str] | None, typer.Option(help="Only biases with this status; repeatable.")] = None,
    as_json: AsJson = False,
) -> None:
    """All biases with status, effect and support."""
    if unknown := sorted(set(status or ()) - set(get_args(Status))):
        raise LibraryError(f"--status {unknown[0]!r}: is no status; there are {', '.join(get_args(Status))}")
    with _opened(run, workspace) as (store, run_id, library):
        effects = decisive(store.select(Validation, run_id=run_id))
        rows = [_row(entry, effects.get(entry.bias.id)) for entry in library if not status or entry.status in status]
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    table = Table("id", "name", "status", "effect (points, 95 %)", "support", "origin")
    for row in rows:
        effect = "" if row["effect"] is None else f"{row['effect']:+.1f} [{row['low']:+.1f}, {row['high']:+.1f}]"
        cells = (row["id"][:8], row["name"], row["status"], effect, str(row["support"]), row["origin"])
        table.add_row(*(Text(cell) for cell in cells))
    Console().print(table)


@app.command()
def show(
    bias: BiasName, run: Run = "latest", workspace: Workspace = DEFAULT_WORKSPACE, as_json: AsJson = False
) -> None:
    """One bias: wording, status, where it comes from, every validation."""
    with _opened(run, workspace) as (store, run_id, library):
        entry = library.find(bias)
        validations = store.select(Validation, run_id=run_id, bias_id=entry.bias.id)
        row = {
            **_row(entry, decisive(validations).get(entry.bias.id)),
            "definition": entry.bias.definition,
            "manifestation": entry.bias.manifestation,
            "parents": [_name(library, parent) for parent in entry.parents],
            "merged_into": entry.merged_into and _name(library, entry.merged_into),
            "merged_from": [
                _name(library, i) for i in library.entries if library.entries[i].merged_into == entry.bias.id
            ],
            "validations": [v.model_dump(mode="json") for v in validations],
        }
    if as_json:
        typer.echo(json.dumps(row, indent=2, ensure_ascii=False))
        return
    say = Console(highlight=False, markup=False).print
    for key in (
        "name",
        "id",
        "status",
        "origin",
        "definition",
        "manifestation",
        "parents",
        "merged_into",
        "merged_from",
    ):
        if row[key]:
            value = row[key] if isinstance(row[key], str) else ", ".join(row[key])
            say(Text(f"{key}: {value}"))
    say(Text(f"support: {row['support']} misjudgments on {row['support_pairs']} pairs"))
    for v in validations:
        where = "confirmation" if v.iteration < 0 else f"iteration {v.iteration}"
        say(
            Text(
                f"{where}: {v.decision} for {v.judge}: effect {v.effect:+.1f} [{v.interval[0]:+.1f}, "
                f"{v.interval[1]:+.1f}] points on {v.n} pairs ({v.harms} harms, {v.repairs} repairs), rule {v.rule}"
                + (f", e = {v.e_value:.3g}" if v.e_value is not None else "")
                + (f", p = {v.p_value:.3g}" if v.p_value is not None else "")
                + (f"; {v.reason}" if v.reason else "")
            )
        )


@app.command()
def history(
    bias: Annotated[
        str | None, typer.Argument(metavar="[BIAS]", help="Id, its start, or name; all when left out.")
    ] = None,
    run: Run = "latest",
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: AsJson = False,
) -> None:
    """Every event of the library, or of one bias, in order."""
    with _opened(run, workspace) as (_, _, library):
        events = library.history(library.find(bias).bias.id) if bias else list(library.events)
    if as_json:
        typer.echo(json.dumps([event.model_dump(mode="json") for event in events], indent=2, ensure_ascii=False))
        return
    table = Table("event", "what", "bias", "by", "iteration", "reason")
    for event in events:
        struck = " (undone)" if event.id in library.cancelled else ""
        cells = (
            event.id[:8],
            event.kind + struck,
            _name(library, event.bias_id),
            event.author,
            "" if event.iteration is None else str(event.iteration),
            event.reason,
        )
        table.add_row(*(Text(cell) for cell in cells))
    Console().print(table)


@app.command()
def diff(
    first: Annotated[str, typer.Argument(metavar="RUN1", help="Name or folder of a run.")],
    second: Annotated[str, typer.Argument(metavar="RUN2", help="Name or folder of another.")],
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: AsJson = False,
) -> None:
    """What two runs have in common and where they differ."""
    with _opened(first, workspace) as (store_a, id_a, a), _opened(second, workspace) as (store_b, id_b, b):
        found = compare(
            a,
            b,
            validations_a=store_a.select(Validation, run_id=id_a),
            validations_b=store_b.select(Validation, run_id=id_b),
        )
    if as_json:
        typer.echo(json.dumps(_diff_json(found), indent=2, ensure_ascii=False))
        return
    say = Console(highlight=False, markup=False).print
    say(
        Text(f"in both: {len(found.both)}, only in {first}: {len(found.only_a)}, only in {second}: {len(found.only_b)}")
    )
    for sign, biases in (("-", found.only_a), ("+", found.only_b)):
        for bias in biases:
            say(Text(f"{sign} {bias.name}: {bias.definition}"))
    for change in found.statuses:
        say(Text(f"~ {change.bias.name}: {change.before} -> {change.after}"))
    for effect in found.effects:
        apart = "" if not effect.apart else ", intervals apart"
        say(Text(f"~ {effect.bias.name}: effect {effect.before:+.1f} -> {effect.after:+.1f} points{apart}"))


@app.command("export")
def export(
    output: Annotated[Path, typer.Argument(metavar="FILE.json", help="File to write.")],
    run: Run = "latest",
    workspace: Workspace = DEFAULT_WORKSPACE,
    published: Annotated[bool, typer.Option(help="The form {name: {Definition, Manifestations}}.")] = False,
) -> None:
    """Write the library with its history and validations as JSON."""
    with _opened(run, workspace) as (store, run_id, library):
        validations = store.select(Validation, run_id=run_id)
        text = export_published(library.biases()) if published else export_full(library, validations)
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LibraryError(
            f"{output}: cannot be written: {error.strerror}; give a file in a folder that exists"
        ) from None
    typer.echo(f"{len(library)} biases in {output}")


@app.command("import")
def import_(
    path: Annotated[Path, typer.Argument(metavar="FILE.json", help="A library file, full or published form.")],
    run: Run = "latest",
    workspace: Workspace = DEFAULT_WORKSPACE,
    author: Author = "unknown",
    reason: Reason = "imported",
) -> None:
    """Take the biases of a file into a run's library as candidates; those it has already stay as they are."""
    with _opened(run, workspace) as (store, run_id, library):
        new = adopt(read_file(path), stamp_now(library, author, reason, run_id), library)
        append_now(store, new)
    typer.echo(f"{len(new)} biases taken in")


@app.command()
def merge(
    bias: BiasName,
    into: Annotated[str, typer.Argument(metavar="INTO", help="The bias that stays: id, start of an id, or name.")],
    run: Run = "latest",
    workspace: Workspace = DEFAULT_WORKSPACE,
    author: Author = "unknown",
    reason: Reason = "",
) -> None:
    """Make one bias part of another."""

    def event(library: Library, stamp: e.Stamp) -> LibraryEvent:
        return e.merge(stamp, library.find(bias).bias.id, library.find(into).bias.id)

    _decide(run, workspace, author, reason, event)


@app.command()
def split(
    bias: BiasName,
    parts: Annotated[
        Path, typer.Argument(metavar="PARTS.json", help="{name: {Definition, Manifestations}}, two or more.")
    ],
    run: Run = "latest",
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
        return e.split(stamp, parent, [(part, e.Support()) for part in made])

    _decide(run, workspace, author, reason, event)


@app.command()
def retire(
    bias: BiasName,
    run: Run = "latest",
    workspace: Workspace = DEFAULT_WORKSPACE,
    author: Author = "unknown",
    reason: Reason = "",
) -> None:
    """Take a bias out of use; its history stays."""
    _decide(run, workspace, author, reason, lambda library, stamp: e.retire(stamp, library.find(bias).bias.id))


@app.command()
def rename(
    bias: BiasName,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
    run: Run = "latest",
    workspace: Workspace = DEFAULT_WORKSPACE,
    author: Author = "unknown",
    reason: Reason = "",
) -> None:
    """Give a bias another name."""
    _decide(run, workspace, author, reason, lambda library, stamp: e.rename(stamp, library.find(bias).bias.id, name))


@app.command()
def undo(
    event: Annotated[
        str, typer.Argument(metavar="EVENT", help="Id of the event or its start, from `library history`.")
    ],
    run: Run = "latest",
    workspace: Workspace = DEFAULT_WORKSPACE,
    author: Author = "unknown",
    reason: Reason = "",
) -> None:
    """Take an event back; an undo can be undone."""

    def cancel(library: Library, stamp: e.Stamp) -> LibraryEvent:
        found = [line for line in library.events if line.id.startswith(event)]
        if len(found) != 1:
            raise LibraryError(f"{event!r} fits {len(found)} events: see `biasscope library history`")
        return e.undo(stamp, found[0])

    _decide(run, workspace, author, reason, cancel)


def _diff_json(found: Diff) -> dict[str, Any]:
    def plain(bias: Bias) -> dict[str, str]:
        return {"id": bias.id, "name": bias.name, "definition": bias.definition}

    return {
        "both": [plain(bias) for bias in found.both],
        "only_first": [plain(bias) for bias in found.only_a],
        "only_second": [plain(bias) for bias in found.only_b],
        "status": [{**plain(c.bias), "before": c.before, "after": c.after} for c in found.statuses],
        "effects": [{**plain(e.bias), "before": e.before, "after": e.after, "apart": e.apart} for e in found.effects],
    }


def _decide(
    run: str, workspace: Path, author: str, reason: str, event: Callable[[Library, e.Stamp], LibraryEvent]
) -> None:
    with _opened(run, workspace) as (store, run_id, library):
        made = event(library, stamp_now(library, author, reason, run_id))
        after = checked(library, made)
        append_now(store, [made])
    typer.echo(
        f"{made.kind}: {_name(after, made.bias_id)} (event {made.id[:8]}; `biasscope library undo {made.id[:8]}`)"
    )


@contextmanager
def _opened(run: str, workspace: Path) -> Iterator[tuple[Store, str, Library]]:
    folder = find_run(run, workspace)
    store = open_store(folder)
    try:
        yield store, folder.run_id, load_library(store, folder.run_id)
    finally:
        store.close()


def _row(entry: Entry, validation: Validation | None) -> dict[str, Any]:
    return {
        "id": entry.bias.id,
        "name": entry.bias.name,
        "status": entry.status,
        "origin": entry.bias.origin,
        "effect": validation.effect if validation else None,
        "low": validation.interval[0] if validation else None,
        "high": validation.interval[1] if validation else None,
        "support": entry.support.misjudgments,
        "support_pairs": len(entry.support.pairs),
    }


def _name(library: Library, bias_id: str) -> str:
    entry = library.entries.get(bias_id)
    return entry.bias.name if entry else bias_id
