"""A report page made of parts: one value for HTML and Markdown, so that audits say what to show and never how.

All texts may be untrusted: they are escaped where they are printed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup
from pydantic import BaseModel

from ...core.records import Verdict
from ..report.model import Fact, State, Text
from ..report.render import environment, source_hash, style_sheet
from ..report.svg import Plot
from ..report.write import write_files

_FOLDER = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, and a smaller line under it."""

    text: str
    sub: str = ""


@dataclass(frozen=True)
class Table:
    """A table whose first column heads its rows; the others are figures unless they are named in `words`."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    words: tuple[str, ...] = ()
    """Columns of words."""


@dataclass(frozen=True)
class Excerpt:
    """A text of the data, under a title."""

    title: str
    text: Text


@dataclass(frozen=True)
class Example:
    """Texts side by side, folded away under a summary."""

    summary: str
    before: tuple[Excerpt, ...]
    """Over the whole width."""
    sides: tuple[Excerpt, ...]
    after: tuple[Excerpt, ...] = ()
    verdicts: tuple[tuple[str, Verdict], ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Note:
    """A line of small print."""

    text: str


@dataclass(frozen=True)
class Folded:
    """Tables folded away under a summary."""

    summary: str
    tables: tuple[Table, ...]


Block = Table | Plot | Example | Note | Folded


@dataclass(frozen=True)
class Section:
    """A part of the page with its heading."""

    id: str
    title: str
    paragraphs: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Page:
    """A whole report."""

    about: str
    """What kind of report on what, over the title."""
    title: str
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    facts: tuple[Fact, ...]
    sections: tuple[Section, ...]
    state: State = "finished"

    @property
    def plots(self) -> Iterator[Plot]:
        """Every plot, in order."""
        return (block for section in self.sections for block in section.blocks if isinstance(block, Plot))


def page_html(page: Page) -> str:
    """A self-contained page without scripts."""
    style = style_sheet()
    template = environment(_FOLDER, escape=True).get_template("page.html.j2")
    return template.render(
        page=page,
        kind=_kind,
        wide=lambda plot: Markup(plot.wide),
        narrow=lambda plot: Markup(plot.narrow),
        style=Markup(style),
        style_source=source_hash(style),
    )


def page_md(page: Page) -> str:
    """Markdown, with links to `plots/*.svg`."""
    return environment(_FOLDER, escape=False).get_template("page.md.j2").render(page=page, kind=_kind)


def write_page(page: Page, result: BaseModel, folder: Path, name: str = "report") -> dict[str, Path]:
    """Write `name`.html, .md, .json and plots/ into `folder`; the paths by kind. Raises StoreError."""
    files: dict[str, tuple[str, bytes]] = {
        "html": (f"{name}.html", page_html(page).encode("utf-8", "replace")),
        "markdown": (f"{name}.md", page_md(page).encode("utf-8", "replace")),
        "json": (f"{name}.json", (result.model_dump_json(indent=2) + "\n").encode()),
    }
    for plot in page.plots:
        files[f"plot:{plot.name}:svg"] = (f"plots/{plot.name}.svg", plot.file_svg.encode())
        files[f"plot:{plot.name}:png"] = (f"plots/{plot.name}.png", plot.png)
    return write_files(folder, files, "report")


def row(*cells: str | Cell) -> tuple[Cell, ...]:
    """A row from texts and cells."""
    return tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells)


def table(caption: str, columns: Sequence[str], rows: Sequence[tuple[Cell, ...]], words: Sequence[str] = ()) -> Table:
    """A table from sequences."""
    return Table(caption, tuple(columns), tuple(rows), tuple(words))


def _kind(block: Block) -> str:
    return type(block).__name__.lower()
