"""`biasscope gate`: whether a judge may be used, for CI. Its exit codes are its own: 0, 1, 2 and 3."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markdown import Markdown

from ...audits.gate import GateReport
from ...audits.gate_text import HEADLINES, broken_junit, broken_markdown, gate_markdown
from ...core.errors import BiasScopeError, ConfigError
from ...runs.audits.gate import JUNIT, REPLAY, REPORT, SUMMARY, GateConfig, check_gate, run_gate
from ...runs.config import load_config
from ...runs.folder import RunFolder
from ...runs.jobs import JobOutcome
from .live import live
from .options import AsJson, OwnWorkspace, Settings
from .starting import say_safely, start

EXIT = {"pass": 0, "worse": 1, "inconclusive": 3}
COULD_NOT_RUN = 2


def gate(
    config: Annotated[Path | None, typer.Argument(metavar="[CONFIG.yaml]", help="Configuration of the gate.")] = None,
    judge: Annotated[str | None, typer.Option(metavar="REF", help="The judge: openai:MODEL[@URL], local:, ...")] = None,
    library: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Frozen test set, from `biasscope library freeze`.")
    ] = None,
    max_effect: Annotated[
        float | None, typer.Option(metavar="POINTS", help="Most that a bias may add to the error rate.")
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Replay of an earlier gate (--save) to compare with.")
    ] = None,
    max_change: Annotated[
        float | None, typer.Option(metavar="POINTS", help="Most that an effect may have grown since the baseline.")
    ] = None,
    level: Annotated[float | None, typer.Option(help="One minus the chance of a false answer; 0.95.")] = None,
    orders: Annotated[str | None, typer.Option(help="drawn or both; as at the baseline when left out.")] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write this replay there: the baseline of later gates.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML there.")] = None,
    summary: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a Markdown summary there.")] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the JSON report there.")] = None,
    set_: Settings = None,
    name: Annotated[str | None, typer.Option(help="Name of the run.")] = None,
    workspace: OwnWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Whether a judge is within limits on a frozen test set, and no worse than it was. For CI: exit code 0 pass,
    1 worse, 2 could not run, 3 inconclusive."""
    given: dict[str, Any] = {
        "judge": judge,
        "library": _text(library),
        "max_effect": max_effect,
        "baseline": _text(baseline),
        "max_change": max_change,
        "level": level,
        "orders": orders,
        "save": _text(save),
        "junit": _text(junit),
        "summary": _text(summary),
        "report": _text(report),
        "name": name,
        "workspace": _text(workspace),
    }

    places: dict[str, Path | None] = {JUNIT: junit, SUMMARY: summary}

    def run(console: Console) -> JobOutcome[GateReport]:
        if config is None and (judge is None or library is None):
            raise ConfigError("nothing to decide on: give --judge and --library, or a CONFIG.yaml")
        made = load_config(config, set_ or (), {k: v for k, v in given.items() if v is not None}, kind=GateConfig)
        places.update({JUNIT: made.junit, SUMMARY: made.summary})
        check_gate(made)
        return start(made, console, lambda folder: _drive(folder, console))

    _decide(run, as_json, places)


def continue_gate(folder: RunFolder) -> None:
    """`biasscope resume` for a gate."""
    config = load_config(folder.config, kind=GateConfig)
    _decide(lambda console: _drive(folder, console), False, {JUNIT: config.junit, SUMMARY: config.summary})


def _drive(folder: RunFolder, console: Console) -> JobOutcome[GateReport]:
    with live(console) as listener:
        return run_gate(folder, listener)


def _decide(run: Callable[[Console], JobOutcome[GateReport]], as_json: bool, places: dict[str, Path | None]) -> None:
    """Whatever goes wrong is `could not run`: a broken gate must never look like a worse judge."""
    console = Console(stderr=as_json)
    try:
        outcome = run(console)
    except BiasScopeError as error:
        _could_not_run(str(error), places)
    except Exception as error:
        _could_not_run(f"{type(error).__name__}: {error}", places)
    if outcome.result is None:
        _could_not_run(f"{outcome.reason} (`{outcome.folder.resume_command}` goes on)", places)
    _show(outcome, outcome.result, as_json, console)


def _show(outcome: JobOutcome[GateReport], report: GateReport, as_json: bool, console: Console) -> None:
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        console.print(Markdown(gate_markdown(report)))
    say_safely(console, f"gate {HEADLINES[report.standing]}")
    for name in (REPORT, SUMMARY, JUNIT, REPLAY):
        say_safely(console, f"{name}: {outcome.folder.path / name}")
    raise typer.Exit(EXIT[report.standing])


def _could_not_run(reason: str, places: dict[str, Path | None]) -> NoReturn:
    Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(f"biasscope: {' '.join(reason.split())}")
    for name, text in ((JUNIT, broken_junit("", reason)), (SUMMARY, broken_markdown("", reason))):
        path = places[name]
        if path is not None and path.parent.is_dir() and not path.is_dir():
            path.write_text(text, encoding="utf-8")
    raise typer.Exit(COULD_NOT_RUN)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
