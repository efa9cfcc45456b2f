"""The plan of a run beside what it took."""

from collections.abc import Mapping, Sequence

from ...core.calls import Usage
from ..planned import Plan, Span, StagePlan, summed
from .model import PlannedRow


def planned_rows(
    plan: Plan, usage: Sequence[Usage], seconds: Mapping[tuple[str, str], float]
) -> tuple[PlannedRow, ...]:
    """One row per stage of the plan or the ledger, and their sum. `seconds` of all calls by role and stage."""
    if not plan.stages:
        return ()
    names = dict.fromkeys([*(line.stage for line in plan.stages), *(u.stage for u in usage)])
    rows = [
        _row(s, [x for x in plan.stages if x.stage == s], [u for u in usage if u.stage == s], seconds) for s in names
    ]
    return (*rows, _row("all", plan.stages, usage, seconds))


def _row(
    stage: str, lines: Sequence[StagePlan], taken: Sequence[Usage], seconds: Mapping[tuple[str, str], float]
) -> PlannedRow:
    widths = {line.role: line.at_once for line in lines}
    spans = {(u.role, u.stage): widths.get(u.role, 1) for u in taken}
    costs = [line.cost for line in lines if line.cost is not None]
    spent = [u.cost for u in taken if u.cost is not None]
    return PlannedRow(
        stage=stage,
        calls=_ends([line.calls for line in lines]),
        tokens=_ends([tokens for line in lines for tokens in (line.prompt_tokens, line.completion_tokens)]),
        cost=_ends(costs) if costs else None,
        calls_taken=sum(u.calls + u.cached_calls for u in taken),
        tokens_taken=sum(u.prompt_tokens + u.completion_tokens for u in taken),
        cost_taken=sum(spent) if spent else None,
        seconds=_ends([line.seconds for line in lines]),
        seconds_taken=None
        if None in spans.values()
        else round(sum(seconds.get(key, 0.0) / width for key, width in spans.items() if width), 1),
    )


def _ends(spans: Sequence[Span]) -> tuple[float, float]:
    whole = summed(spans)
    return round(whole.low, 4), round(whole.high, 4)
