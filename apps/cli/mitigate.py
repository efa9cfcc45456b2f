"""`biasscope mitigate`: a judge before and after training or another treatment."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...audits.treatment_report import TreatmentReport
from ...core.visible import percent, span
from ...runs.config import load_config
from ...runs.folder import RunFolder
from ...runs.treatments import TreatmentConfig, run_treatments
from .live import live
from .options import OwnWorkspace, Settings
from .starting import say, start, stop_inconclusive


def mitigate(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.yaml", help="Configuration.")],
    before: Annotated[str | None, typer.Option(metavar="REF", help="The judge as it is.")] = None,
    after: Annotated[str | None, typer.Option(metavar="REF", help="The judge after training.")] = None,
    set_: Settings = None,
    name: Annotated[str | None, typer.Option(help="Name of the run.")] = None,
    workspace: OwnWorkspace = None,
) -> None:
    """Compare a judge with its trained self, with a preamble about biases, both orders or a jury, on held-out pairs."""
    given = {
        "judge": before,
        "after": after,
        "name": name,
        "workspace": str(workspace) if workspace else None,
    }
    there = {key: value for key, value in given.items() if value is not None}
    start(load_config(config, set_ or (), there, kind=TreatmentConfig), Console(), resume_treatments)


def resume_treatments(folder: RunFolder) -> None:
    """Compare, or go on, and show what came of it."""
    console = Console()
    with live(console) as listener:
        outcome = run_treatments(folder, listener)
    if outcome.result is None:
        stop_inconclusive(console, outcome.folder, outcome.reason)
    for found in outcome.result.reports:
        console.print(_table(found))
        for warning in found.warnings:
            say(console, f"note: {warning}")
    say(console, f"report: {outcome.result.files['markdown']}")


def _table(found: TreatmentReport) -> Table:
    made = Table(
        "judged", "pairs", "error before, %", "after, %", "change, points", "95 % interval", title=found.treatment
    )
    for row in (*found.groups, *found.biases):
        change = "–" if row.difference is None else f"{100 * row.difference:+.1f}"
        made.add_row(
            Text(row.what), f"{row.pairs:,}", percent(row.before), percent(row.after), change, span(row.low, row.high)
        )
    for one, two in zip(found.sensitivity_before, found.sensitivity_after, strict=True):
        made.add_row(Text(f"sensitivity to {one.what}"), "", percent(one.rate), percent(two.rate), "", "")
    return made
