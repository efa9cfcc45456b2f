"""The kinds of plots that audits draw: intervals one under the other, before and after, a curve with its band."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..report.svg import AMBER, BLUE, CORAL, FAINT, GRID, INK, MUTED, PAPER, Plot, canvas, fit, make


@dataclass(frozen=True)
class Line:
    """One estimate with its interval."""

    name: str
    value: float
    interval: tuple[float, float]
    strong: bool
    """Coloured; others are grey."""
    shown: str
    """The figures as text."""


@dataclass(frozen=True)
class Change:
    """One value before and after."""

    name: str
    before: float
    after: float


def forest(name: str, title: str, axis: str, lines: Sequence[Line], reference: float = 0.0) -> Plot:
    """Estimates with 95 % intervals around a reference line. `axis` names the quantity and its unit."""
    said = "; ".join(f"{fit(line.name, 60)} {line.shown}" for line in lines)
    return make(name, title, f"{title}, with 95 % intervals. {said}.", lambda w: _forest(lines, axis, reference, w))


def dumbbells(name: str, title: str, axis: str, changes: Sequence[Change], labels: tuple[str, str]) -> Plot:
    """Two values of each thing, in percent, joined by a bar."""
    said = "; ".join(f"{fit(c.name, 60)} {c.before:.1f} then {c.after:.1f}" for c in changes)
    return make(
        name, title, f"{title}: {labels[0]} and {labels[1]}. {said}.", lambda w: _dumbbells(changes, axis, labels, w)
    )


def curve(
    name: str,
    title: str,
    axes: tuple[str, str],
    points: Sequence[tuple[float, float, tuple[float, float] | None, int]],
    mark: float,
) -> Plot:
    """Points (x, y, interval, n) joined by a line, with the band of the intervals; `mark` is the x that is used."""
    said = "; ".join(f"at {x:g}: {y:+.3f} from {n} pairs" for x, y, _, n in points)
    return make(name, title, f"{title}. {said}.", lambda w: _curve(points, axes, mark, w))


def _forest(lines: Sequence[Line], axis: str, reference: float, width: int) -> Figure:
    narrow = width < 500
    step, left, right = (46, 6, 12) if narrow else (34, 250, 190)
    figure, axes = canvas(width, step * len(lines) + 62, left, right, 8, 54)
    low = min(reference, *(line.interval[0] for line in lines))
    high = max(reference, *(line.interval[1] for line in lines))
    pad = 0.06 * (high - low or 1)
    axes.set_xlim(low - pad, high + pad)
    _rows(axes, len(lines))
    axes.axvline(reference, color=MUTED, linewidth=1.2)
    for k, line in enumerate(lines):
        colour, ink = (CORAL, INK) if line.strong else (FAINT, MUTED)
        y = k + (0.16 if narrow else 0)
        axes.plot(line.interval, (y, y), color=colour, linewidth=2.6, solid_capstyle="round")
        axes.plot(line.value, y, "o", color=colour, markersize=8.5, markeredgecolor=PAPER, markeredgewidth=1.2)
        _label(axes, k, line.name, ink, narrow)
        if narrow:
            axes.annotate(line.shown.split("  ")[0], (1, k - 0.25), (4, 0), ("axes fraction", "data"), "offset points",
                          ha="right", va="center", color=ink, fontsize=12)  # fmt: skip
        else:
            axes.annotate(line.shown, (1, k), (14, 0), ("axes fraction", "data"), "offset points", va="center",
                          color=ink, fontsize=11.5)  # fmt: skip
    axes.set_xlabel(axis, color=MUTED, labelpad=8)
    return figure


def _dumbbells(changes: Sequence[Change], axis: str, labels: tuple[str, str], width: int) -> Figure:
    narrow = width < 500
    step, left = (50, 8) if narrow else (40, 230)
    figure, axes = canvas(width, step * len(changes) + 88, left, 20, 34, 54)
    values = [v for c in changes for v in (c.before, c.after)]
    axes.set_xlim(max(0.0, min(values) - 5), min(100.0, max(values) + 5))
    _rows(axes, len(changes))
    for k, change in enumerate(changes):
        y = k + (0.18 if narrow else 0)
        axes.plot((change.before, change.after), (y, y), color=GRID, linewidth=5, solid_capstyle="round", zorder=1)
        axes.plot(change.before, y, "o", color=BLUE, markersize=9, markeredgecolor=PAPER, zorder=3)
        axes.plot(change.after, y, "s", color=CORAL, markersize=8, markeredgecolor=PAPER, zorder=3)
        _label(axes, k, change.name, INK, narrow)
    top = figure.get_figheight() * 72
    for k, (label, colour, marker) in enumerate(zip(labels, (BLUE, CORAL), "os", strict=True)):
        x = left + 10 + 150 * k
        axes.annotate(label, (x + 12, top - 16), xycoords="figure pixels", va="center", color=INK, fontsize=12)
        axes.plot(x / width, (top - 16) / top, marker, color=colour, markersize=8, clip_on=False,
                  transform=figure.transFigure)  # fmt: skip
    axes.set_xlabel(axis, color=MUTED, labelpad=8)
    return figure


def _curve(
    points: Sequence[tuple[float, float, tuple[float, float] | None, int]],
    names: tuple[str, str],
    mark: float,
    width: int,
) -> Figure:
    figure, axes = canvas(width, 260 if width < 500 else 320, 64, 24, 22, 54)
    banded = [(x, y, band) for x, y, band, _ in points if band is not None]
    if banded:
        axes.fill_between([x for x, _, _ in banded], [b[0] for *_, b in banded], [b[1] for *_, b in banded],
                          color=BLUE, alpha=0.15, linewidth=0)  # fmt: skip
    axes.plot([p[0] for p in points], [p[1] for p in points], "o-", color=BLUE, linewidth=2.4, markersize=6.5,
              markeredgecolor=PAPER)  # fmt: skip
    axes.axhline(0, color=MUTED, linewidth=1.2)
    axes.axvline(mark, color=AMBER, linewidth=1.4, linestyle="--")
    axes.grid(True, axis="y", color=GRID, linewidth=1)
    axes.set_axisbelow(True)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6))
    axes.set_xlabel(names[0], color=MUTED, labelpad=8)
    axes.set_ylabel(names[1], color=MUTED, labelpad=8)
    return figure


def _rows(axes: Axes, count: int) -> None:
    axes.set_ylim(count - 0.5, -0.5)
    axes.set_yticks([])
    axes.grid(True, axis="x", color=GRID, linewidth=1)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6))


def _label(axes: Axes, k: int, name: str, ink: str, narrow: bool) -> None:
    if narrow:
        axes.annotate(fit(name, 30), (0, k - 0.25), (4, 0), ("axes fraction", "data"), "offset points", va="center",
                      color=ink, fontsize=12)  # fmt: skip
    else:
        axes.annotate(fit(name, 34), (0, k), (-14, 0), ("axes fraction", "data"), "offset points", ha="right",
                      va="center", color=ink)  # fmt: skip
