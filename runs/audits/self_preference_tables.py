"""The tables and plots of a self-preference audit."""

from collections.abc import Iterator

from ...audits.self_preference.result import Estimate, SelfPreferenceResult, SideResult
from .figures import real, signed, signed_span
from .page import Block, Cell, Table, row, table
from .plots import Line, curve, forest

_PROPENSITY = "Bias propensity: P(own) − 0.5 on equal-quality pairs"

_HAIR = 1e-9
"""Around 0: judges that agree differ by rounding alone."""


def shown(estimate: Estimate | None, digits: int = 3) -> str:
    """A signed estimate with its interval, in words."""
    if estimate is None or estimate.value is None:
        return "not measured"
    interval = f" ({signed_span(estimate.interval, digits)})" if estimate.interval else ""
    return f"{signed(estimate.value, digits)}{interval}"


def is_found(estimate: Estimate) -> bool:
    """Whether the interval leaves out 0."""
    if estimate.interval is None:
        return False
    return estimate.interval[0] > _HAIR or estimate.interval[1] < -_HAIR


def estimates_table(result: SelfPreferenceResult) -> Table:
    """The estimates of own and family, one line each."""
    rows = []
    for name, side in sides(result):
        fit = side.fit
        rows.append(line(f"{name}: bias propensity", side.propensity))
        if side.baseline:
            rows.append(line(f"{name}: baseline of the panel", side.baseline.propensity))
            rows.append(line(f"{name}: beyond the baseline", side.baseline.difference))
        rows.append(line(f"{name}: discriminability", side.discriminability, signed_=False))
        for label, found in (
            ("self-preference, model", fit.beta_self),
            ("discriminability, model", fit.discriminability),
            ("position, model", fit.position),
        ):
            if found:
                value, between = signed(found.estimate), signed_span(found.interval)
                rows.append(row(f"{name}: {label}", value, between, f"{fit.n:,}", f"{fit.prompts:,}"))
        if fit.reason:
            rows.append(row(f"{name}: model", Cell("none", fit.reason), "", f"{fit.n:,}", f"{fit.prompts:,}"))
    return table("Estimates", ("Estimate", "Value", "95 % interval", "Judgments or pairs", "Prompts"), rows)


def estimate_plot(result: SelfPreferenceResult, name: str = "propensity") -> Iterator[Block]:
    """The propensities side by side; nothing where none was measured."""
    lines = []
    for label, side in sides(result):
        for what, estimate in (
            ("propensity", side.propensity),
            ("baseline of the panel", side.baseline.propensity if side.baseline else None),
            ("beyond the baseline", side.baseline.difference if side.baseline else None),
        ):
            if estimate and estimate.value is not None and estimate.interval is not None:
                shown_ = f"{signed(estimate.value)}  [{signed_span(estimate.interval)}]"
                lines.append(Line(f"{label}: {what}", estimate.value, estimate.interval, is_found(estimate), shown_))
    if lines:
        yield forest(name, _PROPENSITY, "P(own) − 0.5", lines)


def threshold_blocks(result: SelfPreferenceResult) -> Iterator[Block]:
    """The propensity at each threshold; nothing where there is no equal-quality pair at any."""
    points = [
        (p.delta, p.estimate.value, p.estimate.interval, p.estimate.n)
        for p in result.own_side.curve
        if p.estimate.value is not None
    ]
    if not points:
        return
    axes = ("largest quality difference", "P(own) − 0.5")
    yield curve("threshold", "Propensity by threshold", axes, points, result.delta)
    yield table(
        "Propensity by threshold",
        ("Threshold", "P(own) − 0.5", "95 % interval", "Pairs", "Prompts"),
        [line(f"{p.delta:g}", p.estimate) for p in result.own_side.curve],
    )


def authors_table(side: SideResult, caption: str) -> Table:
    """One line for each author."""
    return table(
        caption,
        ("Author", "Family", "Pairs", "Quality, own − other", "Of equal quality", "P(own) − 0.5, all pairs"),
        [
            row(a.other, a.family, f"{a.n:,}", signed(a.quality, 2), f"{a.equal:,}", signed(a.preference))
            for a in side.authors
        ],
        ("Family",),
    )


def spoken_table(side: SideResult) -> Table:
    """What came back in each arm."""
    return table(
        "Verdicts",
        ("Arm", "Judged", "Own", "Other", "Ties", "Invalid", "Failed"),
        [row(s.arm, *(f"{n:,}" for n in (s.judged, s.own, s.other, s.ties, s.invalid, s.failed))) for s in side.spoken],
    )


def line(name: str, estimate: Estimate, *, signed_: bool = True) -> tuple[Cell, ...]:
    """An estimate as a row: name, value, interval, pairs, prompts."""
    value = signed(estimate.value) if signed_ else real(estimate.value)
    if estimate.interval is None:
        between = ""
    elif signed_:
        between = signed_span(estimate.interval)
    else:
        between = f"{estimate.interval[0]:.3f} to {estimate.interval[1]:.3f}"
    return row(name, value, between, f"{estimate.n:,}", f"{estimate.prompts:,}")


def sides(result: SelfPreferenceResult) -> Iterator[tuple[str, SideResult]]:
    """Own and, if there is one, family."""
    yield "Own", result.own_side
    if result.family_side:
        yield "Family", result.family_side
