"""The run that an address names, held open for as long as the page is made."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, Request

from ....core.errors import ConfigError
from ..setting import setting_of
from ..site import NotHere, OpenRun
from ..snapshot import Row, Snapshot


def any_run(run: str, request: Request) -> Iterator[OpenRun]:
    """A dependency: the run or other job of the name in the address. Raises NotHere."""
    with setting_of(request).site.lease(run) as opened:
        yield opened


def discovery_run(opened: Annotated[OpenRun, Depends(any_run)]) -> OpenRun:
    """A dependency: the same for pages about a library."""
    if opened.folder.kind != "discover":
        raise ConfigError(f"{opened.run_id!r} is of the kind {opened.folder.kind!r} and has no library")
    return opened


AnyRun = Annotated[OpenRun, Depends(any_run)]
Run = Annotated[OpenRun, Depends(discovery_run)]


def row_of(snap: Snapshot, bias_id: str) -> Row:
    """The bias of an address. Raises NotHere."""
    row = snap.by_id.get(bias_id)
    if row is None:
        raise NotHere(f"there is no bias {bias_id[:60]!r} in this run")
    return row
