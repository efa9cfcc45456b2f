"""Matplotlib figures as SVG that follows the page's colours, and as PNG; the same figure gives the same bytes."""

import io
import re
import threading
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, NamedTuple

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from ...core.visible import one_line

INK, MUTED, GRID, BLUE, CORAL, AMBER, FAINT, PAPER = (
    "#18212e", "#5a6778", "#dfe4ec", "#2b66d9", "#d0442c", "#b77a08", "#a7b1bf", "#fefefe",
)  # fmt: skip
"""The light palette. In SVG each becomes a CSS variable, so a page (or a viewer) can be dark."""
_DARK = dict(
    zip(
        (INK, MUTED, GRID, BLUE, CORAL, AMBER, FAINT, PAPER),
        ("#e8edf4", "#a2aebd", "#2c3643", "#7aa5ff", "#ff8168", "#e9b44c", "#69758a", "#161d27"),
        strict=True,
    )
)
_NAMES = dict(zip(_DARK, ("ink", "muted", "grid", "blue", "coral", "amber", "faint", "paper"), strict=True))
_RC: Any = {
    "svg.hashsalt": "biasscope",
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 12.5,
    "text.color": INK,
    "axes.edgecolor": GRID,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
}
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


class Plot(NamedTuple):
    """A figure in two widths, with its words for those who cannot see it."""

    name: str
    title: str
    alt: str
    wide: str
    """SVG for a page, about 820 px."""
    narrow: str
    """SVG for a phone, about 350 px."""
    file_svg: str
    file_narrow: str
    png: bytes


Draw = Callable[[int], Figure]


class Drawing(NamedTuple):
    """A plot that is drawn when it is asked for."""

    title: str
    alt: str
    draw: Draw


def colours(theme: str) -> str:
    """The palette as CSS declarations; `theme` is light or dark."""
    return " ".join(f"--p-{name}: {hex_ if theme == 'light' else _DARK[hex_]};" for hex_, name in _NAMES.items())


WIDE, NARROW = 820, 350
"""Widths of a figure for a page and for a phone, px."""
_DRAWING = threading.Lock()
"""Matplotlib's settings belong to the whole process."""


def svg_file(name: str, title: str, alt: str, draw: Draw, width: int = WIDE) -> str:
    """A figure as an SVG file that follows the viewer's light or dark scheme."""
    with _DRAWING, matplotlib.rc_context(_RC):
        return _file(_inline(_svg(draw(width)), name, title, alt))


def png_file(draw: Draw) -> bytes:
    """A figure as PNG, light."""
    with _DRAWING, matplotlib.rc_context(_RC):
        return _png(draw(WIDE))


def make(name: str, title: str, alt: str, draw: Draw) -> Plot:
    """Draw at both widths. `draw(width)` gives a figure `width` px wide (72 dpi)."""
    with _DRAWING, matplotlib.rc_context(_RC):
        wide, narrow = _svg(draw(WIDE)), _svg(draw(NARROW))
        png = _png(draw(WIDE))
    return Plot(
        name=name,
        title=title,
        alt=alt,
        wide=_inline(wide, f"{name}-wide", title, alt),
        narrow=_inline(narrow, f"{name}-narrow", title, alt),
        file_svg=_file(_inline(wide, name, title, alt)),
        file_narrow=_file(_inline(narrow, name, title, alt)),
        png=png,
    )


def canvas(width: int, height: float, left: float, right: float, top: float, bottom: float) -> tuple[Figure, Axes]:
    """A figure and one bare axes; sizes and margins in px."""
    figure = Figure(figsize=(width / 72, height / 72), dpi=72)
    axes = figure.add_axes(
        (left / width, bottom / height, (width - left - right) / width, (height - top - bottom) / height)
    )
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0, pad=6)
    axes.set_facecolor("none")
    figure.patch.set_alpha(0)
    return figure, axes


def fit(text: str, columns: int) -> str:
    """Untrusted `text` on one line of at most `columns` columns (wide characters take two)."""
    line, used = one_line(text, 400), 0
    for k, character in enumerate(line):
        used += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if used > columns:
            return line[: max(1, k - 1)].rstrip() + "…"
    return line


@contextmanager
def _any_glyph() -> Iterator[None]:
    """A name in a script the plot font lacks is no reason to complain: the viewer's fonts draw it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*")
        warnings.filterwarnings("ignore", message=".*Matplotlib currently does not support.*")
        yield


def _svg(figure: Figure) -> str:
    out = io.StringIO()
    FigureCanvasSVG(figure)
    with _any_glyph():
        figure.savefig(
            out, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
    return out.getvalue()


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    FigureCanvasAgg(figure)
    with _any_glyph():
        figure.savefig(out, format="png", dpi=144, facecolor=PAPER, metadata={"Software": None})
    return out.getvalue()


def _inline(svg: str, prefix: str, title: str, alt: str) -> str:
    """Without prolog and global style; ids made unique in the page; colours as variables."""
    found = re.search(r'viewBox="([^"]+)"', svg)
    box = found[1] if found else "0 0 820 400"
    body = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", body)
    for hex_, name in _NAMES.items():
        body = body.replace(f": {hex_}", f": var(--p-{name}, {hex_})")
    body = re.sub(r' style="([^"]*)"', _attributes, body)
    body = re.sub(r"\n\s*", "\n", body).strip()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" class="plot" '
        f'viewBox="{box}" role="img" aria-labelledby="{prefix}-title {prefix}-desc">'
        f'<title id="{prefix}-title">{escape(title)}</title><desc id="{prefix}-desc">{escape(alt)}</desc>'
        f"{body}</svg>"
    )


def _attributes(style: re.Match[str]) -> str:
    """A style attribute as presentation attributes, which a strict content policy allows."""
    found = []
    for declaration in style[1].split(";"):
        key, _, value = (part.strip() for part in declaration.partition(":"))
        if key == "font":
            size = re.search(r"[\d.]+px", value)
            found += [f'font-size="{size[0]}"'] if size else []
            found += ['font-weight="600"'] if re.search(r"bold|[67]00 ", value) else []
        elif key and key != "font-family":
            found.append(f'{key}="{value}"')
    return "".join(f" {attribute}" for attribute in found)


def _file(inline: str) -> str:
    style = (
        f"<style>svg {{ {colours('light')} font-family: {_FONT}; stroke-linejoin: round; }} "
        f"@media (prefers-color-scheme: dark) {{ svg {{ {colours('dark')} }} }}</style>"
    )
    at = inline.index("<title")
    # A file has a size of its own; without it an image of it is 300 px wide.
    opening = re.sub(r'viewBox="\S+ \S+ (\S+) (\S+)"', r'width="\g<1>" height="\g<2>" \g<0>', inline[:at], count=1)
    return f"{opening}{style}{inline[at:]}\n"
