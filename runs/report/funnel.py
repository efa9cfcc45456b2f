"""From misjudgments to confirmed biases, for the whole run and by iteration."""

from typing import Any

from ...core.records import Candidate, Explanation, MergeDecision, Validation
from ...core.store import Store
from .model import Funnel, Growth
from .tallies import Tallies

STEPS = ("misjudgments", "explained", "candidates", "groups", "novel", "validated", "confirmed")


def funnels(store: Store, run_id: str, tallies: Tallies, target: set[str]) -> tuple[Funnel, tuple[Funnel, ...]]:
    """The whole run's funnel and one per iteration.

    The loop's own counts (notes `funnel:<iteration>`) come first; what they leave out is counted from the records.
    """
    candidates = list(store.iterate(Candidate, run_id=run_id))
    merges = list(store.iterate(MergeDecision, run_id=run_id))
    validations = list(store.iterate(Validation, run_id=run_id))
    notes = _notes(store, run_id, _last_iteration(store, run_id, candidates, merges, validations))
    steps = sorted(
        set(notes)
        | {c.iteration for c in candidates}
        | {m.iteration for m in merges}
        | {v.iteration for v in validations if v.iteration >= 0}
    )
    rounds = []
    for t in steps:
        counted: dict[str, int | None] = {
            "candidates": sum(c.iteration == t for c in candidates),
            "groups": sum(m.iteration == t for m in merges),
            "novel": len({m.into for m in merges if m.iteration == t and m.novel}),
            "validated": len({v.bias_id for v in validations if v.iteration == t and v.decision == "valid"}),
        }
        rounds.append(_funnel(t, notes.get(t, {}), counted))
    whole: dict[str, int | None] = {step: _sum([getattr(r, step) for r in rounds]) for step in STEPS}
    if whole["misjudgments"] is None:
        whole["misjudgments"] = _misjudgments(tallies, target)
    if whole["explained"] is None:
        whole["explained"] = store.count(Explanation, run_id=run_id) or None
    confirmations = [v for v in validations if v.iteration < 0]
    whole["confirmed"] = sum(v.decision == "valid" for v in confirmations) if confirmations else None
    return _funnel(None, {}, whole), tuple(rounds)


def growth(rounds: tuple[Funnel, ...]) -> tuple[Growth, ...]:
    """Biases found and validated up to each iteration (paper: Figure 2)."""
    found = valid = 0
    line = []
    for r in rounds:
        if r.iteration is not None:
            found, valid = found + (r.novel or 0), valid + (r.validated or 0)
            line.append(
                Growth(
                    iteration=r.iteration,
                    novel=r.novel or 0,
                    validated=r.validated or 0,
                    cumulative_novel=found,
                    cumulative_validated=valid,
                )
            )
    return tuple(line)


def _funnel(iteration: int | None, noted: dict[str, Any], counted: dict[str, int | None]) -> Funnel:
    values = {s: int(noted[s]) if isinstance(noted.get(s), int | float) else counted.get(s) for s in STEPS}
    return Funnel(iteration=iteration, **values)


def _last_iteration(store: Store, run_id: str, *kinds: list[Any]) -> int:
    outcome = store.note(run_id, "outcome")
    said = outcome.get("iterations") if isinstance(outcome, dict) else None
    steps: list[int] = [r.iteration for kind in kinds for r in kind]
    return max([*steps, said if isinstance(said, int) else 0, 8])


def _notes(store: Store, run_id: str, last: int) -> dict[int, dict[str, Any]]:
    found = {t: store.note(run_id, f"funnel:{t}") for t in range(last + 1)}
    return {t: note for t, note in found.items() if isinstance(note, dict)}


def _misjudgments(tallies: Tallies, target: set[str]) -> int:
    return len(
        {
            (arm, item[0])
            for arm, verdicts in tallies.verdicts.items()
            if arm.startswith("bias:")
            for item, v in verdicts.items()
            if v == "rejected" and item[0] in target
        }
    )


def _sum(values: list[int | None]) -> int | None:
    there = [v for v in values if v is not None]
    return sum(there) if there else None
