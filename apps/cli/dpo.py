"""`biasscope dpo` and `biasscope augment`: training data from validated biases."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...builders.preferences.card import STEP_NAMES
from ...core.errors import UserError
from ...runs.config import load_config
from ...runs.folder import RunFolder
from ...runs.jobs import JobOutcome, create, forget_unstarted, settle_models
from ...runs.preferences import AugmentConfig, DpoConfig, Made, run_augment, run_dpo
from .live import live

app = typer.Typer(help="DPO data from validated biases.", no_args_is_help=True)

Config = Annotated[Path, typer.Argument(metavar="CONFIG.yaml", help="Configuration.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a setting, dotted; repeatable.")
]
Name = Annotated[str | None, typer.Option(help="Name of the run.")]
OwnWorkspace = Annotated[
    Path | None,
    typer.Option("--workspace", "-w", help="Folder of runs; else the configuration's, else BIASSCOPE_WORKSPACE."),
]


@app.command("build")
def build(config: Config, set_: Set = None, name: Name = None, workspace: OwnWorkspace = None) -> None:
    """Preference pairs for DPO: worse answers that show biases, or the verdicts of a judge that was misled by them."""
    folder = _started(config, set_, name, workspace, DpoConfig)
    try:
        resume_dpo(folder)
    except UserError:
        forget_unstarted(folder)
        raise


def augment(config: Config, set_: Set = None, name: Name = None, workspace: OwnWorkspace = None) -> None:
    """Base pairs with negatives that show biases, and judging prompts on them, for `biasscope train`."""
    folder = _started(config, set_, name, workspace, AugmentConfig)
    try:
        resume_augment(folder)
    except UserError:
        forget_unstarted(folder)
        raise


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


def _started(
    config: Path,
    set_: list[str] | None,
    name: str | None,
    workspace: Path | None,
    kind: type[DpoConfig] | type[AugmentConfig],
) -> RunFolder:
    given = {"name": name, "workspace": str(workspace) if workspace else None}
    there = {key: value for key, value in given.items() if value is not None}
    made, notices = settle_models(load_config(config, set_ or (), there, kind=kind))
    folder = create(made)
    for line in (*notices, f"run {folder.run_id} in {folder.path}"):
        _say(Console(), line)
    return folder


def _show(console: Console, outcome: JobOutcome[Made], then: str) -> None:
    if outcome.result is None:
        _say(console, f"not done: {outcome.reason}; {outcome.folder.to_type('resume')} goes on with more")
        raise typer.Exit(4)
    made = outcome.result
    steps = Table("step", "left over", "left out, and why")
    steps.add_row("source pairs", f"{made.funnel.pairs:,}", "")
    for name, step in zip(STEP_NAMES, made.funnel.steps, strict=True):
        why = ", ".join(f"{count:,} {reason}" for reason, count in step.reasons.items())
        steps.add_row(name, f"{step.after:,}", Text(why))
    console.print(steps)
    if not made.written.units.total():
        _say(console, "no pair is left; change what left them out, or the source, and build again under another name")
        raise typer.Exit(1)
    for name, count in sorted(made.written.rows.items()):
        _say(console, f"{count:,} rows in {made.folder / name}")
    for warning in made.warnings:
        _say(console, f"warning: {warning}")
    _say(console, f"card: {made.folder / 'README.md'}; next: {then} with data: {made.folder}")


def _say(console: Console, text: str) -> None:
    console.print(text, highlight=False, markup=False, soft_wrap=True)
