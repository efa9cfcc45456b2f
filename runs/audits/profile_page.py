"""A profile as a page."""

from collections.abc import Iterator

from ...audits.profile.result import Confidence, Orders, Profile, Share
from ..report.model import Fact
from .figures import percent, percents, real, signed, signed_span
from .page import Block, Cell, Note, Page, Section, Table, row, table
from .plots import Line, forest

WEAK_ACCURACY = 0.6
MANY_LOST = 0.05


def profile_page(found: Profile) -> Page:
    """The whole page."""
    return Page(
        about=f"judge profile · {found.run_id}",
        title=f"Right on {percent(found.accuracy.value)} of {found.pairs:,} pairs",
        sentences=tuple(_sentences(found)),
        warnings=tuple(profile_warnings(found)),
        facts=tuple(_facts(found)),
        sections=tuple(_sections(found)),
    )


def profile_warnings(found: Profile) -> Iterator[str]:
    """What a reader should be wary of."""
    value = found.accuracy.value
    if value is not None and value < WEAK_ACCURACY:
        yield "Weak judge: it is not far from guessing, so what moves its verdicts says little about biases."
    if (found.truncated.value or 0) > 0:
        yield (
            f"{percent(found.truncated.value)} of the judgments ran into the token limit before a verdict: give the "
            "judge a larger max_tokens."
        )
    lost = (found.invalid.value or 0) + (found.failed.value or 0)
    if lost > MANY_LOST:
        yield f"{percent(lost)} of the judgments gave no verdict; accuracy speaks for the others only."


def _sentences(found: Profile) -> Iterator[str]:
    yield (
        f"Accuracy {_with(found.accuracy)}, of the verdicts that preferred an answer; {_with(found.right)} of all "
        "judgments were right, where ties and lost verdicts are not."
    )
    if (o := found.orders) is not None:
        yield (
            f"With the answers swapped it says the same on {_with(o.consistency)} of the pairs, and is right both "
            f"times on {percent(o.right_twice.value)}."
        )
    if found.retest is not None:
        yield f"Asked the same again, it says the same on {_with(found.retest.agreement)} of the pairs."


def _facts(found: Profile) -> Iterator[Fact]:
    yield Fact(label="Judge", value=found.judge)
    if found.served_by:
        yield Fact(label="Served by", value=", ".join(found.served_by))
    yield Fact(label="Data", value=found.data)
    yield Fact(label="Pairs", value=f"{found.pairs:,}")
    yield Fact(label="Orders", value="both" if found.has_position else "one: the judge knows no position")
    yield Fact(label="Seed", value=str(found.seed))


def _sections(found: Profile) -> Iterator[Section]:
    yield Section("accuracy", "Accuracy", (_UNITS,), tuple(_accuracy(found)))
    if found.orders is not None:
        yield Section("position", "Position", (), tuple(_position(found.orders)))
    yield Section("verdicts", "Verdicts", (), (_verdicts(found),))
    if found.retest is not None or found.people is not None:
        yield Section("agreement", "Agreement", (), (_agreement(found), Note(_KAPPA)))
    if found.confidence is not None:
        yield Section("calibration", "Calibration", (_CALIBRATION,), tuple(_calibration(found.confidence)))
    yield Section("cost", "Cost and time", (), (_cost(found),))
    if found.notes:
        yield Section("left-out", "Left out", found.notes)


_UNITS = (
    "Pairs are the units of every interval (95 %), since two judgments of one pair are no two facts: Wilson's where "
    "every pair counts 0 or 1, else Student's t over pairs. The intervals of domains hold for each by itself."
)
_KAPPA = (
    "Kappa is Cohen's, over A, B and tie as the answers stood. People: the judge's verdict counts when both orders "
    "agree, and is a tie when they do not; of several labels on one pair the most frequent counts."
)
_CALIBRATION = (
    "Whether the probability of the verdict in the drawn order is the chance that it is right. ECE is never quite 0; "
    "what chance alone gives stands beside it. The RMS distance has that taken out."
)


def _accuracy(found: Profile) -> Iterator[Block]:
    columns = ["Domain", "Pairs", "Accuracy"] + (["Consistency"] if found.orders else [])
    whole = row("all", f"{found.pairs:,}", _cell(found.accuracy))
    rows = [(*whole, _cell(found.orders.consistency)) if found.orders else whole]
    if len(found.domains) > 1:
        for d in found.domains:
            cells = row(d.domain, f"{d.pairs:,}", _cell(d.accuracy))
            rows.append((*cells, _cell(d.consistency)) if d.consistency is not None else cells)
        lines = [
            Line(
                d.domain, 100 * d.accuracy.value, (100 * d.accuracy.low, 100 * d.accuracy.high), True, _with(d.accuracy)
            )
            for d in found.domains
            if d.accuracy.value is not None
        ]
        if lines:
            yield forest("accuracy", "Accuracy by domain", "right verdicts, %", lines, reference=50.0)
    yield table("Accuracy by domain", columns, rows)


def _position(o: Orders) -> Iterator[Block]:
    yield table(
        "What the place of an answer does",
        ("Figure", "Value", "Pairs"),
        [
            row("The same verdict in both orders", _cell(o.consistency), f"{o.consistency.pairs:,}"),
            row("Right in both orders", _cell(o.right_twice), f"{o.right_twice.pairs:,}"),
            row("Verdicts for the answer that stood first", _cell(o.first), f"{o.first.pairs:,}"),
            row("Pairs that went to the first place twice", f"{o.first_kept:,}", ""),
            row("Pairs that went to the second place twice", f"{o.second_kept:,}", ""),
        ],
    )


def _verdicts(found: Profile) -> Table:
    rows = [
        row("Right", _cell(found.right)),
        row("Ties", _cell(found.ties)),
        row("Unreadable", _cell(found.invalid)),
        row("Failed", _cell(found.failed)),
        row("of these, truncated", _cell(found.truncated)),
    ]
    rows += [row(f"Failed: {kind.replace('_', ' ')}", f"{n:,}") for kind, n in found.failures.items()]
    return table(f"Of {found.judgments:,} judgments", ("Outcome", "Share"), rows)


def _agreement(found: Profile) -> Table:
    rows = []
    if (r := found.retest) is not None:
        rows.append(_agreed("With itself, asked again", r.agreement, r.kappa, (r.kappa_low, r.kappa_high)))
    if (p := found.people) is not None:
        rows.append(_agreed("With people", p.agreement, p.kappa, (p.kappa_low, p.kappa_high)))
        if p.between_people is not None:
            rows.append(row("Between people", percent(p.between_people), "", ""))
        if p.split:
            rows.append(row("Labels of people without a majority", f"{p.split:,} pairs left out", "", ""))
    return table("Agreement", ("With whom", "The same verdict", "Kappa", "Pairs"), rows)


def _agreed(who: str, share: Share, kappa: float | None, interval: tuple[float, float]) -> tuple[Cell, ...]:
    said = Cell(signed(kappa), signed_span(interval)) if kappa is not None else Cell("–")
    return row(who, _cell(share), said, f"{share.pairs:,}")


def _calibration(c: Confidence) -> Iterator[Block]:
    yield table(
        "Calibration",
        ("Figure", "Value", "95 % interval"),
        [
            row("Mean confidence", percent(c.mean), ""),
            row("Right", percent(c.right), ""),
            row("Brier score", real(c.brier), f"{real(c.brier_low)} to {real(c.brier_high)}"),
            row("ECE", real(c.ece), f"{real(c.ece_if_calibrated)} by chance alone"),
            row("RMS distance", real(c.rms), f"{real(c.rms_low)} to {real(c.rms_high)}"),
        ],
    )
    yield table(
        "By confidence",
        ("Confidence", "Judgments", "Right"),
        [row(percent(b.confidence), f"{b.n:,}", Cell(percent(b.right), percents((b.low, b.high)))) for b in c.bins],
    )


def _cost(found: Profile) -> Table:
    s = found.spending
    cost = "no price is known" if s.cost is None else f"{1000 * s.cost:,.4f}"
    return table(
        "Cost and time",
        ("Figure", "Value"),
        [
            row("Calls", f"{s.calls:,}"),
            row("Calls for one judgment", f"{s.calls_per_judgment:.2f}"),
            row("Prompt tokens for one judgment", f"{s.prompt_tokens:,.0f}"),
            row("Answer tokens for one judgment", f"{s.completion_tokens:,.1f}"),
            row("Cost of 1,000 judgments", cost),
            row("Seconds for one call, median", real(s.seconds_median)),
            row("Seconds for one call, 95 % are faster", real(s.seconds_p95)),
        ],
    )


def _with(share: Share) -> str:
    return f"{percent(share.value)} ({percents((share.low, share.high))})"


def _cell(share: Share | None) -> Cell:
    return (
        Cell("–")
        if share is None or share.value is None
        else Cell(percent(share.value), percents((share.low, share.high)))
    )
