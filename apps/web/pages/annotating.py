"""The annotation of a benchmark: one item at a time, blind; progress and agreement; what four could not settle."""

import functools

from fastapi import APIRouter, Depends, Request
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from ....core.errors import BiasScopeError, DataError
from ....data.annotations import LABEL_TEXTS, guidelines
from ....validators.adjudication import independent_agreement
from .. import desk
from ..guard import Annotate, Posted, may
from ..people import Reviewer
from ..rendering import back_to, page
from ..setting import setting_of
from ..site import OpenRun, Site
from .leases import AnyRun

router = APIRouter(dependencies=[Depends(may("annotate"))])


@router.get("/annotate")
def benchmarks(request: Request, reviewer: Annotate) -> Response:
    """The benchmarks that have items; with one, its queue."""
    found = _benchmarks(setting_of(request).site, reviewer)
    if len(found) == 1:
        return RedirectResponse(f"/runs/{found[0][0]}/annotate")
    return page(request, "annotate_where.html.j2", found=found)


@router.get("/runs/{run}/annotate")
def next_item(request: Request, run: AnyRun, reviewer: Annotate, item: str = "") -> Response:
    """The next item, or one that this annotator has labelled and wants to correct."""
    at = desk.place(_with_items(run), _hands(run), reviewer, item)
    return page(
        request,
        "annotate.html.j2",
        run=run.run_id,
        at=at,
        task=at.task,
        labels=LABEL_TEXTS,
        guidelines=_guidelines(),
        settle=len(desk.to_adjudicate(run, reviewer)),
        total=desk.items(run),
    )


@router.post("/runs/{run}/annotate")
def label(request: Request, run: AnyRun, reviewer: Annotate, form: Posted) -> Response:
    """Keep a label and go on."""
    made = desk.write(_with_items(run), _hands(run), reviewer, form)
    where = f"/runs/{run.run_id}/annotate" + ("/adjudicate" if made.round == "adjudication" else "")
    return back_to(request, where, f"Kept: {LABEL_TEXTS[made.label]}.")


@router.get("/runs/{run}/annotate/mine")
def mine(request: Request, run: AnyRun, reviewer: Annotate) -> Response:
    """What this annotator has said, to look at again."""
    rows = desk.labelled(_with_items(run), reviewer)
    return page(request, "annotate_mine.html.j2", run=run.run_id, rows=rows[:500], labels=LABEL_TEXTS, total=len(rows))


@router.get("/runs/{run}/annotate/adjudicate")
def adjudicate(request: Request, run: AnyRun, reviewer: Annotate, item: str = "") -> Response:
    """Items that four people could not settle, with what they said."""
    open_ = desk.to_adjudicate(_with_items(run), reviewer)
    item = item or (open_[0] if open_ else "")
    task = desk.adjudication(run, reviewer, item) if item else None
    return page(
        request,
        "adjudicate.html.j2",
        run=run.run_id,
        task=task,
        left=len(open_),
        labels=LABEL_TEXTS,
        guidelines=_guidelines(),
    )


@router.get("/runs/{run}/annotate/progress", dependencies=[Depends(may("see"))])
def progress(request: Request, run: AnyRun) -> Response:
    """How far the benchmark is, and how far its annotators agree."""
    found = desk.standings(_with_items(run)).values()
    # Of decided items only: who looks after the work may label too, and a single label would tell who gave it.
    labels = [a.label for s in found if s.label for a in (*s.independent, *s.reviews)]
    people: dict[str, int] = {}
    for standing in found:
        for row in (*standing.independent, *standing.reviews):
            people[row.annotator] = people.get(row.annotator, 0) + 1
    return page(
        request,
        "annotate_progress.html.j2",
        run=run.run_id,
        total=len(found),
        waiting={kind: sum(s.needs == kind for s in found) for kind in ("independent", "review", "adjudication")},
        decided={how: sum(s.how == how for s in found) for how in ("agreement", "review", "adjudication")},
        labels={name: labels.count(name) for name in LABEL_TEXTS},
        texts=LABEL_TEXTS,
        people=sorted(people.items(), key=lambda kv: (-kv[1], kv[0])),
        agreement=independent_agreement(found),
    )


def _benchmarks(site: Site, reviewer: Reviewer) -> list[tuple[str, int, int]]:
    """Name, items, and how many of them this reviewer has labelled."""
    found = []
    for folder in site.folders():
        if folder.kind == "discover":
            continue
        try:
            with site.lease(folder.run_id) as run:
                if count := desk.items(run):
                    found.append((run.run_id, count, len(desk.labelled(run, reviewer))))
        except BiasScopeError:
            continue  # the page of runs says what is wrong with it
    return found


def _with_items(run: OpenRun) -> OpenRun:
    if not desk.items(run):
        raise DataError(f"{run.run_id!r} has no items to label")
    return run


def _hands(run: OpenRun) -> desk.Hands:
    return run.kept("hands", 0, desk.Hands)


@functools.cache
def _guidelines() -> Markup:
    """Our own text, with raw HTML switched off all the same, a level under the page's heading."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(guidelines())
    for token in tokens:
        if token.type.startswith("heading_"):
            token.tag = f"h{int(token.tag[1:]) + 1}"
    return Markup(reader.renderer.render(tokens, reader.options, {}))
