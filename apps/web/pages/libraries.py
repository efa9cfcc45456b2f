"""All runs, and the library of one: filters, order, search by words and by meaning."""

from dataclasses import replace
from math import ceil
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ....core.errors import BiasScopeError
from ..guard import may
from ..rendering import fragment, page
from ..setting import meaning_of, setting_of
from ..site import OpenRun
from ..snapshot import SORTS, Choice, Row, Snapshot, chosen, down_first, snapshot
from .leases import Run

router = APIRouter(dependencies=[Depends(may("see"))])
PER_PAGE = 50
_NEAREST = 50


@router.get("/")
def runs(request: Request) -> Response:
    """The runs there are; with one alone, its library."""
    site = setting_of(request).site
    if site.only and site.only.kind == "discover":
        return RedirectResponse(f"/runs/{site.only.run_id}")
    return page(request, "runs.html.j2", states=site.states(), workspace=str(site.workspace))


@router.get("/runs/{run}")
async def library(
    request: Request,
    run: Run,
    q: str = "",
    by: Literal["words", "meaning"] = "words",
    status: Annotated[list[str] | None, Query()] = None,
    origin: str = "",
    judge: str = "",
    sort: str = "status",
    down: bool | None = None,
    part: int = 1,
) -> Response:
    """The biases of a run."""
    snap = await run_in_threadpool(snapshot, run)
    order = sort if sort in SORTS else "status"
    choice = Choice(q, tuple(status or ()), origin, judge, order, down_first(order) if down is None else down)
    problem, nearness = "", {}
    if by == "meaning" and q.strip():
        try:
            nearness = dict(await meaning_of(request).nearest(run, snap, q, len(snap.rows)))
        except BiasScopeError as error:
            problem = f"search by meaning cannot be used here: {error}"
    return await run_in_threadpool(_listed, request, run, snap, choice, by, nearness, problem, part)


@router.get("/runs/{run}/suggest")
def suggest(run: Run, into: str = "") -> Response:
    """Names for the field in which another bias is named, as options."""
    found = [row for row in chosen(snapshot(run), Choice(into)) if row.entry.merged_into is None][:12]
    return HTMLResponse(fragment("options.html.j2", rows=found))


def _listed(
    request: Request,
    run: OpenRun,
    snap: Snapshot,
    choice: Choice,
    by: str,
    nearness: dict[str, float],
    problem: str,
    part: int,
) -> Response:
    if nearness:
        rows = [row for row in chosen(snap, replace(choice, words="")) if row.id in nearness]
        rows = sorted(rows, key=lambda row: -nearness[row.id])[:_NEAREST]
    else:
        rows = chosen(snap, choice)
    parts = max(1, ceil(len(rows) / PER_PAGE))
    part = min(max(1, part), parts)
    shown = rows[(part - 1) * PER_PAGE : part * PER_PAGE]
    return page(
        request,
        "library.html.j2",
        run=run.run_id,
        state=run.state(),
        snap=snap,
        rows=shown,
        total=len(rows),
        choice=choice,
        by=by,
        nearness=nearness,
        problem=problem,
        part=part,
        parts=parts,
        span=_span(shown),
        link=lambda **changes: _address(choice, by, changes),
        page_link=lambda number: _address(choice, by, {"part": number}),
        down_first=down_first,
    )


def _address(choice: Choice, by: str, changes: dict[str, Any]) -> str:
    """The page's address with some of its choices changed; a change of order or filter begins at the first part."""
    said: dict[str, Any] = {
        "q": choice.words,
        "by": by if by != "words" else "",
        "status": choice.statuses,
        "origin": choice.origin,
        "judge": choice.judge,
        "sort": choice.sort,
        "down": str(choice.down).lower(),
    }
    said |= changes
    return "?" + urlencode({k: v for k, v in said.items() if v not in ("", ())}, doseq=True)


def _span(rows: list[Row]) -> tuple[float, float]:
    """What the small interval drawings reach over, points."""
    ends = [end for row in rows if row.validation for end in row.validation.interval]
    low, high = min([-5.0, *ends]), max([5.0, *ends])
    return max(low, -60.0), min(high, 60.0)
