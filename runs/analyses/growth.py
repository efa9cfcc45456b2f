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
    narrow = width < 500
    figure, axes = canvas(width, 320, 44, 110 if narrow else 190, 22, 50)
    axes.grid(True, axis="y", color=GRID, linewidth=1)
    axes.set_axisbelow(True)
    most = max(1, *(p.cumulative for line in lines for p in line.points))
    top = 1.12 * most
    places = _apart([line.points[-1].cumulative / top for line in lines])
    for k, line in enumerate(lines):
        colour, marker = _COLOURS[k % len(_COLOURS)], _MARKERS[k % len(_MARKERS)]
        turns, values = [p.iteration for p in line.points], [p.cumulative for p in line.points]
        axes.plot(turns, values, marker=marker, color=colour, linewidth=2.2, markersize=7.5, markeredgecolor=PAPER)
        axes.annotate(fit(f"{values[-1]} {line.run_id}", 13 if narrow else 24), (1, places[k]), (12, 0),
                      "axes fraction", "offset points", va="center", color=colour, fontsize=11.5,
                      annotation_clip=False)  # fmt: skip
    axes.set_xlim(0.85, max(p.iteration for line in lines for p in line.points) + 0.15)
    axes.set_ylim(0, top)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    axes.set_xlabel("after iteration", color=MUTED, labelpad=8)
    return figure


def _apart(heights: Sequence[float], gap: float = 18 / 248) -> list[float]:
    """Where labels of lines that end at `heights` stand, in their order: beside them, moved down to be `gap` apart,
    but none so far that those below it have no room above the axis."""
    places, before = [0.0] * len(heights), 1.0 + gap
    downward = sorted(range(len(heights)), key=lambda k: -heights[k])
    for below, k in zip(reversed(range(len(heights))), downward, strict=True):
        before = places[k] = min(before - gap, max(heights[k], below * gap))
    return places
