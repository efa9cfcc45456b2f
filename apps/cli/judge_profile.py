"""`biasscope judge profile`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markdown import Markdown

from ...core.errors import ConfigError
from ...runs.audits.page import page_md
from ...runs.audits.profile import NAME, ProfileConfig, run_profile
from ...runs.audits.profile_page import profile_page
from ...runs.config import load_config
from ...runs.folder import RunFolder
from .live import live
from .options import AsJson, OwnWorkspace, Settings
from .starting import result_of, say_safely, start


def profile_judge(
    config: Annotated[Path | None, typer.Argument(metavar="[CONFIG.yaml]", help="Configuration.")] = None,
    judge: Annotated[str | None, typer.Option(metavar="REF", help="The judge: openai:MODEL[@URL], local:, ...")] = None,
    data: Annotated[
        str | None, typer.Option(metavar="SOURCE", help="Pairs: a file, hub data set or `builtin`.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Most pairs, stratified by domain.")] = None,
    again: Annotated[int | None, typer.Option(help="Pairs that are asked a second time; 100.")] = None,
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Labels of people: rows with id, label and annotator.")
    ] = None,
    set_: Settings = None,
    name: Annotated[str | None, typer.Option(help="Name of the run.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of orders and of the pairs that are asked again.")] = None,
    workspace: OwnWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """How reliable a judge is: accuracy by domain, consistency, ties, agreement, calibration, cost and time."""
    given: dict[str, Any] = {
        "judge": judge,
        "data": data,
        "data.limit": limit,
        "again": again,
        "labels": str(labels) if labels else None,
        "name": name,
        "seed": seed,
        "workspace": str(workspace) if workspace else None,
    }
    if config is None and (judge is None or data is None):
        raise ConfigError("nothing to measure: give --judge and --data, or a CONFIG.yaml")
    made = load_config(config, set_ or (), {k: v for k, v in given.items() if v is not None}, kind=ProfileConfig)
    console = Console(stderr=as_json)
    start(made, console, lambda folder: _drive(folder, console, as_json))


def continue_profile(folder: RunFolder) -> None:
    """`biasscope resume` for a profile."""
    _drive(folder, Console(), False)


def _drive(folder: RunFolder, console: Console, as_json: bool) -> None:
    with live(console) as listener:
        outcome = run_profile(folder, listener)
    found = result_of(outcome, console)
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        console.print(Markdown(page_md(profile_page(found))))
    for ending in ("html", "md", "json"):
        say_safely(console, f"{NAME}.{ending}: {folder.path / f'{NAME}.{ending}'}")
