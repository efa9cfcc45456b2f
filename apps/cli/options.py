"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Workspace = Annotated[
    Path, typer.Option("--workspace", "-w", envvar="BIASSCOPE_WORKSPACE", help="Folder under which runs lie.")
]
Run = Annotated[str, typer.Option("--run", "-r", help="Name or folder of a run, or `latest`.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]

DEFAULT_WORKSPACE = Path("biasscope-workspace")
