"""The analyses as Markdown; nothing that a run's texts hold is markup in it."""

from collections.abc import Sequence

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
