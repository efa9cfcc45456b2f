"""`biasscope benchmark annotate`: tasks out, decisions in, how far it is."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...builders.annotating import import_decisions, progress, queue, tasks
from ...core.errors import ConfigError
from ...data.annotation_export import FORMATS, export_tasks
from ...data.annotation_import import read_decisions
from ...runs.benchmark import BenchmarkConfig
from ...runs.config import load_config
from ...runs.folder import find_run
from ...validators.adjudication import annotator_name, independent_agreement
from .opened import opened_store
from .options import DEFAULT_WORKSPACE, Workspace
from .starting import say_safely

app = typer.Typer(no_args_is_help=True, help="What people say about a benchmark's items.")

Benchmark = Annotated[str, typer.Argument(metavar="RUN", help="Name or folder of a benchmark's run, or `latest`.")]


@app.command("export")
def export(
    run: Benchmark,
    annotator: Annotated[str, typer.Option(help="Who will label: the tasks are those that this person can label now.")],
    format: Annotated[str, typer.Option(help=f"{', '.join(FORMATS)}.")] = "jsonl",
    out: Annotated[Path | None, typer.Option(help="Folder to write to; else `annotation/NAME` in the run's.")] = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> None:
    """Write tasks and guidelines for one annotator: new items, reviews of what others disagree on, adjudications."""
    if format not in FORMATS:
        raise ConfigError(f"--format {format!r}: there are {', '.join(FORMATS)}")
    folder = find_run(run, workspace, kind="benchmark")
    with opened_store(str(folder.path), workspace, "benchmark") as (store, run_id):
        seed = load_config(folder.config, kind=BenchmarkConfig).seed
        name = annotator_name(annotator)
        wanted = queue(store, run_id, name)
        made = tasks(store, run_id, wanted, seed)
    console = Console()
    if not made:
        say_safely(console, f"nothing to label for {name}: see `{folder.command('benchmark annotate status')}`")
        return
    target = out or folder.path / "annotation" / "".join(c if c.isalnum() else "-" for c in name)
    try:
        files = export_tasks(target, format, made, annotator=name, name=folder.run_id)
    except OSError as error:
        raise ConfigError(f"--out {target}: cannot be written: {error.strerror or error}") from None
    rounds = [task.round for task in made]
    counts = ", ".join(f"{rounds.count(r)} {r}" for r in dict.fromkeys(rounds))
    say_safely(console, f"{len(made)} tasks ({counts}) in {files[0]}; guidelines in {files[-1]}")


@app.command("import")
def import_(
    run: Benchmark,
    file: Annotated[Path, typer.Argument(help="Decisions: .jsonl, .csv, or .json from Label Studio or Argilla.")],
    annotator: Annotated[str, typer.Option(help="Who decided, where the file does not say.")] = "",
    names: Annotated[
        Path | None, typer.Option(help="JSON object from the file's user ids to names of annotators.")
    ] = None,
    by_program: Annotated[
        bool, typer.Option("--by-program", help="A model or script decided: kept, but never human-verified.")
    ] = False,
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> None:
    """Add decisions to the benchmark: all of the file or nothing, and the same file twice only once."""
    decisions = read_decisions(file)
    people = _names(names) if names else {}
    with opened_store(run, workspace, "benchmark") as (store, run_id):
        found = import_decisions(store, run_id, decisions, annotator=annotator, names=people, by_program=by_program)
    who = ", ".join(found.annotators) or "nobody"
    say_safely(Console(), f"{found.added} annotations added, {found.repeated} known already; by {who}")


@app.command("status")
def status(run: Benchmark = "latest", workspace: Workspace = DEFAULT_WORKSPACE) -> None:
    """How far people are, and how much they agree."""
    with opened_store(run, workspace, "benchmark") as (store, run_id):
        people = progress(store, run_id)
        programs = progress(store, run_id, people_only=False)
    console = Console()
    table = Table("items", "number")
    for label in ("different", "same", "broken", "unsure"):
        count = sum(s.label == label for s in people.values())
        table.add_row(Text(f"decided: {label}"), str(count))
    for round in ("independent", "review", "adjudication"):
        table.add_row(Text(f"waiting for {round}"), str(sum(s.needs == round for s in people.values())))
    console.print(table)
    found = independent_agreement(people.values())
    if found.items:
        say_safely(
            console,
            f"two independent labels on {found.items} items: raw agreement {100 * found.raw:.1f} % (95 % interval "
            f"{100 * found.interval[0]:.1f} to {100 * found.interval[1]:.1f}), Fleiss' kappa {found.kappa:.2f}",
        )
    by_programs = sum(programs[i].label is not None and people[i].label is None for i in people)
    if by_programs:
        say_safely(console, f"{by_programs} items are decided by programs only")


def _names(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"--names {path}: cannot be read as JSON: {error}") from None
    if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
        raise ConfigError(f'--names {path}: an object such as {{"17": "Ada"}} is needed')
    return found
