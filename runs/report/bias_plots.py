"""The plots of one bias: its effect by domain, and how the evidence for it grew."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..analyses.e_path import EPath
from .model import DomainEffect, Evidence
from .svg import BLUE, CORAL, FAINT, GRID, INK, MUTED, PAPER, Drawing, canvas, fit
from .tables import number, points

_MOST_DOMAINS = 30


def domain_plot(evidence: Evidence) -> Drawing | None:
    """A forest plot: effect and 95 % interval by domain, then over all; None when it has no domains."""
    rows = [d for d in evidence.by_domain if d.effect is not None][:_MOST_DOMAINS]
    if not rows:
        return None
    whole = DomainEffect(domain="all domains", n=evidence.n, effect=evidence.effect, interval=evidence.interval)
    said = "; ".join(f"{fit(r.domain, 40)} {_figures(r)}" for r in [*rows, whole])
    return Drawing(
        "Effect by domain",
        f"Forest plot of effects in points with 95 % intervals. {said}.",
        lambda width: _forest([*rows, whole], width),
    )


def path_plot(path: EPath) -> Drawing | None:
    """The e-value after each pair, on a log scale, and what it has to reach; None without pairs."""
    if not path.values:
        return None
    crossed = next((k + 1 for k, v in enumerate(path.values) if v >= path.threshold), None)
    reached = f"It first reaches {number(10**path.threshold)} at pair {crossed}" if crossed else "It never reaches "
    reached += "" if crossed else number(10**path.threshold)
    alt = (
        f"Line of the e-value over {len(path.values)} pairs. {reached}; it ends at {number(10 ** path.values[-1])} "
        f"after {len(path.harms)} pairs that the bias turned wrong and {len(path.repairs)} that it turned right."
    )
    return Drawing("Evidence, pair by pair", alt, lambda width: _path(path, width))


def _forest(rows: Sequence[DomainEffect], width: int) -> Figure:
    narrow = width < 500
    step, left, right = (44, 6, 12) if narrow else (32, 200, 210)
    figure, axes = canvas(width, step * len(rows) + 62, left, right, 8, 54)
    spans = [r.interval for r in rows if r.interval]
    low = min(0.0, *(s[0] for s in spans), *(r.effect or 0.0 for r in rows))
    high = max(0.0, *(s[1] for s in spans), *(r.effect or 0.0 for r in rows))
    pad = 0.06 * (high - low or 1)
    axes.set_xlim(low - pad, high + pad)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks([])
    axes.grid(True, axis="x", color=GRID, linewidth=1)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6))
    axes.axvline(0, color=MUTED, linewidth=1.2)
    axes.axhline(len(rows) - 1.5, color=GRID, linewidth=1)
    for k, row in enumerate(rows):
        whole = k == len(rows) - 1
        colour = CORAL if whole else BLUE
        y = k + (0.17 if narrow else 0)
        if row.interval:
            axes.plot(row.interval, (y, y), color=colour, linewidth=2.6, solid_capstyle="round")
        axes.plot(row.effect or 0.0, y, "D" if whole else "o", color=colour, markersize=8)
        weight = "bold" if whole else "normal"
        backed = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.5}
        if narrow:
            axes.annotate(fit(row.domain, 24), (0, k - 0.25), (left - 6, 0), ("axes fraction", "data"),
                          "offset points", va="center", color=INK, fontsize=12, bbox=backed,
                          fontweight=weight)  # fmt: skip
            axes.annotate(f"{points(row.effect or 0.0)}, n = {row.n or 0:,}", (1, k - 0.25), (4, 0),
                          ("axes fraction", "data"), "offset points", ha="right", va="center", color=MUTED,
                          fontsize=12, bbox=backed)  # fmt: skip
        else:
            axes.annotate(fit(row.domain, 26), (0, k), (-14, 0), ("axes fraction", "data"), "offset points",
                          ha="right", va="center", color=INK, fontweight=weight)  # fmt: skip
            axes.annotate(_figures(row), (1, k), (14, 0), ("axes fraction", "data"), "offset points", va="center",
                          color=INK, fontsize=11.5)  # fmt: skip
    axes.set_xlabel("effect on the error rate, points", color=MUTED, labelpad=8)
    return figure


def _figures(row: DomainEffect) -> str:
    span = f"  [{points(row.interval[0])}, {points(row.interval[1])}]" if row.interval else ""
    return f"{points(row.effect or 0.0)}{span}" + (f"  n = {row.n:,}" if row.n is not None else "")


def _path(path: EPath, width: int) -> Figure:
    narrow = width < 500
    figure, axes = canvas(width, 250 if narrow else 300, 88, 20 if narrow else 130, 16, 50)
    pairs = range(1, len(path.values) + 1)
    low = min(0.0, *path.values) - 0.2
    high = max(path.threshold, *path.values) + 0.35
    axes.set_xlim(0, len(path.values) * 1.02 + 0.5)
    axes.set_ylim(low, high)
    axes.grid(True, axis="y", color=GRID, linewidth=1)
    axes.set_axisbelow(True)
    axes.axhline(0, color=MUTED, linewidth=1)
    axes.axhline(path.threshold, color=MUTED, linewidth=1.2, linestyle=(0, (4, 3)))
    if path.batch:
        for look in range(path.batch, len(path.values), path.batch):
            axes.axvline(look, color=GRID, linewidth=1)
    axes.plot((0, *pairs), (0.0, *path.values), color=BLUE, linewidth=2)
    for places, colour, marker in ((path.harms, CORAL, "o"), (path.repairs, FAINT, "s")):
        axes.plot([k + 1 for k in places], [path.values[k] for k in places], marker, color=colour, markersize=3.6,
                  linestyle="none")  # fmt: skip
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    axes.yaxis.set_major_formatter(lambda value, _: _power(round(value)))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5 if narrow else 8))
    end = f"{number(10 ** path.values[-1])}"
    if not narrow:
        axes.annotate(f"needed: {number(10**path.threshold)}", (1, path.threshold), (10, 0),
                      ("axes fraction", "data"), "offset points", va="center", color=MUTED, fontsize=11.5)  # fmt: skip
        shift = 14 if 0 <= path.values[-1] - path.threshold < 0.12 * (high - low) else 0
        shift = -14 if -0.12 * (high - low) < path.values[-1] - path.threshold < 0 else shift
        axes.annotate(f"e = {end}", (1, path.values[-1]), (10, shift), ("axes fraction", "data"), "offset points",
                      va="center", color=BLUE, fontweight="bold", fontsize=12, annotation_clip=False)  # fmt: skip
    axes.set_xlabel("pairs tested", color=MUTED, labelpad=8)
    axes.set_ylabel("e-value", color=MUTED, labelpad=4, fontsize=11.5)
    return figure


def _power(exponent: int) -> str:
    return (
        f"{10**exponent:,.0f}"
        if 0 <= exponent <= 5
        else f"{10.0**exponent:.0e}".replace("e+0", "e").replace("e-0", "e-")
    )
