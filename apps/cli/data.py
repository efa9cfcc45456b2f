"""`biasscope data`."""

import json
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.console import Console

from ...core.errors import ConfigError
from ...core.mistakes import mistakes
from ...data import sources
from ...data.inspect import inspect_text
from ...data.spec import SourceSpec
from .options import AsJson

app = typer.Typer(help="Preference data.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Preference data."""


@app.command()
def inspect(
    source: Annotated[str, typer.Argument(help="File, hub data set or `builtin`.")],
    preset: Annotated[str, typer.Option(help="Layout of the file; found by its columns when left out.")] = "auto",
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=COLUMN", help="Where a field is, e.g. prompt=question; repeatable."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="Split of a hub data set.")] = None,
    limit: Annotated[int | None, typer.Option(help="Most pairs, stratified by domain.")] = None,
    as_json: AsJson = False,
) -> None:
    """What is read from a source: counts, domains, lengths, ties, duplicates, oddities, three examples."""
    values: dict[str, Any] = {"source": source, "preset": preset, "split": split, "limit": limit}
    columns = {}
    for item in column or ():
        field, equals, name = item.partition("=")
        if not equals:
            raise ConfigError(f"--column {item!r}: write it as FIELD=COLUMN, for example --column prompt=question")
        columns[field] = name
    if columns:
        values["columns"] = columns
    try:
        spec = SourceSpec.model_validate({k: v for k, v in values.items() if v is not None})
    except ValidationError as error:
        raise ConfigError(f"source {source!r}: {'; '.join(mistakes(error))}") from None
    report = sources.inspect(spec)
    if as_json:
        typer.echo(json.dumps(report.model_dump(mode="json"), indent=2, ensure_ascii=False))
    else:
        Console().print(inspect_text(report))
