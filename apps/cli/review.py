"""`biasscope review` and `biasscope reviewers`."""

import os
import socket
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...core.errors import ConfigError
from ...runs.folder import RunFolder, command_in, find_run
from ..web import people
from .options import DEFAULT_WORKSPACE, Workspace

app = typer.Typer(help="Who may use the review app of a workspace.", no_args_is_help=True)
SECRET = "BIASSCOPE_REVIEW_SECRET"

Name = Annotated[str, typer.Argument(metavar="NAME", help="Under which decisions and labels are kept.")]


def review(
    target: Annotated[
        str | None, typer.Argument(metavar="[RUN or WORKSPACE]", help="A run, or a folder of runs; else the workspace.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; off the loopback everybody logs in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8321,
    author: Annotated[str, typer.Option(envvar="USER", help="Who decides when there are no reviewers.")] = "reviewer",
    certificate: Annotated[Path | None, typer.Option(help="TLS certificate (PEM), with --key.")] = None,
    key: Annotated[Path | None, typer.Option(help="Key of the certificate (PEM).")] = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> None:
    """Look at runs in a browser: the library, the evidence, decisions, annotation. Needs no internet."""
    import uvicorn

    from ..web.app import create_app
    from ..web.guard import LOOPBACK
    from ..web.setting import Setting
    from ..web.site import Site

    folder, only = _target(target, workspace)
    reviewers = folder / people.FILE
    outside = host not in LOOPBACK
    if outside and not people.load(reviewers):
        raise ConfigError(
            f"--host {host!r}: others can reach this address, and nobody could log in; add people with "
            + f"`{command_in(folder, 'reviewers add NAME')}`"
        )
    if (certificate is None) != (key is None):
        raise ConfigError("--certificate and --key belong together; give both or none")
    for path in (certificate, key):
        if path and not path.is_file():
            raise ConfigError(f"{path}: there is no such file")
    alone = None if outside else people.Reviewer(name=people.reviewer_name(author), role="admin")
    setting = Setting(Site(folder, only), reviewers, alone, secure=certificate is not None)
    made = create_app(setting, None if outside else LOOPBACK, os.environ.get(SECRET))
    config = uvicorn.Config(
        made,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=3,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    if outside and not certificate:
        _say("note: without --certificate what is sent, tokens too, can be read on the way; use a network you trust")
    listening = _listen(host, port)
    scheme = "https" if certificate else "http"
    address = f"{scheme}://{host}:{listening.getsockname()[1]}"
    _say(f"review of {only.run_id if only else folder}: {address}  (Ctrl-C stops it)")
    uvicorn.Server(config).run(sockets=[listening])


@app.command("add")
def add(
    name: Name,
    role: Annotated[str, typer.Option(help="viewer sees, annotator labels, admin does both and decides.")] = "viewer",
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> None:
    """Let somebody in; prints the token, which is kept nowhere. For a known name it makes a new one."""
    token = people.add(workspace / people.FILE, name, role)
    typer.echo(token)
    _say(
        f"the token of {people.reviewer_name(name)} ({role}); the review app asks everybody for one now",
        err=True,
    )


@app.command("remove")
def remove(name: Name, workspace: Workspace = DEFAULT_WORKSPACE) -> None:
    """Let somebody in no longer; what they decided stays."""
    people.remove(workspace / people.FILE, name)
    typer.echo(f"{name} is no reviewer any more")


@app.command("list")
def list_reviewers(workspace: Workspace = DEFAULT_WORKSPACE) -> None:
    """Who may come in, and as what."""
    table = Table("name", "role")
    for reviewer in people.load(workspace / people.FILE).values():
        table.add_row(Text(reviewer.name), Text(reviewer.role))
    Console().print(table)


def _target(target: str | None, workspace: Path) -> tuple[Path, RunFolder | None]:
    """The workspace, and the run when one was named."""
    if target is None:
        return workspace, None
    path = Path(target)
    if path.is_dir() and not (path / "config.yaml").is_file():
        return path, None
    run = find_run(target, workspace, kind=None)
    return run.path.parent, run


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=256)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # or every page waits 40 ms for its last part
        return listening
    except OSError as error:
        raise ConfigError(
            f"--host {host} --port {port}: cannot be used ({error.strerror}); choose others, --port 0 takes a free one"
        ) from None


def _say(text: str, err: bool = False) -> None:
    Console(stderr=err, highlight=False, markup=False, soft_wrap=True).print(text)
