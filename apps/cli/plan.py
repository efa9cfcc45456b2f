"""`biasscope plan`: what a run will take, before it is paid for."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...core.errors import ConfigError
from ...runs.config import load_config
from ...runs.jobs import settle_models
from ...runs.plan import NEW_BIASES, PROBE_PAIRS, make_plan
from ...runs.planned import Plan, Span, StagePlan, save_plan
from .options import AsJson, Settings
from .starting import say


def plan(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.yaml", help="Configuration of the run.")],
    set_: Settings = None,
    probe: Annotated[int, typer.Option(help="Pairs of the small run that is measured.")] = PROBE_PAIRS,
    new_biases: Annotated[
        str, typer.Option(metavar="LOW-HIGH", help="Biases expected to be tested beyond those given.")
    ] = f"{NEW_BIASES[0]}-{NEW_BIASES[1]}",
    as_json: AsJson = False,
) -> None:
    """Calls, tokens, cost and time by stage, from a small real run. The report compares them with the outcome."""
    made, _ = settle_models(load_config(config, set_ or ()))
    found = make_plan(made, probe_pairs=probe, new_biases=_range(new_biases))
    path = save_plan(made, found)
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
        return
    console = Console()
    table = Table("stage", "role", "calls", "prompt tokens", "answer tokens", "cost", "time")
    for line in (*found.stages, found.total):
        table.add_row(*(Text(cell) for cell in _cells(line)))
    console.print(table)
    for sentence in _sentences(found):
        say(console, sentence)
    say(console, f"kept in {path}")


def _range(text: str) -> tuple[int, int]:
    low, dash, high = text.partition("-")
    if not (low.isdigit() and (high.isdigit() or not dash)):
        raise ConfigError(f"--new-biases {text!r}: write the fewest and the most, such as 5-20")
    return int(low), int(high or low)


def _cells(line: StagePlan) -> tuple[str, ...]:
    return (
        line.stage,
        line.role,
        _shown(line.calls),
        _shown(line.prompt_tokens),
        _shown(line.completion_tokens),
        "-" if line.cost is None else f"{line.cost.low:.2f} to {line.cost.high:.2f}",
        f"{_time(line.seconds.low)} to {_time(line.seconds.high)}",
    )


def _shown(span: Span) -> str:
    return f"{span.low:,.0f} to {span.high:,.0f}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _sentences(found: Plan) -> tuple[str, ...]:
    low, high = found.new_biases
    return (
        f"measured on {found.probe_pairs} pairs with {found.probe_calls} calls; scaled to {found.target_pairs} target "
        f"pairs, {found.search_pairs} test pairs and {found.confirm_pairs} for confirmation",
        f"assumed: {low} to {high} biases are tested beyond those given (--new-biases), each on about a third to all "
        "of the test pairs; none to all of them reach confirmation",
    )
