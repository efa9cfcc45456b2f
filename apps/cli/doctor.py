"""`biasscope doctor`: does every configured model answer, and what can it do."""

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...agents.engines.probe import ProbeReport, probe, probe_embedder
from ...agents.engines.reference import parse_reference
from ...core.errors import ConfigError
from ...runs.config import load_config
from .options import AsJson


def doctor(
    config: Annotated[Path | None, typer.Argument(metavar="[CONFIG.yaml]", help="Configuration of a run.")] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="REF", help="A model reference to check; repeatable.")
    ] = None,
    embedder: Annotated[list[str] | None, typer.Option(metavar="REF", help="An embedder to check; repeatable.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check every configured model with one small call each: reachable, schema, log-probabilities, context."""
    models: dict[str, Any] = {f"model {k}": parse_reference(ref) for k, ref in enumerate(model or (), 1)}
    embedders: dict[str, Any] = {f"embedder {k}": parse_reference(ref) for k, ref in enumerate(embedder or (), 1)}
    if config:
        made = load_config(config)
        models |= {"judge": made.judge, "teacher": made.teacher}
        if made.verifier:
            models["verifier"] = made.verifier
        embedders["embedder"] = made.embedder
    if not models and not embedders:
        raise ConfigError("nothing to check: give a CONFIG.yaml, --model REF or --embedder REF")
    reports = asyncio.run(_probe_all(models, embedders))
    if as_json:
        typer.echo(json.dumps({k: r.model_dump(mode="json") for k, r in reports.items()}, indent=2))
    else:
        table = Table("role", "model", "works", "what it says")
        for role, report in reports.items():
            cells = (role, report.reference, "yes" if report.reachable else "no", _says(report))
            table.add_row(*(Text(cell) for cell in cells))
        Console().print(table)
    if not all(report.reachable for report in reports.values()):
        raise typer.Exit(3)


def _says(report: ProbeReport) -> str:
    if not report.reachable:
        return report.reason
    parts = [f"structured output by {report.structured}" if report.structured else ""]
    if report.dimensions is None:
        parts.append("log-probabilities" if report.logprobs else "no log-probabilities")
        parts.append(f"context of {report.context:,} tokens" if report.context else "context unknown")
    else:
        parts.append(f"vectors of {report.dimensions}")
    return "; ".join(part for part in (*parts, *report.notes) if part)


async def _probe_all(models: dict[str, Any], embedders: dict[str, Any]) -> dict[str, ProbeReport]:
    found = {role: await probe(spec) for role, spec in models.items()}
    return found | {role: await probe_embedder(spec) for role, spec in embedders.items()}
