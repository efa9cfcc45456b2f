"""Live progress of a run in a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from ...core.progress import Progress, stage_words
from ...runs.jobs import Listener
from ...runs.state import spent_line

_SPENT_EVERY = 50


@contextmanager
def live(console: Console) -> Iterator[Listener]:
    """A listener that draws stage, items, failures, spending and time left; a line per stage when not a terminal."""
    if not console.is_terminal:
        yield _plain(console)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[notes]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None, notes="")
        stage, spent = "", ""

        def listen(progress: Progress) -> None:
            nonlocal stage, spent
            if progress.stage != stage or progress.done % _SPENT_EVERY == 0:
                spent = spent_line(progress.store, progress.run_id)
            if progress.stage != stage:
                stage = progress.stage
                bar.reset(task, total=progress.total)
            bar.update(
                task,
                description=stage_words(progress.stage, progress.iteration),
                completed=progress.done,
                total=progress.total,
                notes=notes_line(progress.counts, progress.failures, spent),
            )

        yield listen


def notes_line(counts: dict[str, int], failures: int, spent: str) -> str:
    """What is found so far, what failed and what it cost."""
    parts = [f"{n} {name}" for name, n in counts.items()]
    if failures:
        parts.append(f"{failures} failed")
    return ", ".join([*parts, spent] if spent else parts)


def _plain(console: Console) -> Listener:
    said = ""

    def listen(progress: Progress) -> None:
        nonlocal said
        items = "1 item" if progress.total == 1 else f"{progress.total:,} items"
        line = f"{stage_words(progress.stage, progress.iteration)} ({items})"
        if line != said and progress.total:
            said = line
            console.print(line, highlight=False, markup=False)

    return listen
