"""`biasscope selftest`: does discovery find what was planted, and only that?"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...runs.selftest import LARGE, Rate, Score, as_json, selftest, summarise_scores
from ...simulation.world import load_world
from .options import Settings


def run_selftest(
    world: Annotated[str, typer.Option(metavar="NAME|FILE", help="A shipped world's name or a YAML file.")] = "easy",
    profile: Annotated[str, typer.Option(help="rigorous or paper.")] = "rigorous",
    seeds: Annotated[int, typer.Option(min=1, help="How many runs, each on another draw of the world.")] = 1,
    first_seed: Annotated[int, typer.Option(help="The first seed; the others follow.")] = 1,
    target_pairs: Annotated[int, typer.Option(min=2, help="Pairs to search for biases on.")] = 300,
    test_pairs: Annotated[int, typer.Option(min=2, help="Pairs to validate and confirm them on.")] = 450,
    set_: Settings = None,
    workspace: Annotated[
        Path | None, typer.Option("--workspace", "-w", help="Keep the runs there; discarded when left out.")
    ] = None,
    as_json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Discovery on a world with planted biases: recall, precision, false discoveries and cost."""
    progress = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    scores = selftest(
        load_world(world),
        seeds=range(first_seed, first_seed + seeds),
        profile=profile,
        target_pairs=target_pairs,
        test_pairs=test_pairs,
        settings=set_ or (),
        workspace=workspace,
        tell=lambda score: progress.print(f"seed {score.seed}: {score.seconds:.0f} s, {score.calls} calls"),
    )
    if as_json_:
        typer.echo(json.dumps(as_json(scores), indent=2, ensure_ascii=False))
    else:
        show(Console(), scores)


def show(console: Console, scores: Sequence[Score]) -> None:
    """The tables: by seed, pooled, by strength, and what was missed or wrongly reported."""
    table = Table(
        "seed",
        f"found of >= {LARGE:g} points",
        "right of validated",
        "right of confirmed",
        "false",
        "rounds",
        "calls",
        "tokens",
        title=f"{scores[0].world}, {scores[0].profile}",
    )
    for s in scores:
        confirmed = [r for r in s.reported if r.confirmed]
        table.add_row(
            str(s.seed),
            f"{sum(p.found for p in s.large)}/{len(s.large)}",
            f"{sum(r.true for r in s.reported)}/{len(s.reported)}",
            f"{sum(r.true for r in confirmed)}/{len(confirmed)}" if s.confirms else "-",
            str(len(s.false)),
            str(s.rounds),
            f"{s.calls:,}",
            f"{s.tokens:,}",
        )
    console.print(table)
    total = summarise_scores(scores)
    pooled = Table("pooled", "share", "95 % interval")
    rows = [
        (f"recall of planted biases of {LARGE:g} points or more", total.recall),
        ("the same, confirmed", total.recall_confirmed),
        ("precision", total.precision),
        ("the same, confirmed", total.precision_confirmed),
        ("runs without a false discovery", total.clean_runs),
    ]
    rows += [(f"recall of {low:g} to {high:g} points", rate) for low, high, rate in total.by_band if rate.n]
    for name, rate in rows:
        pooled.add_row(name, *_cells(rate))
    console.print(pooled)
    for s in scores:
        for p in s.planted:
            if not p.found and p.effect >= LARGE:
                _line(console, f"seed {s.seed} missed {p.feature} ({p.effect:.1f} points): {p.fate}")
        for r in s.false:
            _line(console, f"seed {s.seed} false: {r.name!r}, which means {r.feature or 'nothing in this world'}")
    _line(console, f"per run: {total.calls:,.0f} calls, {total.tokens:,.0f} tokens, {total.seconds:.0f} s")


def _cells(rate: Rate) -> tuple[str, str]:
    if rate.share is None:
        return "-", ""
    return f"{rate.hits}/{rate.n} = {rate.share:.2f}", f"{rate.low:.2f} to {rate.high:.2f}"


def _line(console: Console, text: str) -> None:
    console.print(Text(text))
