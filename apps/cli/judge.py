"""`biasscope judge`: the judge by itself, before anything is spent on an audit of it."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from ...agents.engines.gguf import resolve
from ...agents.engines.opening import open_engine
from ...agents.engines.reference import ModelSpec
from ...agents.judges.applies import left_out
from ...agents.judges.presets import PRESETS
from ...agents.judges.protocol import letter_of
from ...agents.judges.specs import JudgeSpec
from ...agents.judges.trying import Exchange, Overheard, Trial, try_judge
from ...core.calls import Model
from ...core.errors import CallFailed, ConfigError
from ...core.visible import percent, visible
from ...data.builtin import BUILTIN
from ...data.judgment_log import read_judgments
from ...data.log_accuracy import as_values, judge_accuracy
from ...data.sources import load
from ...data.spec import SourceSpec
from ...runs.config import SourceField, load_config
from . import judge_profile
from .options import AsJson, Settings
from .starting import say

app = typer.Typer(help="The judge by itself.", no_args_is_help=True)
app.command("profile")(judge_profile.profile_judge)
PAIRS = 3


class _Tried(BaseModel):
    """What is read of a configuration, of whatever kind of job."""

    model_config = ConfigDict(extra="ignore")

    judge: JudgeSpec
    target: SourceField | None = None
    source: SourceField | None = None
    data: SourceField | None = None

    @property
    def pairs(self) -> SourceSpec:
        """Where the job takes its pairs from, by the name that its kind has for them; built-in ones without any."""
        return self.target or self.source or self.data or SourceSpec(source=BUILTIN)


@app.command("try")
def try_(
    config: Annotated[
        Path | None,
        typer.Argument(metavar="[CONFIG.yaml]", help="A file with a section `judge`."),
    ] = None,
    judge: Annotated[str | None, typer.Option(metavar="REF", help="The judge, by reference.")] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="SOURCE",
            help="The pairs: a file, a hub data set or `builtin`; those of CONFIG.yaml when left out.",
        ),
    ] = None,
    pairs: Annotated[int, typer.Option(min=1, max=100, help="How many pairs.")] = PAIRS,
    full: Annotated[bool, typer.Option("--full", help="Whole texts; else 1,500 characters of each.")] = False,
    set_: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Run the judge on three pairs and show prompt, raw output and what is read from it, in both orders."""
    if config is None and judge is None and not set_:
        raise ConfigError("no judge: give a CONFIG.yaml with a section `judge`, or --judge REF")
    given = {} if judge is None else {"judge": judge}
    read = load_config(config, tuple(set_ or ()), given, kind=_Tried)
    wanted = SourceSpec(source=source) if source else read.pairs
    chosen = load(wanted.model_copy(update={"limit": pairs})).pairs
    name, notes, trials = asyncio.run(_tried(read.judge, chosen))
    if as_json:
        told = {
            "judge": name,
            "data": wanted.source,
            "left_out": notes,
            "trials": [_as_json(trial) for trial in trials],
        }
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
    else:
        _show(Console(), f"{name}, on pairs of {wanted.source}", notes, trials, None if full else 1500)
    if all(not isinstance(t.ruling, CallFailed) and t.ruling.verdict == "invalid" for t in trials) or all(
        isinstance(t.ruling, CallFailed) for t in trials
    ):
        raise typer.Exit(3)


@app.command()
def presets() -> None:
    """The judging prompts with the output conventions of well-known judges."""
    table = Table("preset", "kind", "what it replies with")
    for name, preset in PRESETS.items():
        table.add_row(name, " or ".join(preset.readers), Text(preset.about))
    Console().print(table)


@app.command()
def accuracy(
    log: Annotated[Path, typer.Argument(help="Verdicts given elsewhere: .jsonl, .jsonl.gz, .csv or .parquet.")],
    source: Annotated[
        str | None, typer.Option("--data", metavar="SOURCE", help="The pairs that were judged, found by their ids.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read a log of verdicts as judgments and count them for each judge: right, wrong, ties, unreadable."""
    known = load(SourceSpec(source=source)).pairs if source else ()
    read = read_judgments(log, run_id="log", pairs=known)
    rows = judge_accuracy(read)
    if as_json:
        typer.echo(json.dumps([as_values(row) for row in rows], indent=2, ensure_ascii=False))
        return
    table = Table(Column("judge", overflow="fold"), Column("domain", overflow="fold"), box=None)
    for name in ("verdicts", "right", "ties", "unread", "accuracy", "right twice", "same twice"):
        table.add_column(name, justify="right")
    for row in rows:
        cells = (
            row.judge,
            row.domain,
            f"{row.verdicts:,}",
            f"{row.right:,}",
            f"{row.ties:,}",
            f"{row.unreadable:,}",
            percent(row.accuracy),
            percent(row.both_right / row.labelled_both if row.labelled_both else None),
            percent(row.same / row.both_orders if row.both_orders else None),
        )
        table.add_row(*(Text(visible(cell)) for cell in cells))
    console = Console()
    console.print(table)
    say(console, "in percent; ties and unreadable verdicts are not right; twice: in both orders")
    if read.unlabelled:
        say(console, f"{len(read.unlabelled):,} pairs have no known better answer and count for consistency only")


async def _tried(spec: Any, pairs: Any) -> tuple[str, tuple[str, ...], list[Trial]]:
    heard: list[Exchange] = []
    models: list[Model] = []

    def open_model(model: ModelSpec) -> Model:
        models.append(Overheard(open_engine(resolve(model).spec, run_id="try"), heard))
        return models[-1]

    try:
        judge = spec.open(open_model, "try")
        return judge.name, left_out(judge), await try_judge(judge, heard, pairs)
    finally:
        for opened in models:
            await opened.aclose()


def _show(console: Console, name: str, notes: tuple[str, ...], trials: list[Trial], most: int | None) -> None:
    say(console, f"judge: {visible(name)}")
    for note in notes:
        say(console, f"note: {note}")
    for trial in trials:
        say(
            console,
            f"\n=== pair {trial.pair.id[:12]} ({visible(trial.pair.domain)}), {trial.order.replace('_', ' ')} ===",
        )
        for number, exchange in enumerate(trial.exchanges, 1):
            said = f" {number} of {len(trial.exchanges)}" if len(trial.exchanges) > 1 else ""
            for message in exchange.request.messages:
                say(console, f"--- asked{said}, {message.role}:\n{_cut(message.content, most)}")
            reply = exchange.reply
            if isinstance(reply, CallFailed):
                say(console, f"--- no reply{said}: {visible(str(reply))}")
                if reply.raw:
                    say(console, _cut(reply.raw, most))
            else:
                say(console, f"--- replied{said}:\n{_cut(reply.text, most)}")
        say(console, f"--- read: {'; '.join(_read(trial))}")
    say(console, f"\n{_summary(trials)}")


def _read(trial: Trial) -> Iterator[str]:
    ruling = trial.ruling
    if isinstance(ruling, CallFailed):
        yield f"nothing, the call failed ({ruling.kind})"
        return
    letter = letter_of(ruling.verdict, trial.order)
    yield f"{ruling.verdict}" + (f" (answer {letter})" if letter in ("A", "B") else "")
    if ruling.verdict == "invalid" and ruling.unread:
        yield visible(ruling.unread)
    for name in ("p_rejected", "tie_mass", "score_chosen", "score_rejected"):
        if (value := getattr(ruling, name)) is not None:
            yield f"{name} {value:.4g}"


def _summary(trials: list[Trial]) -> str:
    rulings = [t.ruling for t in trials]
    counts = {
        name: sum(not isinstance(r, CallFailed) and r.verdict == name for r in rulings)
        for name in ("chosen", "rejected", "tie", "invalid")
    }
    failed = sum(isinstance(r, CallFailed) for r in rulings)
    parts = [f"{n} {name}" for name, n in counts.items() if n] + ([f"{failed} failed"] if failed else [])
    return f"{len(trials)} verdicts: {', '.join(parts)}"


def _cut(text: str, most: int | None) -> str:
    shown = visible(text)
    if most is None or len(shown) <= most:
        return shown
    return (
        f"{shown[: most // 2]}\n[... {len(shown) - most:,} characters, --full shows them ...]\n{shown[-(most // 2) :]}"
    )


def _as_json(trial: Trial) -> dict[str, Any]:
    ruling = trial.ruling
    return {
        "pair_id": trial.pair.id,
        "order": trial.order,
        "exchanges": [
            {
                "messages": [message.model_dump() for message in exchange.request.messages],
                "reply": None if isinstance(exchange.reply, CallFailed) else exchange.reply.text,
                "failed": str(exchange.reply) if isinstance(exchange.reply, CallFailed) else "",
            }
            for exchange in trial.exchanges
        ],
        "ruling": None if isinstance(ruling, CallFailed) else ruling._asdict(),
        "failed": str(ruling) if isinstance(ruling, CallFailed) else "",
    }
