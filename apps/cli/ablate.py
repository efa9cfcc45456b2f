"""`biasscope ablate`."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ...runs.analyses.ablation import ablate as run_ablation
from ...runs.analyses.ablation import plan_ablation
from ...runs.analyses.ablation_table import ablation_text
from .live import live
from .options import AsJson, OwnWorkspace


def ablate(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.yaml", help="Configuration that the variants start from.")],
    over: Annotated[
        str,
        typer.Option(
            metavar="SETTING[=V1,V2]",
            help="What varies: teacher=REF1,REF2, deeper_explain, validation.when, data=25,50,75,100, or any setting.",
        ),
    ],
    name: Annotated[str | None, typer.Option(help="Name of the ablation and of its folder in the workspace.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a setting in all; repeatable.")
    ] = None,
    workspace: OwnWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Run variants of one configuration and compare them; the same command again goes on where it was stopped."""
    plan = plan_ablation(config, over, name=name, settings=set_ or (), workspace=workspace)
    notes = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)

    def starting(run: str, finished: bool) -> None:
        notes.print(f"{run}: {'finished before' if finished else 'running'}")

    with live(notes) as listener:
        found, files = run_ablation(plan, listener=listener, starting=starting)
    typer.echo(found.model_dump_json(indent=2) if as_json else ablation_text(found))
    notes.print(f"table: {files['markdown']}")
    notes.print(f"for analyse, report and library of its runs: -w {shlex.quote(str(plan.folder))}")
    if any(v.state == "budget" for v in found.variants):
        notes.print("inconclusive: a variant reached its budget; give more with --set budget.calls=N, and run again")
        raise typer.Exit(4)
