"""`biasscope library freeze`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ...audits.frozen import Part, freeze, write_frozen
from ...core.errors import ConfigError
from .opened import opened_store
from .options import DEFAULT_WORKSPACE, Run, Workspace
from .starting import say, say_safely

PARTS: tuple[Part, ...] = ("confirm", "search", "all")


def freeze_run(
    path: Annotated[Path, typer.Argument(metavar="FILE.jsonl[.gz]", help="The frozen test set to write.")],
    run: Run = None,
    bias: Annotated[
        list[str] | None, typer.Option(help="Bias by id or name; repeatable. The valid and confirmed ones without.")
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(help="Test pairs: confirm (default where biases were confirmed), search or all."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Most pairs, in proportion to the domains.")] = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> None:
    """Freeze a run's pairs with their rewrites, to ask judges the same questions without a teacher: for gates and
    transfer."""
    if pairs is not None and pairs not in PARTS:
        raise ConfigError(f"--pairs {pairs!r}: is none of {', '.join(PARTS)}")
    with opened_store(run or "latest", workspace) as (store, run_id):
        part = next((p for p in PARTS if p == pairs), None)
        frozen = freeze(store, run_id, part=part, biases=tuple(bias or ()), limit=limit)
    write_frozen(frozen, path)
    console = Console()
    say_safely(console, f"{len(frozen.pairs)} {frozen.head.part} pairs with {len(frozen.head.biases)} biases in {path}")
    say(console, f"SHA-256 of the pairs: {frozen.digest}")
    if frozen.head.part != "confirm":
        say(
            console,
            "note: biases were accepted for their effect on search pairs, so the judge of the run looks worse on these "
            "than it is; other judges do not",
        )
