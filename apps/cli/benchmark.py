"""`biasscope benchmark`: build, annotate, finalize, evaluate."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...builders.benchmark.funnel import STEP_NAMES, Funnel
from ...builders.benchmark.scores import Evaluation, Figure
from ...core.errors import ConfigError
from ...core.ids import canonical_json
from ...core.visible import one_line
from ...data.push import push_folder
from ...runs.benchmark import BenchmarkConfig, left_out_rows, run_build, stored_funnel
from ...runs.benchmark_evaluation import Evaluated, EvaluationConfig, run_evaluation
from ...runs.benchmark_final import FINAL, finalise_run
from ...runs.config import load_config
from ...runs.folder import RunFolder, find_run
from ...runs.jobs import JobOutcome
from . import annotate
from .live import live
from .opened import opened_store
from .options import DEFAULT_WORKSPACE, AsJson, OwnWorkspace, Settings, Workspace
from .starting import say_safely, start, stop_inconclusive

app = typer.Typer(no_args_is_help=True, help="Hard benchmarks from validated biases.")
app.add_typer(annotate.app, name="annotate")

Benchmark = Annotated[str, typer.Argument(metavar="RUN", help="Name or folder of a benchmark's run, or `latest`.")]


@app.command("build")
def build(
    config: Annotated[Path | None, typer.Argument(metavar="[CONFIG.yaml]", help="Configuration.")] = None,
    set_: Settings = None,
    source: Annotated[str | None, typer.Option(metavar="SOURCE", help="File, hub data set or `builtin`.")] = None,
    library: Annotated[
        str | None, typer.Option(help="A run, a library file, `seeds`, `features` or `taxonomy`: where biases are.")
    ] = None,
    bias: Annotated[
        list[str] | None, typer.Option(help="Bias to use, by name or id; repeatable. All validated ones without.")
    ] = None,
    teacher: Annotated[str | None, typer.Option(metavar="REF", help="Model that writes the biases in.")] = None,
    judge: Annotated[list[str] | None, typer.Option(metavar="REF", help="Judge of the filter; repeatable.")] = None,
    panel: Annotated[
        list[str] | None, typer.Option(metavar="REF", help="Model that compares final answers; repeatable.")
    ] = None,
    variants: Annotated[int | None, typer.Option(help="Biases for every source pair.")] = None,
    limit: Annotated[int | None, typer.Option(help="Most source pairs, stratified by domain.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything that is drawn.")] = None,
    workspace: OwnWorkspace = None,
) -> None:
    """Write biases into source pairs, keep what misleads the filter judges in both orders and has another answer."""
    given: dict[str, Any] = {
        "source": source,
        "library": library,
        "biases": bias,
        "teacher": teacher,
        "judges": judge,
        "panel": panel,
        "variants": variants,
        "source.limit": limit,
        "name": name,
        "seed": seed,
        "workspace": str(workspace) if workspace else None,
    }
    if config is None and not (source and teacher and judge):
        raise ConfigError("nothing to build: give a CONFIG.yaml, or --source, --teacher and --judge")
    start(load_config(config, set_ or (), _there(given), kind=BenchmarkConfig), Console(), resume_build)


def resume_build(folder: RunFolder) -> None:
    """Build, or go on building, and say what came of it."""
    console = Console()
    with live(console) as listener:
        outcome = run_build(folder, listener)
    _stop_at_budget(console, outcome)
    if outcome.result is not None:
        _show_funnel(console, outcome.result)
        say_safely(console, f"next: {folder.command('benchmark annotate export', '--annotator NAME')}")


@app.command("show")
def show(
    run: Benchmark = "latest",
    drops: Annotated[
        bool, typer.Option("--drops", help="One JSON line for every variant that was left out, with its reason.")
    ] = False,
    as_json: AsJson = False,
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> None:
    """The funnel: how many variants came how far, and why the others did not."""
    with opened_store(run, workspace, "benchmark") as (store, run_id):
        funnel = stored_funnel(store, run_id)
        left_out = left_out_rows(store, run_id) if drops else []
    if drops:
        for row in left_out:
            typer.echo(canonical_json(row))
    elif as_json:
        typer.echo(funnel.model_dump_json(indent=2))
    else:
        _show_funnel(Console(), funnel)


@app.command("finalize")
def finalize(
    run: Benchmark = "latest",
    without_people: Annotated[
        bool, typer.Option("--without-people", help="Do not wait for people; the card then says not human-verified.")
    ] = False,
    push_to: Annotated[
        str | None, typer.Option("--push", metavar="OWNER/NAME", help="Upload to the hub as a private data set.")
    ] = None,
    public: Annotated[bool, typer.Option("--public", help="Make the pushed data set public.")] = False,
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> None:
    """Write the final set: parquet, JSON lines, card, Croissant, guidelines and labels."""
    folder = find_run(run, workspace, kind="benchmark")
    console = Console()
    done = finalise_run(folder, without_people=without_people)
    verified = "human-verified" if done.final.human_verified else "not human-verified"
    reasons = Counter(drop.reason for drop in done.final.drops)
    why = f" ({', '.join(f'{count} {reason}' for reason, count in reasons.items())})" if reasons else ""
    say_safely(console, f"{done.items} items, {verified}, {reasons.total()} left out{why}, in {done.folder}")
    for warning in done.warnings:
        say_safely(console, f"warning: {warning}")
    if push_to:
        say_safely(console, f"pushed to {push_folder(folder.path / FINAL, push_to, private=not public)}")


@app.command("evaluate")
def evaluate(
    benchmark: Annotated[
        str | None, typer.Argument(metavar="[BENCHMARK]", help="Folder or file of a finished benchmark, or its run.")
    ] = None,
    judge: Annotated[list[str] | None, typer.Option(metavar="REF", help="Judge to evaluate; repeatable.")] = None,
    config: Annotated[Path | None, typer.Option(metavar="CONFIG.yaml", help="Configuration.")] = None,
    set_: Settings = None,
    items: Annotated[int | None, typer.Option(help="Most items.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run.")] = None,
    workspace: OwnWorkspace = None,
) -> None:
    """Judges on a benchmark and on its source pairs, in both orders: leaderboard, domains, biases, difference plot."""
    if config is None and not (benchmark and judge):
        raise ConfigError("nothing to evaluate: give a BENCHMARK and --judge, or --config CONFIG.yaml")
    given = {
        "benchmark": benchmark,
        "judges": judge,
        "items": items,
        "name": name,
        "workspace": str(workspace) if workspace else None,
    }
    start(load_config(config, set_ or (), _there(given), kind=EvaluationConfig), Console(), resume_evaluation)


def resume_evaluation(folder: RunFolder) -> None:
    """Evaluate, or go on with it, and show the leaderboard."""
    console = Console()
    with live(console) as listener:
        outcome: JobOutcome[Evaluated] = run_evaluation(folder, listener)
    _stop_at_budget(console, outcome)
    if outcome.result is not None:
        console.print(_leaderboard(outcome.result.evaluation))
        if any(score.chose_items for score in outcome.result.evaluation.judges):
            say_safely(
                console, "† the items were chosen because this judge erred on them: not comparable with the others"
            )
        say_safely(console, f"page: {outcome.result.files['markdown']}")


def _leaderboard(found: Evaluation) -> Table:
    table = Table("judge", "error", "95 %", "on source pairs", "difference", "95 %", "wrong in both", "no verdict")
    for score in found.judges:
        overall = score.overall
        silent = sum(n for name, n in score.verdicts.items() if name not in ("chosen", "rejected"))
        cells = (
            one_line(score.judge, 60) + (" †" if score.chose_items else ""),
            _percent(overall.error.value),
            _span(overall.error),
            _percent(overall.source.value),
            "-" if overall.difference.value is None else f"{100 * overall.difference.value:+.1f}",
            _span(overall.difference),
            _percent(score.wrong_in_both),
            str(silent),
        )
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _show_funnel(console: Console, funnel: Funnel) -> None:
    table = Table("step", "left over", "left out, and why")
    table.add_row("source pairs", str(funnel.pairs), "")
    table.add_row("variants planned", str(funnel.steps[0].before), "")
    for step in funnel.steps:
        why = ", ".join(f"{count} {reason}" for reason, count in step.reasons.items())
        table.add_row(Text(STEP_NAMES.get(step.name, step.name)), str(step.after), Text(why))
    console.print(table)


def _stop_at_budget(console: Console, outcome: JobOutcome[Any]) -> None:
    if outcome.state == "budget":
        stop_inconclusive(console, outcome.folder, outcome.reason)


def _there(given: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if value is not None and value != []}


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _span(figure: Figure) -> str:
    return "-" if figure.value is None else f"{100 * figure.low:.1f} to {100 * figure.high:.1f}"
