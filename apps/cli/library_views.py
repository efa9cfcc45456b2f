"""`biasscope library list`, `show`, `history`, `diff` and `export`: look at a run's biases."""

import json
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...bias_library.diff import Diff, decisive
from ...bias_library.diff import diff as compare
from ...bias_library.exchange import export_full, export_published
from ...bias_library.library import Entry, Library
from ...core.errors import LibraryError
from ...core.records import Bias, LibraryEvent, Status, Validation
from ...runs.folder import runs_in
from .opened import name_of, opened_library
from .options import DEFAULT_WORKSPACE, AsJson, BiasName, Run, RunName, Workspace, named

_NUMBERS = ("points [95 %]", "support")


def list_biases(
    run_name: RunName = None,
    run: Run = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    status: Annotated[list[str] | None, typer.Option(help="Only biases with this status; repeatable.")] = None,
    as_json: AsJson = False,
) -> None:
    """All biases with status, effect and support."""
    if unknown := sorted(set(status or ()) - set(get_args(Status))):
        raise LibraryError(f"--status {unknown[0]!r}: is no status; there are {', '.join(get_args(Status))}")
    with opened_library(named(run_name, run), workspace) as (store, run_id, library):
        effects = decisive(store.select(Validation, run_id=run_id))
        rows = [_row(entry, effects.get(entry.bias.id)) for entry in library if not status or entry.status in status]
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for column in ("id", "name", "status", "points [95 %]", "support", "origin"):
        wraps = column == "name"
        table.add_column(column, no_wrap=not wraps, overflow="fold", justify="right" if column in _NUMBERS else "left")
    for row in rows:
        effect = "" if row["effect"] is None else f"{row['effect']:+.1f} [{row['low']:+.1f}, {row['high']:+.1f}]"
        cells = (row["id"][:8], row["name"], row["status"], effect, str(row["support"]), row["origin"])
        table.add_row(*(Text(cell) for cell in cells))
    Console().print(table)


def show(
    bias: BiasName,
    run_name: RunName = None,
    run: Run = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: AsJson = False,
) -> None:
    """One bias: wording, status, where it comes from, every validation."""
    with opened_library(named(run_name, run), workspace) as (store, run_id, library):
        entry = library.find(bias)
        validations = store.select(Validation, run_id=run_id, bias_id=entry.bias.id)
        row = {
            **_row(entry, decisive(validations).get(entry.bias.id)),
            "definition": entry.bias.definition,
            "manifestation": entry.bias.manifestation,
            "parents": [name_of(library, parent) for parent in entry.parents],
            "merged_into": entry.merged_into and name_of(library, entry.merged_into),
            "merged_from": [
                name_of(library, i) for i in library.entries if library.entries[i].merged_into == entry.bias.id
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
        where = "confirmation" if v.iteration < 0 else f"iteration {v.iteration + 1}"
        say(
            Text(
                f"{where}: {v.decision} for {v.judge}: effect {v.effect:+.1f} [{v.interval[0]:+.1f}, "
                f"{v.interval[1]:+.1f}] points on {v.n} pairs ({v.harms} harms, {v.repairs} repairs), rule {v.rule}"
                + (f", e = {v.e_value:.3g}" if v.e_value is not None else "")
                + (f", p = {v.p_value:.3g}" if v.p_value is not None else "")
                + (f"; {v.reason}" if v.reason else "")
            )
        )


def history(
    bias: Annotated[
        str | None, typer.Argument(metavar="[BIAS]", help="Id, its start, or name; all when left out.")
    ] = None,
    run_name: RunName = None,
    run: Run = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: AsJson = False,
) -> None:
    """Every event of the library, or of one bias, in order."""
    with opened_library(named(run_name, run), workspace) as (_, _, library):
        events = library.history(_found(library, bias, workspace).bias.id) if bias else list(library.events)
    if as_json:
        typer.echo(json.dumps([event.model_dump(mode="json") for event in events], indent=2, ensure_ascii=False))
        return
    table = Table("event", "what", "bias", "by", "iteration", "reason", box=box.SIMPLE_HEAD)
    for event in events:
        struck = " (undone)" if event.id in library.cancelled else ""
        cells = (
            event.id[:8],
            done(library, event) + struck,
            name_of(library, event.bias_id),
            event.author,
            "" if event.iteration is None else str(event.iteration + 1),
            event.reason,
        )
        table.add_row(*(Text(cell) for cell in cells))
    Console().print(table)


def diff(
    first: Annotated[str, typer.Argument(metavar="RUN1", help="Name or folder of a run.")],
    second: Annotated[str, typer.Argument(metavar="RUN2", help="Name or folder of another.")],
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: AsJson = False,
) -> None:
    """What two runs have in common and where they differ."""
    with (
        opened_library(first, workspace) as (store_a, id_a, a),
        opened_library(second, workspace) as (store_b, id_b, b),
    ):
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


def export(
    output: Annotated[Path, typer.Argument(metavar="FILE.json", help="File to write.")],
    run_name: RunName = None,
    run: Run = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    published: Annotated[bool, typer.Option(help="The form {name: {Definition, Manifestations}}.")] = False,
) -> None:
    """Write the library with its history and validations as JSON."""
    with opened_library(named(run_name, run), workspace) as (store, run_id, library):
        validations = store.select(Validation, run_id=run_id)
        text = export_published(library.biases()) if published else export_full(library, validations)
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LibraryError(
            f"{output}: cannot be written: {error.strerror}; give a file in a folder that exists"
        ) from None
    count = (
        f"{len(library.biases())} of {len(library)} biases, those in use," if published else f"{len(library)} biases"
    )
    typer.echo(f"{count} in {output}")


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


def done(library: Library, event: LibraryEvent) -> str:
    """What an event did, in a few words."""
    given = event.payload
    match event.kind:
        case "add":
            return f"add as {given['status']}"
        case "merge":
            return f"merge into {name_of(library, str(given['into']))}"
        case "split":
            return "split into " + ", ".join(name_of(library, part["id"]) for part in given["parts"])
        case "status":
            return f"status {given['status']}"
        case "rename":
            return f"rename to {given['name']}"
        case "undo":
            return f"undo {str(given['event'])[:8]}"
    return event.kind


def _found(library: Library, bias: str, workspace: Path) -> Entry:
    try:
        return library.find(bias)
    except LibraryError as error:
        if bias in {folder.run_id for folder in runs_in(workspace)}:
            raise LibraryError(f"{error}; for the whole history of the run {bias!r} write --run {bias}") from None
        raise


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
