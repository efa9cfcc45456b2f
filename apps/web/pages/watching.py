"""A run while it goes on, by server-sent events, and the decision that one waits for."""

import asyncio
from collections.abc import AsyncIterator

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from .. import continuing
from ..guard import Decide, Posted, may
from ..rendering import back_to, fragment, page
from ..site import OpenRun
from ..snapshot import snapshot
from ..watch import Watched, watched
from .leases import AnyRun, Run

router = APIRouter(prefix="/runs/{run}", dependencies=[Depends(may("see"))])
_EVERY = 1.0
"""Seconds between two looks."""
_SIGN_OF_LIFE = 15


@router.get("/watch")
def watch(request: Request, run: AnyRun) -> Response:
    """Stage, counts, newest candidates, failures, cost and budget."""
    return page(request, "watch.html.j2", run=run.run_id, now=watched(run))


@router.get("/stream")
async def stream(request: Request, run: AnyRun) -> Response:
    """The same part of the page, sent again whenever it has changed, until the run stands still."""
    headers = {"x-accel-buffering": "no"}
    return StreamingResponse(_changes(request, run), media_type="text/event-stream", headers=headers)


@router.get("/approval")
def approval(request: Request, run: Run) -> Response:
    """The biases that wait for a decision."""
    snap = snapshot(run)
    rows = [row for row in snap.rows if row.waits]
    return page(request, "approval.html.j2", run=run.run_id, state=run.state(), rows=rows, snap=snap)


@router.post("/approval")
def approve(request: Request, run: Run, reviewer: Decide, form: Posted) -> Response:
    """Decide on all that wait, and let the run go on."""
    waiting = [row.id for row in snapshot(run).rows if row.waits]
    with run.deciding:
        continuing.go_on(run.folder, waiting, form.get("approved", []), reviewer.name, form.one("reason"))
    return back_to(request, f"/runs/{run.run_id}/watch", "Decided; the run goes on.")


async def _changes(request: Request, run: OpenRun) -> AsyncIterator[bytes]:
    shown, silent = "", 0
    while not await request.is_disconnected():
        now: Watched = await run_in_threadpool(watched, run)
        html = fragment("watch_now.html.j2", run=run.run_id, now=now)
        if html != shown:
            shown, silent = html, 0
            yield _event(html)
        elif (silent := silent + 1) % _SIGN_OF_LIFE == 0:
            yield b": still here\n\n"
        if not now.going:
            yield b"event: ended\ndata: ended\n\n"
            return
        await asyncio.sleep(_EVERY)


def _event(html: str) -> bytes:
    """Every line of the text needs the field's name before it, whatever line ends it has."""
    lines = html.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return ("".join(f"data: {line}\n" for line in lines) + "\n").encode("utf-8", "replace")
