"""`biasscope features`: the text-feature lexicon, and what a text shows of it."""

import json
import random
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...bias_library.features import Feature, feature_bias, load_features, measure_all, user_features
from ...core.errors import DataError, LibraryError
from .options import AsJson

app = typer.Typer(help="Text features that judges may reward: list, show, measure.", no_args_is_help=True)

Own = Annotated[Path | None, typer.Option("--features", help="Your own features, a .yaml or .py file.")]
_SAMPLE = (
    "The ticket costs 12 euros. Two people pay twice as much, and the guide takes a fee. "
    "The fee is the same for every group. In total that is 30 euros."
)


@app.command("list")
def list_features(
    dimension: Annotated[str | None, typer.Option(help="Only features of this dimension.")] = None,
    own: Own = None,
    as_json: AsJson = False,
) -> None:
    """All features with their dimension, unit and definition."""
    features = _features(own)
    if dimension and dimension not in (known := {f.dimension for f in features.values()}):
        raise LibraryError(f"no dimension {dimension!r}: choose from {sorted(known)}")
    chosen = [f for f in features.values() if not dimension or f.dimension == dimension]
    if as_json:
        typer.echo(json.dumps([_row(f) for f in chosen], indent=2, ensure_ascii=False))
        return
    table = Table("name", "dimension", "measured", "definition")
    for f in chosen:
        table.add_row(*(Text(cell) for cell in (f.name, f.dimension, f.unit, f.definition)))
    Console().print(table)


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a feature, as in `features list`.")],
    own: Own = None,
    as_json: AsJson = False,
) -> None:
    """One feature, the bias that it stands for, and its edit of a sample text."""
    features = _features(own)
    if name not in features:
        near = [n for n in features if name.lower() in n or n in name.lower()]
        hint = f"did you mean {near[0]!r}?" if near else "see `biasscope features list`"
        raise LibraryError(f"no feature {name!r}: {hint}")
    feature = features[name]
    edited = feature.write(_SAMPLE, random.Random(0))
    row = {
        **_row(feature),
        "examples": list(feature.examples),
        "bias_id": feature_bias(feature).id,
        "sample": {
            "before": _SAMPLE,
            "after": edited,
            "measure_before": feature.measure(_SAMPLE),
            "measure_after": feature.measure(edited),
        },
    }
    if as_json:
        typer.echo(json.dumps(row, indent=2, ensure_ascii=False))
        return
    say = Console(highlight=False, markup=False).print
    for key in ("name", "title", "dimension", "unit", "source", "definition"):
        say(Text(f"{key}: {row[key]}"))
    if feature.examples:
        say(Text("writes, for instance: " + " / ".join(feature.examples)))
    say(Text(f"\nbefore ({feature.measure(_SAMPLE):.3g}):\n{_SAMPLE}"))
    say(Text(f"\nafter ({feature.measure(edited):.3g}):\n{edited}"))
    if feature.measure(edited) <= feature.measure(_SAMPLE):
        say(
            Text(
                "\nThis edit does not raise the feature's own measure, so a test by this edit would say nothing of it."
            )
        )


@app.command()
def measure(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A text file, or - for standard input.")],
    question: Annotated[str, typer.Option(help="The question that the text answers.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Also features that the text does not show.")] = False,
    own: Own = None,
    as_json: AsJson = False,
) -> None:
    """How much of each feature a text shows."""
    text = _read(file)
    features = _features(own)
    found = measure_all(text, question, features)
    shown = {name: value for name, value in found.items() if value or every}
    if as_json:
        typer.echo(json.dumps(shown, indent=2, ensure_ascii=False))
        return
    table = Table("feature", "dimension", "value", "measured")
    for name, value in shown.items():
        feature = features[name]
        table.add_row(*(Text(cell) for cell in (name, feature.dimension, f"{value:.3g}", feature.unit)))
    Console().print(table)


def _features(own: Path | None) -> dict[str, Feature]:
    return load_features() | (user_features(own) if own else {})


def _row(feature: Feature) -> dict[str, str]:
    return {
        "name": feature.name,
        "title": feature.title,
        "dimension": feature.dimension,
        "unit": feature.unit,
        "definition": feature.definition,
        "source": feature.source,
    }


def _read(file: Path) -> str:
    if str(file) == "-":
        return sys.stdin.read()
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise DataError(
            f"{file}: cannot be read: {error.strerror}: give a text file, or - for standard input"
        ) from error
