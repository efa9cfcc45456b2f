"""`biasscope card`: what is known about a judge, on one page."""

import re
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...core.visible import one_line
from ...runs.audits.card import collect_card, find_judge
from ...runs.audits.card_page import card_page, summary_table
from ...runs.audits.page import write_page
from .options import DEFAULT_WORKSPACE, AsJson, Workspace
from .starting import say_safely


def card(
    judge: Annotated[
        str | None,
        typer.Argument(
            metavar="[JUDGE]", help="Reference, model name or identity; may be left out where there is only one judge."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the card; else card-JUDGE in the workspace.")
    ] = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: AsJson = False,
) -> None:
    """Join discovery, taxonomy, self-preference and reliability of a judge into one page (HTML, Markdown, JSON)."""
    found = collect_card(find_judge(judge, workspace), workspace)
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    page = card_page(found)
    folder = output or workspace / f"card-{re.sub(r'[^A-Za-z0-9.]+', '-', found.judge).strip('-')[:80]}"
    files = write_page(page, found, folder, "card")
    console = Console(stderr=as_json)
    parts = summary_table(found)
    shown = Table(title=Text(one_line(page.title)), title_style="bold", box=box.SIMPLE_HEAD)
    for column in parts.columns:
        shown.add_column(column)
    for cells in parts.rows:
        shown.add_row(*(Text(one_line(cell.text, 80)) for cell in cells))
    console.print(shown)
    for warning in page.warnings:
        say_safely(console, f"note: {warning}")
    say_safely(console, f"card: {files['html']}")
