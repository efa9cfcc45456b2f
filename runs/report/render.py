"""The report as one HTML file and as Markdown."""

import base64
import functools
import hashlib
from pathlib import Path

import jinja2
from markupsafe import Markup

from ...core.visible import fenced, markdown, one_line, visible
from .model import Report
from .plots import draw_plots
from .svg import Plot, colours
from .tables import DECISIONS, evidence, number, points

_FOLDER = Path(__file__).parent / "templates"


def html(report: Report, plots: dict[str, Plot] | None = None) -> str:
    """A self-contained page without scripts; all text of the run is escaped."""
    style = style_sheet()
    drawn = draw_plots(report) if plots is None else plots
    return (
        environment(_FOLDER, escape=True)
        .get_template("report.html.j2")
        .render(
            report=report,
            plots={n: (p.title, Markup(p.wide), Markup(p.narrow)) for n, p in drawn.items()},
            style=Markup(style),
            style_source=source_hash(style),
        )
    )


def md(report: Report, plots: dict[str, Plot] | None = None) -> str:
    """Markdown, with links to `plots/*.svg`; nothing that the run's texts hold is markup in it."""
    drawn = draw_plots(report) if plots is None else plots
    return environment(_FOLDER, escape=False).get_template("report.md.j2").render(report=report, plots=drawn)


@functools.cache
def style_sheet() -> str:
    """The style of reports, light and dark."""
    style = (_FOLDER / "report.css.j2").read_text(encoding="utf-8")
    for theme in ("light", "dark"):
        style = style.replace(f"/* palette {theme} */", colours(theme))
    return style


@functools.cache
def environment(folder: Path, escape: bool) -> jinja2.Environment:
    """Templates of a folder, with the macros and filters of reports. With `escape` nothing printed is markup, and what
    cannot be seen (control characters, direction marks) is spelled out."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, _FOLDER]),
        autoescape=escape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_shown if escape else None,
    )
    made.filters |= {
        "pct": lambda v, digits=1: "–" if v is None else f"{100 * v:.{digits}f} %",
        "pts": lambda v: "–" if v is None else points(v),
        "num": lambda v: "–" if v is None else number(v),
        "int": lambda v: "–" if v is None else f"{v:,}",
        "money": lambda v: "–" if v is None else f"{v:,.4f}" if v < 1 else f"{v:,.2f}",
        "time": _time,
        "tint": _tint,
        "evidence": evidence,
        "decision": lambda d: DECISIONS[d],
        "words": lambda name: name.replace("_", " "),
        "line": one_line,
        "md": markdown,
        "fenced": fenced,
        "visible": visible,
    }
    return made


def _shown(value: object) -> object:
    """Everything that is printed and is not markup of ours loses its hidden characters."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _tint(effect: float | None) -> int:
    """Depth of a cell's colour, 0-5, for an effect in points."""
    return 0 if effect is None else min(5, max(0, round(effect / 4)))


def source_hash(style: str) -> str:
    """The content policy's name for just this style sheet."""
    return "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
