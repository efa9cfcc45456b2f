"""The plots of a report."""

from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .funnel import STEPS
from .model import BiasEntry, ErrorRow, Evidence, Funnel, Growth, Report
from .svg import AMBER, BLUE, CORAL, FAINT, GRID, INK, MUTED, PAPER, Plot, canvas, fit, make
from .tables import points

_MOST_ROWS = 24
_BACKED: Any = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.5}
"""Text that stands on grid lines."""
_STEP_LABELS = {
    "misjudgments": "Misjudgments",
    "explained": "Explained",
    "candidates": "Candidates",
    "groups": "Groups",
    "novel": "Novel",
    "validated": "Validated",
    "confirmed": "Confirmed",
}


def draw_plots(report: Report) -> dict[str, Plot]:
    """Those plots for which the report has figures, by name."""
    return {plot.name: plot for plot in _plots(report)}


def _plots(report: Report) -> Iterator[Plot]:
    tested = [(b, b.shown) for b in report.biases if b.shown is not None]
    rows = [(b, e) for b, e in tested if e is not None][:_MOST_ROWS]
    if rows:
        yield make("effects", "Effect of each bias", _effects_alt(rows, len(tested)), lambda w: _forest(rows, w))
    errors = [r for r in report.errors if r.error_original is not None]
    if errors:
        yield make("errors", "Error rate by domain and arm", _errors_alt(errors), lambda w: _errors(errors, w))
    steps = [(s, n) for s in STEPS if (n := getattr(report.funnel, s)) is not None]
    if any(n for _, n in steps):
        yield make("funnel", "From misjudgments to biases", _funnel_alt(report.funnel), lambda w: _funnel(steps, w))
    if report.growth:
        yield make("growth", "Biases by iteration", _growth_alt(report.growth), lambda w: _growth(report.growth, w))


def _forest(rows: Sequence[tuple[BiasEntry, Evidence]], width: int) -> Figure:
    narrow = width < 500
    step, left, right = (46, 6, 12) if narrow else (34, 270, 150)
    figure, axes = canvas(width, step * len(rows) + 62, left, right, 8, 54)
    low = min(0.0, *(e.interval[0] for _, e in rows))
    high = max(0.0, *(e.interval[1] for _, e in rows))
    pad = 0.06 * (high - low or 1)
    axes.set_xlim(low - pad, high + pad)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks([])
    _grid(axes, "x")
    axes.axvline(0, color=MUTED, linewidth=1.2)
    for k, (bias, e) in enumerate(rows):
        accepted = bias.status in ("valid", "confirmed")
        colour = CORAL if accepted else FAINT
        y = k + (0.16 if narrow else 0)
        axes.plot(e.interval, (y, y), color=colour, linewidth=2.6, solid_capstyle="round")
        fill = colour if bias.status == "confirmed" else PAPER
        axes.plot(e.effect, y, "o", color=colour, markersize=9, markeredgewidth=2.2, markerfacecolor=fill)
        figures = f"{points(e.effect)}  [{points(e.interval[0])}, {points(e.interval[1])}]"
        ink = INK if accepted else MUTED
        if narrow:
            axes.annotate(fit(bias.name, 28), (0, k - 0.25), (left - 6, 0), ("axes fraction", "data"),
                          "offset points", va="center", color=ink, fontsize=12, bbox=_BACKED)  # fmt: skip
            axes.annotate(points(e.effect), (1, k - 0.25), (4, 0), ("axes fraction", "data"), "offset points",
                          ha="right", va="center", color=ink, fontsize=12, bbox=_BACKED)  # fmt: skip
        else:
            axes.annotate(fit(bias.name, 36), (0, k), (-14, 0), ("axes fraction", "data"), "offset points",
                          ha="right", va="center", color=ink)  # fmt: skip
            axes.annotate(figures, (1, k), (14, 0), ("axes fraction", "data"), "offset points", va="center",
                          color=ink, fontsize=11.5)  # fmt: skip
    axes.set_xlabel(
        "effect on the error rate, points" + ("" if narrow else " (95 % interval)"), color=MUTED, labelpad=8
    )
    return figure


def _errors(rows: Sequence[ErrorRow], width: int) -> Figure:
    narrow = width < 500
    step, left = (50, 8) if narrow else (44, 170)
    figure, axes = canvas(width, step * len(rows) + 88, left, 20, 34, 54)
    values = [100 * v for r in rows for v in (r.error_original, r.error_placebo, r.error_biased) if v is not None]
    axes.set_xlim(0, max(10.0, 1.12 * max(values)))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks([])
    _grid(axes, "x")
    arms = (("error_original", "original", BLUE, "o"), ("error_placebo", "placebo", AMBER, "D"),
            ("error_biased", "biased", CORAL, "s"))  # fmt: skip
    for k, row in enumerate(rows):
        y = k + (0.18 if narrow else 0)
        there = [100 * v for f, *_ in arms if (v := getattr(row, f)) is not None]
        axes.plot((min(there), max(there)), (y, y), color=GRID, linewidth=5, solid_capstyle="round", zorder=1)
        for field, _, colour, marker in arms:
            if (value := getattr(row, field)) is not None:
                axes.plot(100 * value, y, marker, color=colour, markersize=8 if marker != "o" else 9,
                          markeredgecolor=PAPER, markeredgewidth=1.2, zorder=3)  # fmt: skip
        weight = "bold" if row.domain == "overall" else "normal"
        if narrow:
            axes.annotate(fit(row.domain, 30), (0, k - 0.24), (2, 0), ("axes fraction", "data"), "offset points",
                          va="center", color=INK, fontweight=weight, fontsize=12, bbox=_BACKED)  # fmt: skip
        else:
            axes.annotate(fit(row.domain, 22), (0, k), (-14, 0), ("axes fraction", "data"), "offset points",
                          ha="right", va="center", color=INK, fontweight=weight)  # fmt: skip
    shown = [a for a in arms if any(getattr(r, a[0]) is not None for r in rows)]
    for k, (_, label, colour, marker) in enumerate(shown):
        x = left + 10 + k * (100 if narrow else 110)
        top = figure.get_figheight() * 72 - 16
        axes.annotate(label, (x + 12, top), xycoords="figure points", va="center", color=INK, fontsize=12)
        axes.plot(x / width, top / (figure.get_figheight() * 72), marker, color=colour, markersize=8, clip_on=False,
                  transform=figure.transFigure)  # fmt: skip
    axes.set_xlabel("error rate, %", color=MUTED, labelpad=8)
    return figure


def _funnel(steps: Sequence[tuple[str, int]], width: int) -> Figure:
    left = 104 if width < 500 else 170
    figure, axes = canvas(width, 36 * len(steps) + 20, left, 64, 8, 12)
    axes.spines["bottom"].set_visible(False)
    most = max(n for _, n in steps)
    axes.set_xlim(0, most)
    axes.set_ylim(len(steps) - 0.5, -0.5)
    axes.set_xticks([])
    axes.set_yticks([])
    for k, (step, n) in enumerate(steps):
        found = step in ("validated", "confirmed")
        axes.barh(k, max(n, 0.004 * most), height=0.62, color=CORAL if found else BLUE, linewidth=0)
        axes.annotate(_STEP_LABELS[step], (0, k), (-12, 0), ("axes fraction", "data"), "offset points", ha="right",
                      va="center", color=INK)  # fmt: skip
        axes.annotate(f"{n:,}", (n, k), (8, 0), "data", "offset points", va="center", color=INK, fontweight="bold",
                      annotation_clip=False)  # fmt: skip
    return figure


def _growth(rows: Sequence[Growth], width: int) -> Figure:
    figure, axes = canvas(width, 260 if width < 500 else 300, 44, 76 if width >= 500 else 74, 22, 50)
    _grid(axes, "y")
    turns = [r.iteration + 1 for r in rows]
    most = 1.12 * max(1, rows[-1].cumulative_novel, rows[-1].cumulative_validated)
    apart = 9 if abs(rows[-1].cumulative_novel - rows[-1].cumulative_validated) < 0.08 * most else 0
    for label, colour, values, marker, shift in (
        ("novel", BLUE, [r.cumulative_novel for r in rows], "o", apart),
        ("validated", CORAL, [r.cumulative_validated for r in rows], "s", -apart),
    ):
        axes.plot(turns, values, marker=marker, color=colour, linewidth=2.4, markersize=7.5, markeredgecolor=PAPER)
        axes.annotate(f"{values[-1]} {label}", (turns[-1], values[-1]), (10, shift), "data", "offset points",
                      va="center", color=colour, fontweight="bold", fontsize=12, annotation_clip=False)  # fmt: skip
    axes.set_xlim(min(turns) - 0.15, max(turns) + 0.15)
    axes.set_ylim(0, most)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    axes.set_xlabel("after iteration", color=MUTED, labelpad=8)
    return figure


def _grid(axes: Axes, axis: str) -> None:
    axes.grid(True, axis="x" if axis == "x" else "y", color=GRID, linewidth=1)
    axes.set_axisbelow(True)
    if axis == "x":
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6))


def _effects_alt(rows: Sequence[tuple[BiasEntry, Evidence]], tested: int) -> str:
    said = "; ".join(
        f"{fit(b.name, 60)} {points(e.effect)} points ({points(e.interval[0])} to {points(e.interval[1])}, {b.status})"
        for b, e in rows
    )
    more = f" {tested - len(rows)} more are in the table." if tested > len(rows) else ""
    return f"Forest plot of effects with 95 % intervals. {said}.{more}"


def _errors_alt(rows: Sequence[ErrorRow]) -> str:
    said = []
    for row in rows:
        arms = (("original", row.error_original), ("placebo", row.error_placebo), ("biased", row.error_biased))
        said.append(f"{fit(row.domain, 40)}: " + ", ".join(f"{n} {100 * v:.1f} %" for n, v in arms if v is not None))
    return f"Error rates. {'; '.join(said)}."


def _funnel_alt(funnel: Funnel) -> str:
    said = ", ".join(f"{n:,} {s}" for s in STEPS if (n := getattr(funnel, s)) is not None)
    return f"Bars, from first to last: {said}."


def _growth_alt(rows: Sequence[Growth]) -> str:
    said = "; ".join(
        f"after iteration {r.iteration + 1}: {r.cumulative_novel} novel, {r.cumulative_validated} validated"
        for r in rows
    )
    return f"Lines of cumulative counts. {said}."
