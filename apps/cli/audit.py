"""`biasscope audit`: the twelve-bias taxonomy, and self-preference."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...core.errors import ConfigError
from ...core.visible import one_line
from ...runs.audits.page import Table as PageTable
from ...runs.audits.self_preference import SelfPreferenceConfig, SelfPreferenceReport
from ...runs.audits.self_preference_job import run_self_preference
from ...runs.audits.self_preference_page import self_preference_page, self_preference_warnings
from ...runs.audits.self_preference_tables import estimates_table
from ...runs.audits.taxonomy import TaxonomyConfig, TaxonomyReport
from ...runs.audits.taxonomy_job import run_taxonomy
from ...runs.audits.taxonomy_page import taxonomy_page, taxonomy_warnings
from ...runs.audits.taxonomy_tables import bias_table
from ...runs.config import JobConfig, load_config
from ...runs.folder import RunFolder
from ...runs.jobs import JobOutcome, Listener
from .live import live
from .options import OwnWorkspace, Settings
from .starting import result_of, say_safely, start

app = typer.Typer(help="Controlled audits of a judge.", no_args_is_help=True)
C = TypeVar("C", bound=JobConfig)
R = TypeVar("R")

ConfigFile = Annotated[Path | None, typer.Argument(metavar="[CONFIG.yaml]", help="Configuration of the audit.")]
Reference = Annotated[str | None, typer.Option(metavar="REF", help="openai:MODEL[@URL], local:, local:/path/x.gguf")]
Source = Annotated[str | None, typer.Option(metavar="SOURCE", help="File, hub data set or `builtin`.")]
Name = Annotated[str | None, typer.Option(help="Name of the audit's run.")]
Seed = Annotated[int | None, typer.Option(help="Seed of everything that is drawn.")]


@app.command("taxonomy")
def taxonomy(
    config: ConfigFile = None,
    set_: Settings = None,
    judge: Reference = None,
    data: Source = None,
    suite: Annotated[
        str | None, typer.Option(metavar="SOURCE", help="A suite in JudgeBiasBench's format, in place of --data.")
    ] = None,
    teacher: Annotated[
        str | None, typer.Option(metavar="REF", help="Who writes the biases in: a model, or `rules` (default).")
    ] = None,
    verifier: Reference = None,
    biases: Annotated[
        list[str] | None, typer.Option("--bias", help="A bias by name, `twelve`, `identities` or `all`; repeatable.")
    ] = None,
    pairs: Annotated[int | None, typer.Option(help="Pairs drawn for each bias.")] = None,
    orders: Annotated[str | None, typer.Option(help="one (default) or both.")] = None,
    controls: Annotated[str | None, typer.Option(help="cues (default), all or off.")] = None,
    limit: Annotated[int | None, typer.Option(help="Most pairs read from --data, stratified by domain.")] = None,
    name: Name = None,
    seed: Seed = None,
    workspace: OwnWorkspace = None,
) -> None:
    """How often each of twelve biases turns a judge's right verdicts wrong (JudgeBiasBench)."""
    given: dict[str, Any] = {
        "judge": judge,
        "data": data,
        "suite": suite,
        "teacher": teacher,
        "verifier": verifier,
        "biases": biases or None,
        "pairs": pairs,
        "orders": orders,
        "controls": controls,
        "data.limit": limit,
        "name": name,
        "seed": seed,
        "workspace": str(workspace) if workspace else None,
    }
    if limit is not None and data is None and config is None:
        raise ConfigError("--limit is about --data: give that too, or leave it out")
    made = _configuration(config, set_ or (), given, TaxonomyConfig)
    _show_taxonomy(_start(made, run_taxonomy))


@app.command("self-preference")
def self_preference(
    config: ConfigFile = None,
    set_: Settings = None,
    judge: Reference = None,
    answers: Annotated[
        str | None, typer.Option(metavar="SOURCE", help="Answers of several models to the same prompts.")
    ] = None,
    own: Annotated[str | None, typer.Option(metavar="AUTHOR", help="Author in the answers that is the judge.")] = None,
    others: Annotated[
        list[str] | None,
        typer.Option("--other", metavar="AUTHOR", help="Author to compare with; repeatable."),
    ] = None,
    authors: Annotated[
        list[str] | None, typer.Option("--author", metavar="REF", help="A model that answers the prompts; repeatable.")
    ] = None,
    panel: Annotated[
        list[str] | None, typer.Option("--panel", metavar="REF", help="A model that grades the answers; repeatable.")
    ] = None,
    pairs: Annotated[int | None, typer.Option(help="Own-other pairs.")] = None,
    delta: Annotated[float | None, typer.Option(help="Largest quality difference of an equal-quality pair.")] = None,
    baseline: Annotated[str | None, typer.Option(help="equal (default), all or off.")] = None,
    limit: Annotated[int | None, typer.Option(help="Most prompts read from --answers, by seed.")] = None,
    name: Name = None,
    seed: Seed = None,
    workspace: OwnWorkspace = None,
) -> None:
    """Whether a judge favours its own answers where a panel finds no difference in quality."""
    given: dict[str, Any] = {
        "judge": judge,
        "answers": answers,
        "own": own,
        "others": others or None,
        "authors": authors or None,
        "panel": panel or None,
        "pairs": pairs,
        "delta": delta,
        "baseline": baseline,
        "answers.limit": limit,
        "name": name,
        "seed": seed,
        "workspace": str(workspace) if workspace else None,
    }
    if limit is not None and answers is None and config is None:
        raise ConfigError("--limit is about --answers: give that too, or leave it out")
    made = _configuration(config, set_ or (), given, SelfPreferenceConfig)
    _show_self_preference(_start(made, run_self_preference))


def continue_self_preference(folder: RunFolder) -> None:
    """`biasscope resume` for a self-preference audit."""
    with live(Console()) as listener:
        outcome = run_self_preference(folder, listener)
    _show_self_preference(outcome)


def continue_taxonomy(folder: RunFolder) -> None:
    """`biasscope resume` for a taxonomy audit."""
    with live(Console()) as listener:
        outcome = run_taxonomy(folder, listener)
    _show_taxonomy(outcome)


def _configuration(config: Path | None, settings: Sequence[str], given: dict[str, Any], kind: type[C]) -> C:
    if config is None and given["judge"] is None:
        raise ConfigError("nothing to audit: give a CONFIG.yaml, or --judge and what it is to judge (see --help)")
    return load_config(config, settings, {k: v for k, v in given.items() if v is not None}, kind=kind)


def _start(config: C, run: Callable[[RunFolder, Listener], JobOutcome[R]]) -> JobOutcome[R]:
    console = Console()

    def work(folder: RunFolder) -> JobOutcome[R]:
        with live(console) as listener:
            return run(folder, listener)

    return start(config, console, work)


def _show_taxonomy(outcome: JobOutcome[TaxonomyReport]) -> None:
    report = result_of(outcome, Console())
    page = taxonomy_page(report)
    keep = ("Bias", "Pairs", "BSR", "Drop, points", "Harms / repairs", "p corrected")
    _show(outcome, page.title, page.sentences, list(taxonomy_warnings(report.result)), bias_table(report.result), keep)


def _show_self_preference(outcome: JobOutcome[SelfPreferenceReport]) -> None:
    report = result_of(outcome, Console())
    page = self_preference_page(report)
    found = estimates_table(report.result)
    warnings = list(self_preference_warnings(report.result))
    _show(outcome, page.title, page.sentences, warnings, found, ("Estimate", "Value", "95 % interval", "Prompts"))


def _show(
    outcome: JobOutcome[Any],
    title: str,
    sentences: Sequence[str],
    warnings: Sequence[str],
    table: PageTable,
    keep: Sequence[str],
) -> None:
    console = Console()
    shown = Table(title=Text(one_line(title)), title_style="bold", box=box.SIMPLE_HEAD)
    at = [table.columns.index(column) for column in keep]
    for k, column in enumerate(keep):
        shown.add_column(column, justify="left" if k == 0 else "right")
    for cells in table.rows:
        shown.add_row(*(Text(one_line(cells[k].text, 60)) for k in at))
    console.print(shown)
    for line in (*sentences, *(f"note: {w}" for w in warnings), f"report: {outcome.folder.path / 'report.html'}"):
        say_safely(console, line)
