"""What there is to see of a running job."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ...core.calls import Usage
from ...core.progress import stage_words
from ...core.records import Candidate, Failure
from ...runs.config import JobConfig, load_config
from ...runs.state import RunState
from . import continuing
from .site import OpenRun

_NEWEST = 12


@dataclass(frozen=True)
class Spent:
    """One line of the budget: what there is of it and what is gone."""

    name: str
    spent: float
    limit: float | None


@dataclass(frozen=True)
class Watched:
    """A job at a moment."""

    state: RunState
    stage: str
    """In words."""
    going: bool
    """Whether a process works on it, or is about to."""
    problem: str
    newest: tuple[Candidate, ...]
    candidates: int
    failures: tuple[tuple[str, str, int, str], ...]
    """Stage, kind, how many, and one reason."""
    usage: tuple[Usage, ...]
    budget: tuple[Spent, ...]


def watched(run: OpenRun) -> Watched:
    """Look once."""
    state = run.state()
    usage = tuple(run.store.usage(run.run_id))
    starting = continuing.is_starting(run.folder)
    candidates = run.counts(Candidate)[0]
    return Watched(
        state=state,
        stage=stage_words(state.stage, state.iteration),
        going=state.state == "running" or starting,
        problem=continuing.problem(run.folder),
        newest=_newest(run, candidates),
        candidates=candidates,
        failures=_failures(run),
        usage=usage,
        budget=_budget(run, usage),
    )


def _newest(run: OpenRun, count: int) -> tuple[Candidate, ...]:
    """The latest candidates, in the order in which this app came to see them, the newest first.

    Rows carry no time (a resumed run must write the same rows again), so before the app looks for the first time only
    the iteration tells them apart.
    """
    seen: dict[str, Candidate] = run.kept("candidates seen", 0, dict)

    def look() -> tuple[Candidate, ...]:
        for candidate in sorted(run.store.iterate(Candidate, run_id=run.run_id), key=lambda c: (c.iteration, c.id)):
            seen.setdefault(candidate.id, candidate)
        return tuple(reversed(list(seen.values())[-_NEWEST:]))

    return run.kept("newest", count, look)


def _failures(run: OpenRun) -> tuple[tuple[str, str, int, str], ...]:
    def look() -> tuple[tuple[str, str, int, str], ...]:
        count: Counter[tuple[str, str]] = Counter()
        reasons: dict[tuple[str, str], str] = {}
        for failure in run.store.iterate(Failure, run_id=run.run_id):
            key = (stage_words(failure.stage), failure.kind)
            count[key] += 1
            reasons.setdefault(key, failure.reason)
        return tuple((stage, kind, n, reasons[stage, kind]) for (stage, kind), n in count.most_common())

    return run.kept("failures", run.counts(Failure), look)


def _budget(run: OpenRun, usage: tuple[Usage, ...]) -> tuple[Spent, ...]:
    changed = run.folder.config.stat().st_mtime_ns
    limits: dict[str, Any] = run.kept(
        "budget", changed, lambda: load_config(run.folder.config, kind=JobConfig).budget.model_dump()
    )
    costs = [u.cost for u in usage if u.cost is not None]
    spent = {
        "calls": float(sum(u.calls for u in usage)),
        "tokens": float(sum(u.prompt_tokens + u.completion_tokens for u in usage)),
        "cost": sum(costs),
    }
    return tuple(Spent(name, spent[name], limits.get(name)) for name in spent if name != "cost" or costs)
