"""What every audit's report ends with: failures, cost, data, how it was made."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from ...core.calls import Usage
from ...core.store import Store
from ..report.biases import rounded
from ..report.collect import data_summaries, failure_groups, made_with, total_usage
from ..report.model import DataSummary, Fact, FailureGroup, State
from .page import Cell, Folded, Section, row, table

_STATES: dict[str, State] = {"finished": "finished", "budget": "inconclusive", "stopped": "stopped"}


class Account(BaseModel):
    """Of one job."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    state: State
    reason: str
    models: dict[str, str]
    seed: int | None
    failures: tuple[FailureGroup, ...]
    usage: tuple[Usage, ...]
    total: Usage
    data: tuple[DataSummary, ...]
    made_with: tuple[Fact, ...]


def account_of(store: Store, run_id: str, data: Sequence[str], *, finished: bool = False) -> Account:
    """Read it from the store. `data` names the sets; `finished` says so before the job has noted it."""
    manifest, outcome = _dict(store.note(run_id, "manifest")), _dict(store.note(run_id, "outcome"))
    usage = [rounded(u) for u in store.usage(run_id)]
    return Account(
        run_id=run_id,
        state="finished" if finished else _STATES.get(str(outcome.get("state")), "running"),
        reason="" if finished else str(outcome.get("reason") or ""),
        models={str(k): str(v) for k, v in _dict(manifest.get("models")).items()},
        seed=manifest.get("seed"),
        failures=tuple(failure_groups(store, run_id)),
        usage=tuple(usage),
        total=total_usage(usage),
        data=tuple(data_summaries(store, run_id, data)),
        made_with=tuple(made_with(manifest)),
    )


def closing_sections(account: Account) -> tuple[Section, ...]:
    """Failures, cost, data and settings as sections."""
    failures = [
        row(f.stage, f.kind.replace("_", " "), f"{f.count:,}", f.examples[0].reason if f.examples else "")
        for f in account.failures
    ]
    spent = [
        row(
            u.role,
            u.stage,
            *(f"{n:,}" for n in (u.calls, u.cached_calls, u.prompt_tokens, u.completion_tokens)),
            _money(u),
        )
        for u in (*account.usage, account.total)
    ]
    sections = [
        Section(
            "failures",
            "Failures",
            () if failures else ("None.",),
            (
                table(
                    "Items without a usable result",
                    ("Stage", "Kind", "Items", "Example"),
                    failures,
                    ("Kind", "Example"),
                ),
            )
            if failures
            else (),
        ),
        Section(
            "cost",
            "Cost",
            (),
            (
                table(
                    "Calls, tokens and cost",
                    ("Role", "Stage", "Calls", "From cache", "Prompt tokens", "Answer tokens", "Cost"),
                    spent,
                    ("Stage",),
                ),
            ),
        ),
    ]
    if account.data:
        sections.append(Section("data", "Data", (), tuple(_facts(f"Data: {d.name}", d.facts) for d in account.data)))
    if account.made_with:
        made = Folded("Settings, versions and hashes", (_facts("Settings, versions and hashes", account.made_with),))
        sections.append(Section("made", "How it was made", (), (made,)))
    return tuple(sections)


def _facts(caption: str, facts: Sequence[Fact]) -> Any:
    return table(caption, ("Field", "Value"), [(Cell(f.label), Cell(f.value)) for f in facts], ("Value",))


def _money(usage: Usage) -> str:
    return "–" if usage.cost is None else f"{usage.cost:,.4f}"


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
