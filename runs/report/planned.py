"""The plan of a run (note `plan`, see runs/plan.py) beside what it took."""

from collections.abc import Iterable, Sequence
from typing import Any

from ...core.calls import Usage
from .model import PlannedRow


def planned_rows(plan: dict[str, Any], usage: Sequence[Usage]) -> tuple[PlannedRow, ...]:
    """One row per stage of the plan or the ledger, and their sum."""
    lines = list(plan.get("stages", ()))
    if not lines:
        return ()
    stages = list(dict.fromkeys([*(line["stage"] for line in lines), *(u.stage for u in usage)]))
    rows = [_row(s, [x for x in lines if x["stage"] == s], [u for u in usage if u.stage == s]) for s in stages]
    return (*rows, _row("all", lines, usage))


def _row(stage: str, lines: Sequence[dict[str, Any]], taken: Sequence[Usage]) -> PlannedRow:
    costs = [line["cost"] for line in lines if line["cost"] is not None]
    spent = [u.cost for u in taken if u.cost is not None]
    tokens = [line[kind] for line in lines for kind in ("prompt_tokens", "completion_tokens")]
    return PlannedRow(
        stage=stage,
        calls=_span(line["calls"] for line in lines),
        tokens=_span(tokens),
        cost=_span(costs) if costs else None,
        calls_taken=sum(u.calls + u.cached_calls for u in taken),
        tokens_taken=sum(u.prompt_tokens + u.completion_tokens for u in taken),
        cost_taken=sum(spent) if spent else None,
    )


def _span(spans: Iterable[dict[str, float]]) -> tuple[float, float]:
    ends = [(span["low"], span["high"]) for span in spans]
    return round(sum(low for low, _ in ends), 4), round(sum(high for _, high in ends), 4)
