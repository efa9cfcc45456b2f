"""`biasscope runs`, `status` and `report`."""

import contextlib
import json
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ...core.errors import BiasScopeError, ConfigError
from ...core.progress import stage_words
from ...core.visible import one_line
from ...runs.folder import RunFolder, command_in, find_run, runs_in
from ...runs.jobs import open_store
from ...runs.report import write_report
from ...runs.state import RunState, state_of
from .lazy import load
from .live import notes_line
from .options import DEFAULT_WORKSPACE, AsJson, Workspace
from .starting import goes_on, how_to_decide, say_safely
from .summary import show_report

app = typer.Typer(help="The runs of a workspace.", no_args_is_help=True)
REPORTS = {
    "taxonomy": "...runs.audits.taxonomy_job:report_taxonomy",
    "self-preference": "...runs.audits.self_preference_job:report_self_preference",
    "transfer": "...runs.audits.transfer:report_transfer",
    "profile": "...runs.audits.profile:report_profile",
}
"""How the report of another kind of job is written."""


@app.command("list")
def list_runs(workspace: Workspace = DEFAULT_WORKSPACE, as_json: AsJson = False) -> None:
    """Every run with its state."""
    rows = [_state(folder) for folder in runs_in(workspace)]
    if as_json:
        typer.echo(json.dumps([row.model_dump(mode="json") for row in rows], indent=2, ensure_ascii=False))
        return
    if not rows:
        typer.echo(f"no runs in {str(workspace)!r} yet; `{command_in(workspace, 'discover')}` starts one")
        return
    columns = ("run", "kind", "state", "iteration", "stage", "spent")
    table = Table(*columns)
    for row in rows:
        iteration = "" if row.iteration is None else str(row.iteration + 1)
        cells = (row.run, row.kind, row.state, iteration, stage_words(row.stage), row.spent)
        table.add_row(*map(Text, cells))
    console = Console()
    console.print(table)
    for row in rows:
        if row.state == "unreadable":
            say_safely(console, f"{row.run}: {row.reason}")


def status(
    run: Annotated[str, typer.Argument(metavar="[RUN]", help="Name or folder of a run, or `latest`.")] = "latest",
    watch: Annotated[bool, typer.Option("--watch", help="Go on showing until the run ends.")] = False,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: AsJson = False,
) -> None:
    """Where a run is: stage, items, failures, cost."""
    folder = find_run(run, workspace, kind=None)
    if as_json:
        typer.echo(json.dumps(_read_state(folder).model_dump(mode="json"), indent=2, ensure_ascii=False))
        return
    console = Console()
    if not watch:
        console.print(_status_text(folder))
        return
    with Live(_status_text(folder), console=console, refresh_per_second=1) as shown:
        while _read_state(folder).state == "running":
            time.sleep(1)
            shown.update(_status_text(folder))
    if not console.is_terminal:
        console.print()  # there Live leaves out the end of the last line


def report(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN]...", help="Names or folders of runs, or `latest`.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder; the run's own when left out.")] = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> None:
    """Write the report of a run (HTML, Markdown, JSON, plots) from its store."""
    named = runs or ["latest"]
    if output is not None and len(named) > 1:
        raise ConfigError(f"--output takes the report of one run, not of {len(named)}; leave it out, or name one run")
    for run in named:
        _report(find_run(run, workspace, kind="discover" if run == "latest" else None), output)


def _report(folder: RunFolder, output: Path | None) -> None:
    if folder.kind != "discover":
        if folder.kind not in REPORTS:
            raise ConfigError(f"{folder.run_id!r} is of the kind {folder.kind!r}, which has no report of its own")
        typer.echo(f"report: {load(REPORTS[folder.kind])(folder, output or folder.path)['html']}")
        return
    with contextlib.closing(open_store(folder)) as store:
        files = write_report(store, folder.run_id, output or folder.path)
    show_report(Console(), files)


def _state(folder: RunFolder) -> RunState:
    try:
        return _read_state(folder)
    except BiasScopeError as error:
        return RunState(run=folder.run_id, kind=folder.kind, state="unreadable", reason=str(error))


def _read_state(folder: RunFolder) -> RunState:
    with contextlib.closing(open_store(folder)) as store:
        return state_of(folder, store)


def _status_text(folder: RunFolder) -> Text:
    state = _read_state(folder)
    lines = [f"{state.run}: {state.state}" + (f" ({one_line(state.reason, 2000)})" if state.reason else "")]
    if state.total:
        lines.append(f"{stage_words(state.stage, state.iteration)}: {state.done:,} of {state.total:,}")
    lines.append(notes_line(state.counts, state.failures, state.spent))
    if state.state in ("stopped", "inconclusive"):
        lines.append(goes_on(folder))
    elif state.state == "waiting":
        lines.append(how_to_decide(folder))
    return Text("\n".join(lines))
