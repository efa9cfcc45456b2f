"""`biasscope doctor`: does every configured model answer, and what can it do."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...agents.engines.probe import ProbeReport, probe, probe_embedder
from ...agents.engines.reference import ModelSpec, parse_reference
from ...agents.fitness import Role, asked_for, fitness
from ...agents.judges.specs import models_of
from ...core.errors import ConfigError
from ...runs.config import load_config
from .options import AsJson

Asked = tuple[Role, ModelSpec]


def doctor(
    config: Annotated[Path | None, typer.Argument(metavar="[CONFIG.yaml]", help="Configuration of a run.")] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="REF", help="A model reference to check; repeatable.")
    ] = None,
    embedder: Annotated[list[str] | None, typer.Option(metavar="REF", help="An embedder to check; repeatable.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check every configured model with one small call each, at every address, and say what that means for its role."""
    asked: dict[str, Asked] = {f"model {k}": ("", parse_reference(ref)) for k, ref in enumerate(model or (), 1)}
    asked |= {f"embedder {k}": ("embedder", parse_reference(ref)) for k, ref in enumerate(embedder or (), 1)}
    if config:
        made = load_config(config)
        judges = models_of(made.judge)
        asked |= {"judge" if len(judges) == 1 else f"judge {k}": ("judge", m) for k, m in enumerate(judges, 1)}
        asked["teacher"] = ("teacher", made.teacher)
        if made.verifier:
            asked["verifier"] = ("verifier", made.verifier)
        asked["embedder"] = ("embedder", made.embedder)
    if not asked:
        raise ConfigError("nothing to check: give a CONFIG.yaml, --model REF or --embedder REF")
    asked = dict(_each_address(asked))
    reports = asyncio.run(_probe_all(asked))
    found = {name: fitness(*asked[name], report) for name, report in reports.items()}
    if as_json:
        rows = {k: {"works": found[k].works, "says": found[k].says, **r.model_dump()} for k, r in reports.items()}
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        table = Table("role", "model", "works", "what it says")
        for name, report in reports.items():
            cells = (name, report.reference, found[name].works, "; ".join(found[name].says))
            table.add_row(*(Text(cell) for cell in cells))
        Console().print(table)
    if any(fit.works == "no" for fit in found.values()):
        raise typer.Exit(3)


def _each_address(asked: dict[str, Asked]) -> Iterator[tuple[str, Asked]]:
    """A model that is served at several addresses is several to check."""
    for name, (role, spec) in asked.items():
        several = len(spec.addresses) > 1
        for url in spec.addresses if several else ():
            alone = spec.model_copy(update={"base_url": url, "endpoints": ()})
            yield f"{name} at {url}", (role, alone)
        if not several:
            yield name, (role, spec)


async def _probe_all(asked: dict[str, Asked]) -> dict[str, ProbeReport]:
    return {
        name: await (probe_embedder(spec) if role == "embedder" else probe(spec, asked_for(spec)))
        for name, (role, spec) in asked.items()
    }
