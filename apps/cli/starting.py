"""Begin a job from its configuration, say so, and say when it stopped short."""

from collections.abc import Callable
from typing import NoReturn, TypeVar

import typer
from rich.console import Console

from ...core.errors import BrokenMachine, UserError
from ...core.visible import one_line
from ...runs.config import JobConfig
from ...runs.folder import RunFolder
from ...runs.jobs import JobOutcome, create, forget_unstarted, settle_models

R = TypeVar("R")


def start(config: JobConfig, console: Console, work: Callable[[RunFolder], R]) -> R:
    """Settle the models, make the folder and do `work` in it; a job that never got going leaves no folder, and one
    whose machine broke says how to go on with it (an interrupt: `main`)."""
    settled, notices = settle_models(config)
    folder = create(settled)
    for notice in notices:
        say(console, notice)
    say(console, f"run {folder.run_id} in {folder.path}")
    try:
        return work(folder)
    except UserError:
        forget_unstarted(folder)
        raise
    except BrokenMachine:
        say(console, f"stopped: {goes_on(folder)}")
        raise


def result_of(outcome: JobOutcome[R], console: Console) -> R:
    """The result; a job whose budget is spent has none, says so and ends the command with exit code 4."""
    if outcome.result is None:
        stop_inconclusive(console, outcome.folder, outcome.reason)
    return outcome.result


def stop_inconclusive(console: Console, folder: RunFolder, reason: str) -> NoReturn:
    """Say that the budget is spent and how to go on, and end the command with exit code 4."""
    say_safely(console, f"inconclusive: {reason}; {goes_on(folder)}")
    raise typer.Exit(4)


def goes_on(folder: RunFolder) -> str:
    """How to go on with a job that has stopped short."""
    return f"`{folder.resume_command}` goes on"


def how_to_decide(folder: RunFolder) -> str:
    """How to decide on the biases that a run waits for."""
    return f"decide with `{folder.resume_command} --approve NAME ...`, `--approve all` or `--reject-all`"


def say(console: Console, text: str) -> None:
    """A line as it is: neither marked up nor broken."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def say_safely(console: Console, text: str) -> None:
    """The same for a line that may hold text of others: control characters are shown, and it has an end."""
    say(console, one_line(text, 2000))
