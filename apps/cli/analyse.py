"""`biasscope analyse`: reliability analyses of finished runs."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from pydantic import BaseModel
from rich.console import Console

from ...core.errors import ConfigError
from ...runs.analyses import markdown
from ...runs.analyses.answers import answer_table
from ...runs.analyses.growth import growth_line, growth_svg
from ...runs.analyses.impact import impact_of
from ...runs.analyses.length import judge_missing, length_table
from ...runs.analyses.same_effect import same_effect as find_same_effect
from ...runs.folder import find_run
from ...validators.agreement import SAME_EFFECT
from .live import live
from .opened import opened_store
from .options import DEFAULT_WORKSPACE, AsJson, Workspace

app = typer.Typer(help="Reliability analyses of finished runs.", no_args_is_help=True)
T = TypeVar("T", bound=BaseModel)

RunName = Annotated[str, typer.Argument(metavar="[RUN]", help="Name or folder of a run, or `latest`.")]


@app.command("answers")
def answers(run: RunName = "latest", workspace: Workspace = DEFAULT_WORKSPACE, as_json: AsJson = False) -> None:
    """How often chosen and rejected answers agree, before and after rewriting."""
    with opened_store(run, workspace) as (store, run_id):
        found = answer_table(store, run_id)
    _show(found, markdown.answers, as_json)


@app.command("length")
def length(
    run: RunName = "latest",
    truncate: Annotated[
        bool, typer.Option("--truncate", help="Judge the truncated answers that the table lacks (model calls).")
    ] = False,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: AsJson = False,
) -> None:
    """Error rate and length: original, rewritten, and rewritten but cut to the original's length."""
    if truncate:
        with live(Console(stderr=True)) as listener:
            asyncio.run(judge_missing(find_run(run, workspace), listener))
    folder = find_run(run, workspace)
    with opened_store(str(folder.path), workspace) as (store, run_id):
        found = length_table(store, run_id)
    _show(found, markdown.length, as_json)
    if not as_json and any(row.missing for row in found.rows):
        typer.echo(f"\n`{folder.command('analyse length', '--truncate')}` judges what is missing.")


@app.command("growth")
def growth(
    runs: Annotated[list[str] | None, typer.Argument(metavar="[RUN]...", help="One line per run.")] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the lines into this SVG file too.")] = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: AsJson = False,
) -> None:
    """Validated biases after each iteration."""
    lines = []
    for run in runs or ["latest"]:
        with opened_store(run, workspace) as (store, run_id):
            lines.append(growth_line(store, run_id))
    if svg:
        try:
            svg.write_text(growth_svg(lines), encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"--svg {str(svg)!r}: cannot be written: {error.strerror or error}") from None
    if as_json:
        typer.echo(json.dumps([line.model_dump() for line in lines], indent=2, ensure_ascii=False))
    else:
        typer.echo(markdown.growth(lines), nl=False)


@app.command("same-effect")
def same_effect(
    run: RunName = "latest",
    threshold: Annotated[float, typer.Option(min=0.0, max=1.0, help="Least phi of a link.")] = SAME_EFFECT,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: AsJson = False,
) -> None:
    """Groups of biases that flip the same pairs."""
    with opened_store(run, workspace) as (store, run_id):
        found = find_same_effect(store, run_id, threshold)
    _show(found, markdown.same_effect, as_json)


@app.command("impact")
def impact(
    run: RunName = "latest",
    results: Annotated[
        Path | None,
        typer.Option("--results", metavar="FILE", help="A leaderboard's results: rows of model_a, model_b, winner."),
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(metavar="PERCENT", help="Win rate from which a model is accepted.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Model of --results that the win rate is against.")
    ] = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: AsJson = False,
) -> None:
    """How many ranks of a leaderboard, or decisions at a threshold, each validated bias could flip. RUN: a discovery
    run, a gate or a transfer."""
    folder = find_run(run, workspace, kind="discover" if run == "latest" else None)
    _show(impact_of(folder, results, threshold, against), markdown.impact, as_json)


def _show(found: T, as_markdown: Callable[[T], str], as_json: bool) -> None:
    typer.echo(found.model_dump_json(indent=2) + "\n" if as_json else as_markdown(found), nl=False)
