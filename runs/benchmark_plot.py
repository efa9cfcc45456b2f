"""The difference plot: every judge on the source pairs and on the benchmark made from them."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..builders.benchmark.scores import Evaluation, Part
from .report.svg import BLUE, CORAL, GRID, INK, MUTED, PAPER, Plot, canvas, fit, make

_MOST = 24
_BOX = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.5}


def difference_plot(found: Evaluation) -> Plot | None:
    """Judges as lines from their error on the source pairs to that on the items; None when none has both."""
    rows = [
        (score.judge + (" †" if score.chose_items else ""), score.overall)
        for score in found.judges
        if score.overall.difference.value is not None
    ][:_MOST]
    if not rows:
        return None
    title = f"Error rates on {found.benchmark} and on its source pairs"
    return make("difference", title, _alt(rows), lambda width: _draw(rows, width))


def _draw(rows: Sequence[tuple[str, Part]], width: int) -> Figure:
    narrow = width < 500
    step, left, right = (50, 8, 12) if narrow else (40, 230, 170)
    figure, axes = canvas(width, step * len(rows) + 92, left, right, 34, 54)
    axes.set_xlim(0, 100)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks([])
    axes.grid(True, axis="x", color=GRID, linewidth=1)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
    axes.axvline(50, color=MUTED, linewidth=1.2, linestyle=(0, (4, 3)))
    for k, (name, part) in enumerate(rows):
        y = k + (0.18 if narrow else 0)
        before, after = 100 * (part.source.value or 0.0), 100 * (part.error.value or 0.0)
        axes.plot((before, after), (y, y), color=GRID, linewidth=5, solid_capstyle="round", zorder=1)
        low, high = 100 * part.error.low, 100 * part.error.high
        axes.plot((low, high), (y, y), color=CORAL, linewidth=1.4, zorder=2)
        axes.plot(before, y, "o", color=BLUE, markersize=9, markeredgecolor=PAPER, zorder=3)
        axes.plot(after, y, "s", color=CORAL, markersize=8, markeredgecolor=PAPER, zorder=3)
        words = _figures(part)
        if narrow:
            label = f"{fit(name, 24)}  {words.split('  ')[0]}"
            axes.annotate(label, (0, k - 0.24), (2, 0), ("axes fraction", "data"), "offset points", va="center",
                          color=INK, fontsize=12, bbox=_BOX)  # fmt: skip
        else:
            axes.annotate(fit(name, 30), (0, k), (-14, 0), ("axes fraction", "data"), "offset points", ha="right",
                          va="center", color=INK)  # fmt: skip
            axes.annotate(words, (1, k), (14, 0), ("axes fraction", "data"), "offset points", va="center",
                          color=INK, fontsize=11.5)  # fmt: skip
    top = figure.get_figheight() * 72 - 16
    for k, (label, colour, marker) in enumerate((("source pairs", BLUE, "o"), ("benchmark", CORAL, "s"))):
        x = left + 10 + 130 * k
        axes.annotate(label, (x + 12, top), xycoords="figure points", va="center", color=INK, fontsize=12)
        axes.plot(x / width, top / (figure.get_figheight() * 72), marker, color=colour, markersize=8, clip_on=False,
                  transform=figure.transFigure)  # fmt: skip
    axes.set_xlabel("error rate, % (dashed: chance)", color=MUTED, labelpad=8)
    return figure


def _figures(part: Part) -> str:
    d = part.difference
    return f"{100 * (d.value or 0.0):+.1f}  [{100 * d.low:+.1f}, {100 * d.high:+.1f}]"


def _alt(rows: Sequence[tuple[str, Part]]) -> str:
    said = "; ".join(
        f"{fit(name, 40)}: {100 * (p.source.value or 0.0):.1f} % on the source pairs, "
        f"{100 * (p.error.value or 0.0):.1f} % on the benchmark, difference {_figures(p)} points"
        for name, p in rows
    )
    return f"Error rates of judges. {said}."
