"""The tables and plots of a taxonomy audit."""

from collections.abc import Iterator

from ...audits.taxonomy.result import Against, BiasResult, TaxonomyResult
from ..report.tables import number, points
from .figures import percent, percents, point_span, real, signed, signed_span
from .page import Block, Cell, Note, Table, row, table
from .plots import Line, forest

LEVEL = 0.05
"""A bias is called out when its corrected p-value is under this."""


def found(bias: BiasResult) -> bool:
    """Whether the injection makes the judge err more often, beyond chance."""
    return bias.p_corrected < LEVEL and (bias.drop or 0.0) > 0


def overall_line(result: TaxonomyResult) -> str:
    """The overall rate in a few words; empty when there is none."""
    rate = result.overall.bsr
    if rate.value is None:
        return ""
    return f"{percent(rate.value)} ({percent(rate.interval[0])} to {percent(rate.interval[1])})"


def bias_table(result: TaxonomyResult) -> Table:
    """One line for each bias."""
    return table(
        "Sensitivity to each bias",
        ("Bias", "Pairs", "BSR", "Accuracy", "Drop, points", "Harms / repairs", "p corrected", "Ties, invalid"),
        [
            row(
                Cell(b.name, b.dimension),
                Cell(f"{b.n:,}", f"{b.right_original:,} right before"),
                Cell(percent(b.bsr.value), f"{percents(b.bsr.interval)}"),
                f"{percent(b.accuracy_original)} → {percent(b.accuracy_biased)}",
                Cell("–" if b.drop is None else points(b.drop), point_span(b.drop_interval)),
                f"{b.harms:,} / {b.repairs:,}",
                Cell(number(b.p_corrected), f"p = {number(b.p_value)}"),
                f"{b.original.ties + b.biased.ties:,}, {b.original.invalid + b.biased.invalid:,}",
            )
            for b in result.biases
        ],
    )


def overall_table(result: TaxonomyResult) -> Table:
    """The weighted rates."""
    return table(
        "BSR over several biases, weighted by the size of their test sets",
        ("Biases", "BSR", "95 % interval", "Number of biases", "Different pairs"),
        [
            row(o.name, percent(o.bsr.value), f"{percent(o.bsr.interval[0])} to {percent(o.bsr.interval[1])}",
                f"{o.biases}", f"{o.pairs:,}")
            for o in (*result.dimensions, result.overall)
            if o.biases
        ],
    )  # fmt: skip


def rate_plot(result: TaxonomyResult, name: str = "bsr") -> Iterator[Block]:
    """BSR of each bias; nothing when no pair was right."""
    lines = [
        Line(b.name, 100 * b.bsr.value, (100 * b.bsr.interval[0], 100 * b.bsr.interval[1]), found(b),
             f"{percent(b.bsr.value)}  [{percent(b.bsr.interval[0])}, {percent(b.bsr.interval[1])}]")
        for b in result.biases
        if b.bsr.value is not None
    ]  # fmt: skip
    if lines:
        yield forest(name, "Bias sensitivity rate", "right verdicts that turn wrong, %", lines)


def cue_table(bias: BiasResult) -> Table:
    """One line for each line that was added."""
    return table(
        f"{bias.name}, by line (toward, away: verdicts that moved to, or from, the answer with the line)",
        ("Line", "Pairs", "Harms / repairs", "Toward / away", "Against original", "Against control", "p corrected"),
        [
            row(
                c.cue,
                f"{c.n:,}",
                f"{c.harms:,} / {c.repairs:,}",
                f"{c.toward:,} / {c.away:,}",
                effect(c.against_original),
                effect(c.against_control),
                _corrected(c.against_control or c.against_original),
            )
            for c in bias.cues
        ],
    )


def effect(against: Against | None) -> Cell:
    """An effect in points with its interval."""
    if against is None or against.effect is None:
        return Cell("–")
    return Cell(points(against.effect), point_span(against.interval))


def _corrected(against: Against) -> str:
    return "–" if against.p_corrected is None else number(against.p_corrected)


def margin_blocks(result: TaxonomyResult) -> Iterator[Block]:
    """Changes of the margin by which the better answer leads; nothing for judges without scores or probabilities."""
    rows = [(b.name, b.margin) for b in result.biases if b.margin is not None]
    if not rows:
        return
    unit = rows[0][1].unit
    lines = [
        Line(name, m.change, m.interval, m.interval[1] < 0, f"{signed(m.change)}  [{signed_span(m.interval)}]")
        for name, m in rows
        if m.change is not None and m.interval is not None
    ]
    if lines:
        yield forest("margins", "Change of the margin", f"change of the chosen answer's lead, {unit}", lines)
    yield table(
        f"Lead of the chosen answer, {unit}",
        ("Bias", "Pairs", "Before", "After", "Change", "In standard deviations", "Smaller after"),
        [
            row(
                name,
                f"{m.n:,}",
                real(m.before),
                real(m.after),
                Cell(signed(m.change), signed_span(m.interval)),
                real(m.standardised),
                percent(m.shrunk),
            )
            for name, m in rows
        ],
    )


def suite_blocks(result: TaxonomyResult) -> Iterator[Block]:
    """How the suite was made."""
    yield table(
        "How the test set of each bias came about",
        (
            "Bias",
            "Written by",
            "Eligible",
            "Drawn",
            "Failed",
            "Answer changed",
            "Discarded",
            "Unchecked",
            "Kept",
            "Length",
        ),
        [
            row(
                b.name,
                b.written_by,
                *(f"{n:,}" for n in (b.suite.eligible, b.suite.drawn, b.suite.failed, b.suite.answer_changed)),
                *(f"{n:,}" for n in (b.suite.discarded, b.suite.unchecked, b.suite.kept)),
                "–" if b.length_ratio is None else f"× {b.length_ratio:.2f}",
            )
            for b in result.biases
        ],
        ("Written by",),
    )
    yield Note(
        "Length: median words of the injected rejected answer over those of the original. Discarded: the verifier did "
        "not prefer the chosen answer any more."
    )
