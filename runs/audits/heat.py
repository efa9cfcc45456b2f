"""A heat map: effects of biases (rows) on judges (columns), red for harm and blue for repair."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ..report.svg import BLUE, CORAL, FAINT, INK, MUTED, PAPER, Plot, canvas, fit, make

STRONG = 0.6
"""From this opacity on, text on a cell is paper-coloured."""
_FULL = 20.0
"""Points that have the full colour, unless an effect is larger."""


@dataclass(frozen=True)
class HeatCell:
    """One effect in points; None without data."""

    value: float | None
    shown: str
    """The effect as text."""
    under: str
    """The interval as text."""
    strong: bool
    """Framed: the effect is shown."""


def heat_map(
    name: str, title: str, rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[HeatCell]]
) -> Plot:
    """Every cell with its effect and interval; in the narrow form columns have their numbers alone."""
    said = "; ".join(
        f"{fit(row, 60)}: "
        + ", ".join(f"{fit(column, 40)} {cell.shown}" for column, cell in zip(columns, line, strict=True))
        for row, line in zip(rows, cells, strict=True)
    )
    return make(name, title, f"{title}, in points. {said}.", lambda w: _draw(rows, columns, cells, w))


def _draw(rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[HeatCell]], width: int) -> Figure:
    narrow = width < 500
    step, left, top = (64, 6, 34) if narrow else (50, 250, 40)
    figure, axes = canvas(width, step * len(rows) + top + 8, left, 6, top, 8)
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(rows), 0)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines["bottom"].set_visible(False)
    full = max([_FULL, *(abs(c.value) for line in cells for c in line if c.value is not None)])
    across = (width - left - 6) / len(columns)
    for k, column in enumerate(columns):
        text = str(k + 1) if narrow else fit(column, max(2, int(across / 8)))
        axes.annotate(text, (k + 0.5, 0), (0, 10), textcoords="offset points", ha="center", color=MUTED)
    for i, (row, line) in enumerate(zip(rows, cells, strict=True)):
        if narrow:
            axes.annotate(fit(row, 40), (0, i), (2, -13), textcoords="offset points", color=INK, fontsize=12)
        else:
            axes.annotate(fit(row, 34), (0, i + 0.5), (-14, 0), textcoords="offset points", ha="right", va="center",
                          color=INK)  # fmt: skip
        for k, cell in enumerate(line):
            _cell(axes, k, i, cell, full, across, narrow)
    return figure


def _cell(axes: Axes, k: int, i: int, cell: HeatCell, full: float, across: float, narrow: bool) -> None:
    low = 0.32 if narrow else 0.04
    corner, size = (k + 0.02, i + low), (0.96, 0.96 - low)
    strength = 0.0 if cell.value is None else abs(cell.value) / full
    colour = FAINT if cell.value is None else CORAL if cell.value > 0 else BLUE
    axes.add_patch(Rectangle(corner, *size, facecolor=colour, alpha=0.06 + 0.86 * strength, linewidth=0))
    if cell.strong:
        axes.add_patch(Rectangle(corner, *size, fill=False, edgecolor=INK, linewidth=1.6))
    ink = PAPER if strength > STRONG else INK
    both = across > 92 and not narrow
    middle = i + (low + 0.96) / 2
    axes.annotate(cell.shown, (k + 0.5, middle), (0, 7 if both else 0), textcoords="offset points", ha="center",
                  va="center", color=ink, fontsize=12.5 if across > 44 else 10)  # fmt: skip
    if both:
        axes.annotate(cell.under, (k + 0.5, middle), (0, -9), textcoords="offset points", ha="center", va="center",
                      color=ink, fontsize=10)  # fmt: skip
