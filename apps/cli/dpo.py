"""`biasscope dpo` and `biasscope augment`: training data from validated biases."""

from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...builders.preferences.card import STEP_NAMES
from ...runs.config import load_config
from ...runs.folder import RunFolder
from ...runs.jobs import JobOutcome
from ...runs.preferences import AugmentConfig, DpoConfig, Made, run_augment, run_dpo
from .live import live
from .options import OwnWorkspace
from .options import Settings as Set
from .starting import say, start, stop_inconclusive

app = typer.Typer(help="DPO data from validated biases.", no_args_is_help=True)

Config = Annotated[Path, typer.Argument(metavar="CONFIG.yaml", help="Configuration.")]
Name = Annotated[str | None, typer.Option(help="Name of the run.")]
C = TypeVar("C", DpoConfig, AugmentConfig)


@app.command("build")
def build(config: Config, set_: Set = None, name: Name = None, workspace: OwnWorkspace = None) -> None:
    """Preference pairs for DPO: worse answers that show biases, or the verdicts of a judge that was misled by them."""
    start(_configured(config, set_, name, workspace, DpoConfig), Console(), resume_dpo)


def augment(config: Config, set_: Set = None, name: Name = None, workspace: OwnWorkspace = None) -> None:
    """Base pairs with negatives that show biases, and judging prompts on them, for `biasscope train`."""
    start(_configured(config, set_, name, workspace, AugmentConfig), Console(), resume_augment)


def resume_dpo(folder: RunFolder) -> None:
    """Make DPO pairs, or go on, and say what came of it."""
    console = Console()
    with live(console) as listener:
        outcome = run_dpo(folder, listener)
    _show(console, outcome, "biasscope train dpo")


def resume_augment(folder: RunFolder) -> None:
    """Make augmented pairs, or go on, and say what came of it."""
    console = Console()
    with live(console) as listener:
        outcome = run_augment(folder, listener)
    _show(console, outcome, "biasscope train reward, sft or grpo")


def _configured(config: Path, set_: list[str] | None, name: str | None, workspace: Path | None, kind: type[C]) -> C:
    given = {"name": name, "workspace": str(workspace) if workspace else None}
    return load_config(config, set_ or (), {key: value for key, value in given.items() if value is not None}, kind=kind)


def _show(console: Console, outcome: JobOutcome[Made], then: str) -> None:
    if outcome.result is None:
        stop_inconclusive(console, outcome.folder, outcome.reason)
    made = outcome.result
    steps = Table("step", "left over", "left out, and why")
    steps.add_row("source pairs", f"{made.funnel.pairs:,}", "")
    for name, step in zip(STEP_NAMES, made.funnel.steps, strict=True):
        why = ", ".join(f"{count:,} {reason}" for reason, count in step.reasons.items())
        steps.add_row(name, f"{step.after:,}", Text(why))
    console.print(steps)
    if not made.written.units.total():
        say(console, "no pair is left; change what left them out, or the source, and build again under another name")
        raise typer.Exit(1)
    for name, count in sorted(made.written.rows.items()):
        say(console, f"{count:,} rows in {made.folder / name}")
    for warning in made.warnings:
        say(console, f"warning: {warning}")
    say(console, f"card: {made.folder / 'README.md'}; next: {then} with data: {made.folder}")
