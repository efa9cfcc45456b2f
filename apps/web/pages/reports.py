"""Reports and exports, made from the store when they are asked for."""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from ....bias_library.exchange import export_full, export_published
from ....core.records import Candidate, Failure, Judgment, LibraryEvent, Validation
from ....runs.report import Report, biases_csv, collect
from ....runs.report.plots import draw_plots
from ....runs.report.render import html, md
from ....runs.report.svg import Plot
from ..guard import FILE_POLICY, may
from ..rendering import page
from ..site import NotHere, OpenRun
from ..snapshot import snapshot
from .leases import Run

router = APIRouter(prefix="/runs/{run}", dependencies=[Depends(may("see"))])


@dataclass(frozen=True)
class Made:
    """A report and its plots."""

    report: Report
    plots: dict[str, Plot]


@dataclass(frozen=True)
class Export:
    """A file that can be had: what it is, its type, and how it is made."""

    title: str
    kind: str
    content: Callable[[OpenRun], str]


def made(run: OpenRun) -> Made:
    """The report as things stand; made anew only when something was written."""

    def make() -> Made:
        report = collect(run.store, run.run_id)
        return Made(report, draw_plots(report))

    version = (run.counts(LibraryEvent, Validation, Judgment, Candidate, Failure), run.state().state)
    return run.kept("report", version, make)


def _library(run: OpenRun) -> str:
    snap = snapshot(run)
    return export_full(snap.library, [v for found in snap.validations.values() for v in found])


EXPORTS: dict[str, Export] = {
    "report.html": Export("Report", "text/html", lambda run: html(made(run).report, made(run).plots)),
    "report.md": Export("Report in Markdown", "text/markdown", lambda run: md(made(run).report, made(run).plots)),
    "report.json": Export(
        "Report as data", "application/json", lambda run: made(run).report.model_dump_json(indent=2) + "\n"
    ),
    "biases.csv": Export("Biases as a table", "text/csv", lambda run: biases_csv(made(run).report)),
    "library.json": Export("Library with history and validations", "application/json", _library),
    "library-published.json": Export(
        "Biases in use, in the published form",
        "application/json",
        lambda run: export_published(snapshot(run).library.biases()),
    ),
}
"""The only names there are."""


@router.get("/report")
def report(request: Request, run: Run) -> Response:
    """What can be had."""
    return page(request, "report.html.j2", run=run.run_id, exports=EXPORTS, state=run.state())


@router.get("/report/plots")
def plots(request: Request, run: Run) -> Response:
    """The plots of the report."""
    return page(request, "plots.html.j2", run=run.run_id, plots=made(run).plots)


@router.get("/export/{name}")
def export(run: Run, name: str, save: bool = False) -> Response:
    """A report or the library as a file."""
    if name not in EXPORTS:
        raise NotHere(f"there is no export {name[:60]!r}; there are {', '.join(EXPORTS)}")
    wanted = EXPORTS[name]
    version = (run.counts(LibraryEvent, Validation, Judgment, Candidate, Failure), run.state().state)
    content = run.kept(("export", name), version, lambda: wanted.content(run).encode("utf-8", "replace"))
    return _file(content, wanted.kind, f"{run.run_id}-{name}", save or wanted.kind != "text/html")


@router.get("/export/plots/{name}.{form}")
def plot(run: Run, name: str, form: str, narrow: bool = False, save: bool = False) -> Response:
    """A plot of the report as SVG or PNG."""
    drawn = made(run).plots.get(name)
    if drawn is None or form not in ("svg", "png"):
        raise NotHere("the report has no such plot")
    content = drawn.png if form == "png" else (drawn.file_narrow if narrow else drawn.file_svg).encode()
    kind = "image/png" if form == "png" else "image/svg+xml"
    return _file(content, kind, f"{run.run_id}-{name}.{form}", save)


def _file(content: bytes, kind: str, name: str, save: bool) -> Response:
    """Run names are letters, digits, dot, dash and underscore, so that the header needs no quoting."""
    how = "attachment" if save else "inline"
    text = "; charset=utf-8" if kind.startswith("text/") else ""
    headers = {"content-disposition": f'{how}; filename="{name}"', "content-security-policy": FILE_POLICY}
    return Response(content, headers=headers, media_type=kind + text)
