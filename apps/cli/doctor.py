"""`biasscope doctor`: does every configured model answer, and what can it do."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import BaseModel, ConfigDict, Field
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...agents.engines.probe import ProbeReport, probe, probe_embedder
from ...agents.engines.reference import ModelSpec, parse_reference
from ...agents.fitness import Role, asked_for, fitness
from ...agents.judges.specs import models_of
from ...core.errors import ConfigError
from ...runs.config import JudgeField, ModelField, TeacherField, load_config
from .options import AsJson

Asked = tuple[Role, ModelSpec]
_ROLE: dict[str, Role] = {"teacher": "teacher", "verifier": "verifier", "embedder": "embedder"}


class _Models(BaseModel):
    """What is read of a configuration, of whatever kind of job: every setting that is a model or a list of them."""

    model_config = ConfigDict(extra="ignore")

    judge: JudgeField | None = None
    judges: tuple[JudgeField, ...] = ()
    check: JudgeField | None = None
    after: JudgeField | None = None
    jury: tuple[JudgeField, ...] = ()
    teacher: TeacherField | None = None
    verifier: Annotated[Literal["rules"] | ModelField | None, Field(union_mode="left_to_right")] = None
    panel: tuple[ModelField, ...] = ()
    authors: tuple[ModelField, ...] = ()
    embedder: ModelField | None = None
    target: Any = None
    """Only a discovery has one, and a discovery embeds whether it names an embedder or not."""

    def asked(self) -> Iterator[tuple[str, Asked]]:
        """The models by their settings' names, numbered where a setting has several."""
        for name in ("judge", "judges", "check", "after", "jury"):
            given = getattr(self, name) or ()
            judges = [
                model for judge in (given if isinstance(given, tuple) else (given,)) for model in models_of(judge)
            ]
            yield from _numbered(name, "judge", judges)
        for name in ("teacher", "verifier", "panel", "authors", "embedder"):
            given = getattr(self, name) or ()
            if name == "embedder" and not given and self.target is not None:
                given = ModelSpec(model="local:")
            models = [m for m in (given if isinstance(given, tuple) else (given,)) if _has_model(m)]
            yield from _numbered(name, _ROLE.get(name, ""), models)


def doctor(
    config: Annotated[
        Path | None, typer.Argument(metavar="[CONFIG.yaml]", help="Configuration of a run of any kind.")
    ] = None,
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
        asked |= dict(load_config(config, kind=_Models).asked())
    if not asked:
        where = f"{config} names no model" if config else "nothing to check"
        raise ConfigError(f"{where}: give a CONFIG.yaml of a run, --model REF or --embedder REF")
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


def _numbered(name: str, role: Role, models: list[ModelSpec]) -> Iterator[tuple[str, Asked]]:
    for k, model in enumerate(models, 1):
        yield (name if len(models) == 1 else f"{name} {k}"), (role, model)


def _has_model(given: Any) -> bool:
    """Rules, as teacher or verifier, are none."""
    return isinstance(given, ModelSpec) and getattr(given, "has_model", True)


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
