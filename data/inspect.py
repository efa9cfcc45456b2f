"""The data report for a terminal; nothing that a data set holds can steer it."""

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ..core.visible import visible
from .report import DataReport, Excerpt

SHOWN = 300
"""Characters of an example's text that are shown."""


def inspect_text(report: DataReport) -> Group:
    """Counts, domains, lengths, what was left out, oddities and three examples, ready to print with rich."""
    left_out = sum(report.dropped.values())
    head = f"{report.source}  (read as {report.preset}): {report.rows:,} rows, {report.pairs:,} pairs"
    parts: list[RenderableType] = [Text(visible(head + (f", {left_out:,} left out" if left_out else "")), "bold")]
    parts += [Text(visible(f"Note: {note}")) for note in report.notes]
    parts.append(_counts("Domains", report.domains, report.pairs))
    parts.append(_counts("Right answer in the file", report.positions, report.pairs))
    if set(report.positions) in ({"A"}, {"B"}):
        parts.append(Text("  Always in the same place: runs draw the order of the answers and ignore the file's."))
    parts.append(_lengths(report))
    if report.dropped:
        parts.append(_dropped(report))
    if report.oddities:
        parts.append(_counts("Oddities", report.oddities))
    parts += [_example(number, example) for number, example in enumerate(report.examples, 1)]
    parts.append(Text(f"Data hash {report.data_hash[:16]}"))
    return Group(*parts)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", show_edge=False, box=None, padding=(0, 2))
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    return table


def _counts(title: str, counts: dict[str, int], total: int | None = None) -> Padding:
    table = _table(title, "", "number", *(["share"] if total else []))
    for name, n in list(counts.items())[:30]:
        table.add_row(Text(visible(name)), f"{n:,}", *([f"{n / total:.1%}"] if total else []))
    if len(counts) > 30:
        table.add_row(Text(f"… and {len(counts) - 30} more"), "", *([""] if total else []))
    return Padding(table, (1, 0, 0, 0))


def _lengths(report: DataReport) -> Padding:
    table = _table("Lengths", "", "mean", "lowest", "median", "90 %", "highest")
    for name, s in report.lengths.items():
        form = "{:,.2f}" if "/" in name else "{:,.0f}"
        table.add_row(name, *(form.format(x) for x in (s.mean, s.low, s.median, s.p90, s.high)))
    table.add_row("chosen is longer", f"{report.chosen_longer:.1%}")
    return Padding(table, (1, 0, 0, 0))


def _dropped(report: DataReport) -> Padding:
    table = _table("Left out", "", "number")
    table.add_column("first ones")
    for reason, n in report.dropped.items():
        places = "; ".join(report.dropped_examples.get(reason, []))
        table.add_row(Text(visible(reason)), f"{n:,}", Text(visible(places).replace("\n", " ")))
    return Padding(table, (1, 0, 0, 0))


def _example(number: int, example: Excerpt) -> Panel:
    text = Text()
    for name in ("prompt", "chosen", "rejected"):
        content = visible(getattr(example, name))
        text.append(f"{name}\n", "bold")
        text.append(content[:SHOWN] + (" […]" if len(content) > SHOWN else "") + "\n")
    text.rstrip()
    return Panel(text, title=Text(visible(f"Example {number}, {example.domain}")), title_align="left")
