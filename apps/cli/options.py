"""Parameters that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from ...core.errors import ConfigError

Workspace = Annotated[
    Path, typer.Option("--workspace", "-w", envvar="BIASSCOPE_WORKSPACE", help="Folder under which runs lie.")
]
RunName = Annotated[
    str | None, typer.Argument(metavar="[RUN]", help="Name or folder of a run; the latest when left out.")
]
Run = Annotated[str | None, typer.Option("--run", "-r", help="The same as RUN.")]
BiasName = Annotated[str, typer.Argument(metavar="BIAS", help="Id, start of an id, or name.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a setting, dotted; repeatable.")
]
OwnWorkspace = Annotated[
    Path | None,
    typer.Option("--workspace", "-w", help="Folder of runs; else the configuration's, else BIASSCOPE_WORKSPACE."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]

DEFAULT_WORKSPACE = Path("biasscope-workspace")


def named(argument: str | None, option: str | None) -> str:
    """The run that a command is about, named as an argument or by --run."""
    if argument is not None and option is not None and argument != option:
        raise ConfigError(f"two runs are named, {argument!r} and --run {option!r}: name one")
    return argument or option or "latest"
