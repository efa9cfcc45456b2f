"""`biasscope runs`, `status` and `report`."""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ...core.errors import BiasScopeError, ConfigError
from ...runs.folder import RunFolder, find_run, runs_in
from ...runs.jobs import open_store
from ...runs.report import load_report, summary_table, write_report
from ...runs.state import RunState, state_of
from .live import notes_line
from .options import DEFAULT_WORKSPACE, AsJson, Workspace

app = typer.Typer(help="The runs of a workspace.", no_args_is_help=True)
REPORTS: dict[str, Callable[[RunFolder, Path], Mapping[str, Path]]] = {}
"""How the report of another kind of job is written; filled where the commands are put together."""


@app.command("list")
def list_runs(workspace: Workspace = DEFAULT_WORKSPACE, as_json: AsJson = False) -> None:
    """Every run with its state."""
    rows = [_state(folder) for folder in runs_in(workspace)]
    if as_json:
        typer.echo(json.dumps([row.model_dump(mode="json") for row in rows], indent=2, ensure_ascii=False))
        return
    if not rows:
        typer.echo(f"no runs in {str(workspace)!r} yet; `biasscope discover` starts one")
        return
    columns = ("run", "kind", "state", "iteration", "stage", "spent")
    table = Table(*columns)
    for row in rows:
        cells = (getattr(row, column) for column in columns)
        table.add_row(*(Text("" if cell is None else str(cell)) for cell in cells))
    Console().print(table)


def status(
    run: Annotated[str, typer.Argument(metavar="[RUN]", help="Name or folder of a run, or `latest`.")] = "latest",
    watch: Annotated[bool, typer.Option("--watch", help="Go on showing until the run ends.")] = False,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: AsJson = False,
) -> None:
    """Where a run is: stage, items, failures, cost."""
    folder = find_run(run, workspace, kind=None)
    if as_json:
        typer.echo(json.dumps(_state(folder).model_dump(mode="json"), indent=2, ensure_ascii=False))
        return
    console = Console()
    if not watch:
        console.print(_status_text(folder))
        return
    with Live(_status_text(folder), console=console, refresh_per_second=1) as shown:
        while _state(folder).state == "running":
            time.sleep(1)
            shown.update(_status_text(folder))
    if not console.is_terminal:
        console.print()  # there Live leaves out the end of the last line


def report(
    run: Annotated[str, typer.Argument(metavar="[RUN]", help="Name or folder of a run, or `latest`.")] = "latest",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder; the run's own when left out.")] = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> None:
    """Write the report of a run (HTML, Markdown, JSON, plots) from its store."""
    folder = find_run(run, workspace, kind="discover" if run == "latest" else None)
    if folder.kind != "discover":
        if folder.kind not in REPORTS:
            raise ConfigError(f"{folder.run_id!r} is of the kind {folder.kind!r}, which has no report of its own")
        typer.echo(f"report: {REPORTS[folder.kind](folder, output or folder.path)['html']}")
        return
    store = open_store(folder)
    try:
        files = write_report(store, folder.run_id, output or folder.path)
    finally:
        store.close()
    Console().print(summary_table(load_report(files["json"])))
    typer.echo(f"report: {files['html']}")


def _state(folder: RunFolder) -> RunState:
    try:
        store = open_store(folder)
    except BiasScopeError as error:
        return RunState(run=folder.run_id, kind=folder.kind, state=f"unreadable: {error}", iteration=None)
    try:
        return state_of(folder, store)
    finally:
        store.close()


def _status_text(folder: RunFolder) -> Text:
    state = _state(folder)
    lines = [f"{state.run}: {state.state}" + (f" ({state.reason})" if state.reason else "")]
    if state.total:
        lines.append(f"iteration {state.iteration}, {state.stage}: {state.done} of {state.total}")
    lines.append(notes_line(state.counts, state.failures, state.spent))
    return Text("\n".join(lines))
