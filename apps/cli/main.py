"""The command `biasscope`."""

import sys

import typer
from rich.console import Console

from ... import __version__
from ...core.errors import BiasScopeError
from ...core.visible import visible
from ...runs.tracing import start_tracing
from .lazy import Entry, lazy

_INTERRUPTED = 130
COMMANDS = {
    "discover": Entry(".discover:discover", "Find the biases of a judge."),
    "resume": Entry(".discover:resume", "Go on with a run that was stopped, ran out of budget or waits."),
    "status": Entry(".runs:status", "Where a run is: stage, items, failures, cost."),
    "report": Entry(".runs:report", "Write the report of a run from its store."),
    "review": Entry(".review:review", "Look at runs in a browser, and decide."),
    "card": Entry(".card:card", "All that is known about a judge, on one page."),
    "doctor": Entry(".doctor:doctor", "Check every configured model with one small call each."),
    "plan": Entry(".plan:plan", "Calls, tokens, cost and time by stage, from a small real run."),
    "ablate": Entry(".ablate:ablate", "Run variants of one configuration and compare them."),
    "mitigate": Entry(".mitigate:mitigate", "Compare a judge before and after what should cure it."),
    "augment": Entry(".dpo:augment", "Training pairs with negatives that show biases."),
    "gate": Entry(".gate:gate", "Whether a judge is within limits on a frozen test set."),
    "transfer": Entry(".transfer:transfer", "One frozen library on several judges, and who shares which bias."),
    "selftest": Entry(".selftest:run_selftest", "Discovery on a world with planted biases, scored."),
    "audit": Entry(".audit:app", "Controlled audits of a judge."),
    "benchmark": Entry(".benchmark:app", "Hard benchmarks from validated biases."),
    "world": Entry(".world:app", "Simulated judges with planted biases."),
    "runs": Entry(".runs:app", "The runs of a workspace."),
    "analyse": Entry(".analyse:app", "Reliability analyses of finished runs."),
    "library": Entry(".library:app", "The biases of a run: look, decide, take in and out."),
    "reviewers": Entry(".review:app", "Who may use the review app of a workspace."),
    "judge": Entry(".judge:app", "The judge by itself: try it, measure how reliable it is."),
    "data": Entry(".data:app", "Preference data."),
    "features": Entry(".features:app", "Text features that judges may reward."),
    "dpo": Entry(".dpo:app", "DPO data from validated biases."),
    "train": Entry(".train:app", "Train judges and scorers (extra `train`)."),
}
app = typer.Typer(
    name="biasscope",
    cls=lazy(COMMANDS),
    help="Find out what fools your LLM judge.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    rich_markup_mode=None,
)


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
        _say_stopped()
        sys.exit(_INTERRUPTED)
    except SystemExit as end:
        if end.code == _INTERRUPTED:  # the command framework makes this of an interrupt
            _say_stopped()
        raise


def _say_stopped() -> None:
    Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(f"biasscope: {_stopped()}")


def _stopped() -> str:
    jobs = sys.modules.get("biasscope.runs.jobs")
    folders = [folder for folder in (jobs.interrupted if jobs else ()) if folder.config.is_file()]
    if not folders:
        return "stopped"
    return f"stopped; what was paid for is kept: `{folders[-1].resume_command}` goes on"
