"""The command `biasscope`."""

import sys

import typer
from rich.console import Console

from ... import __version__
from ...core.errors import BiasScopeError
from . import (
    ablate,
    analyse,
    benchmark,
    data,
    discover,
    doctor,
    features,
    judge,
    library,
    plan,
    review,
    runs,
    selftest,
    train,
    world,
)

app = typer.Typer(
    name="biasscope",
    help="Find out what fools your LLM judge.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    rich_markup_mode=None,
)
app.command("discover")(discover.discover)
app.command("resume")(discover.resume)
app.command("status")(runs.status)
app.command("report")(runs.report)
app.command("review")(review.review)
app.command("doctor")(doctor.doctor)
app.command("plan")(plan.plan)
app.command("ablate")(ablate.ablate)
app.command("selftest")(selftest.run_selftest)
app.add_typer(benchmark.app, name="benchmark")
app.add_typer(world.app, name="world")
app.add_typer(runs.app, name="runs")
app.add_typer(analyse.app, name="analyse")
app.add_typer(library.app, name="library")
app.add_typer(review.app, name="reviewers")
app.add_typer(judge.app, name="judge")
app.add_typer(data.app, name="data")
app.add_typer(features.app, name="features")
app.add_typer(train.app, name="train")

discover.CONTINUE |= {"benchmark": benchmark.resume_build, "evaluation": benchmark.resume_evaluation}


@app.callback(invoke_without_command=True)
def _root(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    if version:
        typer.echo(f"biasscope {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command; errors of ours end in one line and their exit code."""
    try:
        app()
    except BiasScopeError as error:
        Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(f"biasscope: {error}")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        Console(stderr=True).print("biasscope: stopped; what was paid for is kept: `biasscope resume latest` goes on")
        sys.exit(130)
