"""The command `biasscope`."""

import sys

import typer
from rich.console import Console

from ... import __version__
from ...core.errors import BiasScopeError
from ...core.visible import visible
from ...runs.audits.profile import report_profile
from ...runs.audits.self_preference_job import report_self_preference
from ...runs.audits.taxonomy_job import report_taxonomy
from ...runs.tracing import start_tracing
from . import (
    ablate,
    analyse,
    audit,
    benchmark,
    card,
    data,
    discover,
    doctor,
    dpo,
    features,
    gate,
    judge,
    judge_profile,
    library,
    mitigate,
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
app.command("card")(card.card)
app.command("doctor")(doctor.doctor)
app.command("plan")(plan.plan)
app.command("ablate")(ablate.ablate)
app.command("mitigate")(mitigate.mitigate)
app.command("augment")(dpo.augment)
app.command("gate")(gate.gate)
app.command("selftest")(selftest.run_selftest)
app.add_typer(audit.app, name="audit")
app.add_typer(benchmark.app, name="benchmark")
app.add_typer(world.app, name="world")
app.add_typer(runs.app, name="runs")
app.add_typer(analyse.app, name="analyse")
app.add_typer(library.app, name="library")
app.add_typer(review.app, name="reviewers")
app.add_typer(judge.app, name="judge")
app.add_typer(data.app, name="data")
app.add_typer(features.app, name="features")
app.add_typer(dpo.app, name="dpo")
app.add_typer(train.app, name="train")

discover.CONTINUE |= {"benchmark": benchmark.resume_build, "evaluation": benchmark.resume_evaluation}
discover.CONTINUE |= {"dpo": dpo.resume_dpo, "augment": dpo.resume_augment, "treatment": mitigate.resume_treatments}
discover.CONTINUE |= {"gate": gate.continue_gate, "profile": judge_profile.continue_profile}
discover.CONTINUE |= {"taxonomy": audit.continue_taxonomy, "self-preference": audit.continue_self_preference}
runs.REPORTS |= {"taxonomy": report_taxonomy, "self-preference": report_self_preference, "profile": report_profile}


@app.callback(invoke_without_command=True)
def _root(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    if version:
        typer.echo(f"biasscope {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command; errors of ours end in one line and their exit code."""
    try:
        start_tracing()
        app()
    except BiasScopeError as error:
        said = " ".join(visible(str(error)).split())
        Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(f"biasscope: {said}")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        Console(stderr=True).print("biasscope: stopped; what was paid for is kept: `biasscope resume latest` goes on")
        sys.exit(130)
