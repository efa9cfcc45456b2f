"""How libraries came to be and how they differ: lineage, timeline, and the comparison of two runs."""

from math import ceil
from typing import Any, Literal

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from ....bias_library.diff import Diff, diff
from ....core.errors import BiasScopeError
from ....core.records import Candidate, MergeDecision, Validation
from ....runs.analyses.growth import Line, growth_line, growth_plot
from ....runs.report.svg import NARROW, WIDE, png_file, svg_file
from ..guard import may
from ..lineage import finds, lineage
from ..rendering import page
from ..setting import meaning_of, setting_of
from ..site import NotHere, OpenRun, Site
from ..snapshot import snapshot
from ..wording import told, when
from .biases import plot_answer
from .leases import Run

router = APIRouter(dependencies=[Depends(may("see"))])
PER_PAGE = 100
_BY_THE_RUN = "biasscope"


@router.get("/runs/{run}/lineage")
def lineage_page(request: Request, run: Run, iteration: int | None = None) -> Response:
    """From injected biases over misjudgments and merging to what holds."""
    snap = snapshot(run)
    graph = run.kept(
        ("lineage", iteration),
        (snap.version, run.counts(Candidate, MergeDecision)),
        lambda: lineage(finds(run), snap, iteration),
    )
    return page(request, "lineage.html.j2", run=run.run_id, graph=graph, iteration=iteration)


@router.get("/runs/{run}/timeline")
def timeline(request: Request, run: Run, by: Literal["all", "people"] = "all", part: int = 1) -> Response:
    """Every line of the library's history, the newest first, under the growth of the library."""
    snap = snapshot(run)
    events = [e for e in reversed(snap.library.events) if by == "all" or e.author != _BY_THE_RUN]
    parts = max(1, ceil(len(events) / PER_PAGE))
    part = min(max(1, part), parts)
    return page(
        request,
        "timeline.html.j2",
        run=run.run_id,
        snap=snap,
        line=_line(run),
        events=events[(part - 1) * PER_PAGE : part * PER_PAGE],
        total=len(events),
        by=by,
        part=part,
        parts=parts,
        page_link=lambda number: f"?by={by}&part={number}",
        told=lambda event: told(snap, event),
        when=when,
    )


@router.get("/timeline")
def all_runs(request: Request) -> Response:
    """The growth of every run's library side by side."""
    return page(request, "growth.html.j2", lines=_lines(setting_of(request).site))


@router.get("/growth.{form}")
def growth_of_all(request: Request, form: Literal["svg", "png"], run: str = "", narrow: bool = False) -> Response:
    """The growth curves as a file, of all runs or of one."""
    lines = [line for line in _lines(setting_of(request).site) if run in ("", line.run_id)]
    if not lines:
        raise NotHere("no run has an iteration to show yet")
    drawing = growth_plot(lines)
    if form == "png":
        return plot_answer(png_file(drawing.draw), form)
    width = NARROW if narrow else WIDE
    return plot_answer(svg_file("growth", drawing.title, drawing.alt, drawing.draw, width).encode(), form)


@router.get("/diff")
async def compare(request: Request, a: str = "", b: str = "") -> Response:
    """What two runs have in common and where they differ."""
    site = setting_of(request).site
    names = [f.run_id for f in site.folders() if f.kind == "discover"]
    if not a or not b:
        return page(request, "diff.html.j2", names=names, a=a, b=b, found=None, problem="")
    with site.lease(a) as first, site.lease(b) as second:
        one, two = await run_in_threadpool(snapshot, first), await run_in_threadpool(snapshot, second)
        vectors, problem = {}, ""
        try:
            vectors = await meaning_of(request).vectors(first, one) | await meaning_of(request).vectors(second, two)
        except BiasScopeError as error:
            problem = f"biases in other words are not compared: {error}"

        def compared() -> Diff:
            of_one, of_two = ([v for vs in snap.validations.values() for v in vs] for snap in (one, two))
            return diff(one.library, two.library, of_one, of_two, vectors)

        version = (one.version, two.version, bool(vectors))
        found = await run_in_threadpool(first.kept, ("diff", second.run_id), version, compared)
    values: dict[str, Any] = {
        "names": names,
        "a": a,
        "b": b,
        "found": found,
        "problem": problem,
        "one": one,
        "two": two,
    }
    return await run_in_threadpool(lambda: page(request, "diff.html.j2", **values))


def _lines(site: Site) -> list[Line]:
    found = []
    for folder in site.folders():
        if folder.kind == "discover":
            try:
                with site.lease(folder.run_id) as run:
                    line = _line(run)
            except BiasScopeError:
                continue  # the page of runs says what is wrong with it
            if line:
                found.append(line)
    return found


def _line(run: OpenRun) -> Line | None:
    def made() -> Line | None:
        try:
            return growth_line(run.store, run.run_id)
        except BiasScopeError:
            return None

    return run.kept("growth", run.counts(Candidate, MergeDecision, Validation), made)
