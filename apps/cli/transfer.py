"""`biasscope transfer`: one library of biases on several judges."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...audits.transfer import TransferReport
from ...core.errors import ConfigError
from ...core.visible import one_line
from ...runs.audits.transfer import NAME, TransferConfig, run_transfer
from ...runs.audits.transfer_page import matrix, transfer_page
from ...runs.config import load_config
from ...runs.folder import RunFolder
from .live import live
from .options import AsJson, OwnWorkspace, Settings
from .starting import result_of, say_safely, start


def transfer(
    config: Annotated[Path | None, typer.Argument(metavar="[CONFIG.yaml]", help="Configuration.")] = None,
    judges: Annotated[
        list[str] | None,
        typer.Option("--judges", metavar="A,B,C", help="Judges by reference, with commas between; repeatable."),
    ] = None,
    library: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Frozen test set, from `biasscope library freeze`.")
    ] = None,
    orders: Annotated[str | None, typer.Option(help="drawn or both; as in the set's run when left out.")] = None,
    set_: Settings = None,
    name: Annotated[str | None, typer.Option(help="Name of the run.")] = None,
    workspace: OwnWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Which of a library's biases several judges share, and which are one judge's own: the same questions to all."""
    given: dict[str, Any] = {
        "judges": _references(judges),
        "library": str(library) if library else None,
        "orders": orders,
        "name": name,
        "workspace": str(workspace) if workspace else None,
    }
    if config is None and (judges is None or library is None):
        raise ConfigError("nothing to compare: give --judges A,B,C and --library, or a CONFIG.yaml")
    made = load_config(config, set_ or (), {k: v for k, v in given.items() if v is not None}, kind=TransferConfig)
    console = Console(stderr=as_json)
    start(made, console, lambda folder: _drive(folder, console, as_json))


def continue_transfer(folder: RunFolder) -> None:
    """`biasscope resume` for a transfer."""
    _drive(folder, Console(), False)


def _references(judges: list[str] | None) -> list[str] | None:
    if judges is None:
        return None
    return [part.strip() for text in judges for part in text.split(",") if part.strip()]


def _drive(folder: RunFolder, console: Console, as_json: bool) -> None:
    with live(console) as listener:
        outcome = run_transfer(folder, listener)
    found = result_of(outcome, console)
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    _show(found, console)
    for ending in ("html", "md", "json"):
        say_safely(console, f"{NAME}.{ending}: {folder.path / f'{NAME}.{ending}'}")


def _show(found: TransferReport, console: Console) -> None:
    page = transfer_page(found)
    cells = matrix(found)
    shown = Table(title=Text(one_line(page.title)), title_style="bold", box=box.SIMPLE_HEAD)
    for column in cells.columns:
        shown.add_column(Text(one_line(column, 40)), justify="left" if column in ("Bias", "Shared") else "right")
    for line in cells.rows:
        shown.add_row(*(Text("\n".join(one_line(t, 60) for t in (cell.text, cell.sub) if t)) for cell in line))
    console.print(shown)
    for sentence in page.sentences:
        say_safely(console, sentence)
    for warning in page.warnings:
        say_safely(console, f"note: {warning}")
