"""Cumulative biases by iteration, one line per run (the form of the paper's Figure 2)."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pydantic import BaseModel, ConfigDict

from ...core.errors import UserError
from ...core.store import Store
from ..report.funnel import funnels, growth
from ..report.svg import AMBER, BLUE, CORAL, FAINT, GRID, INK, MUTED, PAPER, Drawing, canvas, fit, svg_file
from ..report.tallies import Tallies

_COLOURS = (BLUE, CORAL, AMBER, INK, MUTED, FAINT)
_MARKERS = ("o", "s", "D", "^", "v", "P")


class Point(BaseModel):
    """One iteration of one run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    iteration: int
    """From 1."""
    validated: int
    cumulative: int


class Line(BaseModel):
    """One run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    points: tuple[Point, ...]


def growth_line(store: Store, run_id: str) -> Line:
    """Biases validated and admitted up to each iteration; UserError when there was none."""
    _, rounds = funnels(store, run_id, Tallies(), set())
    points = tuple(
        Point(iteration=g.iteration + 1, validated=g.validated, cumulative=g.cumulative_validated)
        for g in growth(rounds)
    )
    if not points:
        raise UserError(f"run {run_id!r} has no iteration to show yet; let it run first")
    return Line(run_id=run_id, points=points)


def growth_plot(lines: Sequence[Line]) -> Drawing:
    """The curves, one per run."""
    said = "; ".join(f"{line.run_id}: " + ", ".join(str(p.cumulative) for p in line.points) for line in lines)
    title = "Cumulative validated biases by iteration"
    return Drawing(title, f"Lines, one per run. {said}.", lambda width: _draw(lines, width))


def growth_svg(lines: Sequence[Line]) -> str:
    """The curves as a self-contained SVG file that follows the viewer's light or dark scheme."""
    drawing = growth_plot(lines)
    return svg_file("growth", drawing.title, drawing.alt, drawing.draw)


def _draw(lines: Sequence[Line], width: int) -> Figure:
    figure, axes = canvas(width, 320, 44, 30 if width < 500 else 190, 22, 50)
    axes.grid(True, axis="y", color=GRID, linewidth=1)
    axes.set_axisbelow(True)
    most = max(1, *(p.cumulative for line in lines for p in line.points))
    for k, line in enumerate(lines):
        colour, marker = _COLOURS[k % len(_COLOURS)], _MARKERS[k % len(_MARKERS)]
        turns, values = [p.iteration for p in line.points], [p.cumulative for p in line.points]
        axes.plot(turns, values, marker=marker, color=colour, linewidth=2.2, markersize=7.5, markeredgecolor=PAPER)
        axes.annotate(fit(f"{values[-1]} {line.run_id}", 24), (1, 1 - k * 18 / 248), (12, 0), "axes fraction",
                      "offset points", va="center", color=colour, fontsize=11.5, annotation_clip=False)  # fmt: skip
    axes.set_xlim(0.85, max(p.iteration for line in lines for p in line.points) + 0.15)
    axes.set_ylim(0, 1.12 * most)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    axes.set_xlabel("after iteration", color=MUTED, labelpad=8)
    return figure
