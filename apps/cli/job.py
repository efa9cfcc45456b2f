"""Starting a job from the command line, and how one ends."""

from collections.abc import Callable
from typing import Any, TypeVar

import typer
from rich.console import Console

from ...core.errors import UserError
from ...core.visible import one_line
from ...runs.config import JobConfig
from ...runs.folder import RunFolder
from ...runs.jobs import JobOutcome, Listener, create, forget_unstarted, settle_models
from .live import live

R = TypeVar("R")
Run = Callable[[RunFolder, Listener | None], JobOutcome[R]]


def start(config: JobConfig, run: Run[R], console: Console) -> JobOutcome[R]:
    """A new job, driven until it is done or its budget is spent. One that could not begin leaves no folder."""
    settled, notices = settle_models(config)
    folder = create(settled)
    for line in (*notices, f"run {folder.run_id} in {folder.path}"):
        say(console, line)
    try:
        return go_on(folder, run, console)
    except UserError:
        forget_unstarted(folder)
        raise


def go_on(folder: RunFolder, run: Run[R], console: Console) -> JobOutcome[R]:
    """Drive a job that has a folder, with its progress on the console."""
    with live(console) as listener:
        return run(folder, listener)


def stop_at_budget(outcome: JobOutcome[Any], console: Console) -> None:
    """Exit code 4 where the budget was spent."""
    if outcome.state == "budget":
        say(console, f"inconclusive: {outcome.reason}")
        raise typer.Exit(4)


def say(console: Console, text: str) -> None:
    """One line, whatever is in it."""
    console.print(one_line(text, 4000), highlight=False, markup=False, soft_wrap=True)


def there(given: dict[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {k: v for k, v in given.items() if v is not None}
