"""The analyses as Markdown; nothing that a run's texts hold is markup in it."""

from collections.abc import Sequence

from ...audits.impact import Impact, Span
from ...core.visible import markdown, percent, span, table
from .answers import AnswerTable
from .growth import Line
from .length import LengthTable
from .same_effect import SameEffect


def answers(found: AnswerTable) -> str:
    """Table 5."""
    columns = ("Dataset", "Pairs", "Total", "Equal", "Different", "Unknown", "By verifier", "Rate, %", "95 % interval")
    rows = [
        (
            r.dataset,
            *map(str, (r.pairs, r.total, r.equal, r.different, r.unknown, r.by_verifier)),
            percent(r.rate),
            f"{span(r.low, r.high)} ({r.method})" if r.rate is not None else "–",
        )
        for r in found.rows
    ]
    return f"Chosen and rejected answers with the same final answer, {markdown(found.run_id)}:\n\n" + table(
        columns, rows
    )


def length(found: LengthTable) -> str:
    """Table 6."""
    columns = ("Dataset", "Biases", "Pairs", "Judged", "Error, %", "95 % interval", "Words", "Not judged yet")
    rows = [
        (
            r.dataset,
            str(r.biases) if r.biases else "–",
            str(r.pairs),
            str(r.judged),
            percent(r.error),
            f"{span(r.low, r.high)} ({r.method})" if r.error is not None else "–",
            "–" if r.words is None else f"{r.words:.0f}",
            str(r.missing),
        )
        for r in found.rows
    ]
    return f"Error rate and length, {markdown(found.run_id)}, {found.of} biases:\n\n" + table(columns, rows)


def growth(lines: Sequence[Line]) -> str:
    """Figure 2 in numbers."""
    most = max(len(line.points) for line in lines)
    columns = ("Run", *(f"Iteration {k + 1}" for k in range(most)))
    rows = [
        (markdown(line.run_id), *(str(p.cumulative) for p in line.points), *["–"] * (most - len(line.points)))
        for line in lines
    ]
    return "Validated biases, cumulative:\n\n" + table(columns, rows)


def same_effect(found: SameEffect) -> str:
    """The groups."""
    limit = f"phi >= {found.threshold:g}"
    if not found.groups:
        return f"No two of {found.compared} tested biases flip the same pairs ({limit}).\n"
    rows = [
        (
            "; ".join(f"{markdown(m.name, 120)} ({markdown(m.decision.replace('_', ' '))})" for m in g.members),
            "–" if g.lowest_phi is None else f"{g.lowest_phi:.2f}",
        )
        for g in found.groups
    ]
    heading = f"Biases that flip the same pairs, {markdown(found.run_id)} ({limit}, {found.compared} compared):\n\n"
    return heading + table(("Same effect", "Lowest phi"), rows)


def impact(found: Impact) -> str:
    """Decisions that biases could flip."""
    parts = [f"What biases could flip, {markdown(found.run_id)}"]
    if found.models:
        parts[0] += f", on a leaderboard of {found.models} models and {found.battles:,} results"
    parts[0] += ":\n"
    columns = ["Bias", "Pairs", "Effect, points", "Shift, log-odds"]
    figures = []
    if found.models:
        figures += [("Overtakes", "overtakes"), ("Models that gain a rank", "gainers"), ("New leaders", "leaders")]
    if found.against is not None:
        figures += [("Would pass", "opened"), ("Would no longer pass", "closed")]
    if found.threshold is not None:
        figures += [(f"Passes {found.threshold:g} % from, %", "passes_from")]
    for judge in found.judges:
        rows = [
            (
                markdown(b.name, 120),
                str(b.n),
                "–" if b.effect is None else f"{b.effect:+.1f}",
                "–" if b.shift is None else f"{b.shift:+.2f}" + (f" ({_ends(b.interval)})" if b.interval else ""),
                *(_span(getattr(b, name), 1 if name == "passes_from" else 0) for _, name in figures),
            )
            for b in judge.biases
        ]
        parts.append(f"Judge {markdown(judge.judge)}\n")
        parts.append(table([*columns, *(title for title, _ in figures)], rows))
    parts += [
        "In brackets: at both ends of the 95 % interval of the shift. A model has the bias alone, the others have not; "
        "strengths are Bradley-Terry log-odds. A what-if: nobody has looked at what these models write.\n"
    ]
    if found.against is not None:
        parts.append(
            f"Decisions: a win rate of {found.threshold:g} % or more against {markdown(found.against)}, as the "
            "strengths predict it.\n"
        )
    return "\n".join([*parts, *(f"Note: {note}\n" for note in found.notes)])


def _ends(interval: Sequence[float]) -> str:
    return f"{interval[0]:+.2f} to {interval[1]:+.2f}"


def _span(found: Span | None, digits: int) -> str:
    if found is None:
        return "–"
    low, high = sorted((found.low, found.high))
    return f"{found.value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
