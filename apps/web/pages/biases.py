"""One bias: what it is, its figures and plots, the pairs behind them, and the decisions about it."""

from typing import Literal

from fastapi import APIRouter, Depends, Request
from starlette.responses import PlainTextResponse, Response

from ....core.records import Judgment, MergeDecision, Validation
from ....runs.analyses.e_path import e_path
from ....runs.analyses.same_effect import groups_of
from ....runs.report.bias_plots import domain_plot, path_plot
from ....runs.report.biases import evidence_of
from ....runs.report.examples import discoveries, named_from
from ....runs.report.svg import NARROW, WIDE, Drawing, png_file, svg_file
from .. import decisions
from ..evidence import SHOWS, Case, Show, cases, pair_view, tally, whole_text
from ..guard import FILE_POLICY, Decide, Posted, may
from ..lineage import finds, lineage
from ..rendering import back_to, page
from ..site import NotHere, OpenRun
from ..snapshot import Row, snapshot
from ..wording import told, when
from .leases import Run, row_of

router = APIRouter(prefix="/runs/{run}", dependencies=[Depends(may("see"))])


@router.get("/biases/{bias}")
def bias_page(request: Request, run: Run, bias: str) -> Response:
    """Definition, figures, plots, controls, lineage, history, and the forms to decide."""
    snap = snapshot(run)
    row = row_of(snap, bias)
    validations = list(snap.validations.get(bias, ()))
    history = snap.library.history(bias)
    named = run.kept("named", run.counts(MergeDecision), lambda: named_from(run.store, run.run_id))
    return page(
        request,
        "bias.html.j2",
        run=run.run_id,
        snap=snap,
        row=row,
        shown=evidence_of(row.validation) if row.validation else None,
        tests=[(v, evidence_of(v)) for v in reversed(validations)],
        plots=_plots(run, row),
        graph=lineage(finds(run), snap, bias_id=bias),
        found=list(discoveries(run.store, run.run_id, named.get(bias, ()))),
        history=list(reversed(history)),
        seen=decisions.seen(snap.library, bias),
        most_parts=decisions.MOST_PARTS,
        told=lambda event: told(snap, event),
        when=when,
        merged_from=[r for r in snap.rows if r.entry.merged_into == bias],
    )


@router.get("/biases/{bias}/same-effect")
def same_effect(request: Request, run: Run, bias: str) -> Response:
    """The biases that flip the same pairs."""
    snap = snapshot(run)
    row_of(snap, bias)
    groups = run.kept("same effect", run.counts(Validation), lambda: groups_of(run.store, run.run_id))
    group = next((g for g in groups if bias in g), ())
    others = [snap.by_id[i] for i in group if i != bias and i in snap.by_id]
    return page(request, "same_effect.html.j2", run=run.run_id, row=snap.by_id[bias], others=others)


@router.get("/biases/{bias}/plots/{name}.{form}")
def plot(
    run: Run, bias: str, name: Literal["domains", "path"], form: Literal["svg", "png"], narrow: bool = False
) -> Response:
    """A plot of the bias as a file."""
    row = row_of(snapshot(run), bias)
    drawing = _plots(run, row).get(name)
    if drawing is None or row.validation is None:
        raise NotHere("this bias has no such plot")
    content = run.kept(
        ("plot", bias, name, form, narrow), row.validation, lambda: drawn(f"{name}-{bias[:8]}", drawing, form, narrow)
    )
    return plot_answer(content, form)


@router.get("/biases/{bias}/evidence")
def evidence(request: Request, run: Run, bias: str, show: str = "", n: int = 1) -> Response:
    """The pairs of one kind, one at a time."""
    snap = snapshot(run)
    row = row_of(snap, bias)
    found = cases(run, bias)
    counts = tally(found)
    kind = _kind(show, counts)
    these = [c for c in found if kind in ("all", c.kind)]
    n = min(max(1, n), max(1, len(these)))
    case: Case | None = these[n - 1] if these else None
    view = pair_view(run, bias, case.pair_id) if case else None
    return page(
        request,
        "evidence.html.j2",
        run=run.run_id,
        row=row,
        counts=counts,
        show=kind,
        n=n,
        total=len(these),
        case=case,
        view=view,
    )


@router.get("/texts/{pair}/{source}")
def text(run: Run, pair: str, source: str) -> Response:
    """A text of a pair in full, as text and nothing else."""
    found = whole_text(run, pair, source)
    if found is None:
        raise NotHere("this run has no such text")
    return PlainTextResponse(found.encode("utf-8", "replace"), headers={"content-security-policy": FILE_POLICY})


@router.post("/biases/{bias}/decide")
def decide(request: Request, run: Run, bias: str, reviewer: Decide, form: Posted) -> Response:
    """Write a decision."""
    event = decisions.decide(run, bias, form, reviewer.name)
    return back_to(request, f"/runs/{run.run_id}/biases/{event.bias_id}#history", f"Written: {event.kind}.")


@router.post("/events/{event}/undo")
def undo(request: Request, run: Run, event: str, reviewer: Decide, form: Posted) -> Response:
    """Take a line of the history back."""
    made = decisions.undo(run, event, form, reviewer.name)
    if made.bias_id not in snapshot(run).by_id:
        return back_to(request, f"/runs/{run.run_id}/timeline", "Taken back; the bias is not in the library any more.")
    return back_to(request, f"/runs/{run.run_id}/biases/{made.bias_id}#history", "Taken back.")


def drawn(name: str, drawing: Drawing, form: str, narrow: bool) -> bytes:
    """A plot as SVG or PNG."""
    if form == "png":
        return png_file(drawing.draw)
    return svg_file(name, drawing.title, drawing.alt, drawing.draw, NARROW if narrow else WIDE).encode()


def plot_answer(content: bytes, form: str) -> Response:
    """A plot on its way out."""
    kind = "image/png" if form == "png" else "image/svg+xml"
    headers = {"content-security-policy": FILE_POLICY, "cache-control": "private, max-age=60"}
    return Response(content, media_type=kind, headers=headers)


def _plots(run: OpenRun, row: Row) -> dict[str, Drawing]:
    validation = row.validation
    if validation is None:
        return {}

    def made() -> dict[str, Drawing]:
        path = path_plot(e_path(run.store, run.run_id, validation)) if validation.rule != "paper" else None
        found = {"domains": domain_plot(evidence_of(validation)), "path": path}
        return {name: drawing for name, drawing in found.items() if drawing}

    return run.kept(("plots", row.id), (validation.id, run.counts(Judgment)), made)


def _kind(asked: str, counts: dict[Show, int]) -> Show:
    """What was asked for, else the first kind of which there are any."""
    if asked in SHOWS:
        return next(kind for kind in SHOWS if kind == asked)
    return next(iter(counts), "all")
