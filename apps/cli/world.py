"""`biasscope world`: simulated judges with planted biases."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...core.errors import ConfigError
from ...runs.selftest import write_pairs
from ...simulation.pairs import world_pairs
from ...simulation.server import serve
from ...simulation.world import WORLDS, load_spec, load_world

app = typer.Typer(help="Simulated judges with planted biases.", no_args_is_help=True)

WorldName = Annotated[str, typer.Argument(metavar="WORLD", help="A shipped world's name or a YAML file.")]


@app.command("list")
def list_worlds() -> None:
    """The shipped worlds."""
    table = Table("world", "features", "rewarded", "what it is")
    for file in sorted(WORLDS.glob("*.yaml")):
        spec = load_spec(file)
        rewarded = sum(weight > 0 for weight in spec.judge.weights.values())
        table.add_row(spec.name, str(len(spec.features)), str(rewarded), Text(spec.description))
    Console().print(table)


@app.command("check")
def check(world: WorldName) -> None:
    """Read a world file and say what it holds, or in one line what is wrong with it."""
    spec = load_spec(world)
    load_world(world)
    weights = spec.judge.weights
    up = sum(weight > 0 for weight in weights.values())
    down = sum(weight < 0 for weight in weights.values())
    typer.echo(f"{spec.name}: {len(spec.features)} features, {up} rewarded, {down} punished; the file is in order")


@app.command("serve")
def serve_world(
    world: WorldName,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8080,
) -> None:
    """Answer as an OpenAI-compatible endpoint until interrupted."""
    made = load_world(world)
    typer.echo(
        f"{made.name} at http://{host}:{port}/v1 (Ctrl-C ends it); as a model: openai:world@http://{host}:{port}/v1"
    )
    try:
        serve(made, host, port)
    except KeyboardInterrupt:
        typer.echo("stopped")


@app.command("pairs")
def pairs(
    world: WorldName,
    n: Annotated[int, typer.Option("--n", min=1, help="How many pairs.")] = 400,
    seed: Annotated[int, typer.Option(help="Another seed, other pairs.")] = 0,
    out: Annotated[Path, typer.Option("--out", "-o", help="JSON lines file to write.")] = Path("pairs.jsonl"),
) -> None:
    """Write preference pairs whose right answers the world's judge can work out."""
    made = world_pairs(load_world(world), n, seed)
    try:
        write_pairs(out, made)
    except OSError as error:
        raise ConfigError(f"--out {str(out)!r}: cannot be written: {error.strerror}; choose another file") from None
    typer.echo(f"{len(made)} pairs in {out}")
