"""How a job stands, for whoever watches it from outside."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from ..core.store import Store
from .folder import RunFolder


class RunState(BaseModel):
    """A job as its notes and its lock say it stands."""

    model_config = ConfigDict(frozen=True)

    run: str
    kind: str
    state: str
    """running, waiting, finished, inconclusive (its budget is spent), or stopped."""
    reason: str = ""
    iteration: int | None = None
    """None in jobs that have none, and before the first."""
    stage: str = ""
    done: int = 0
    total: int = 0
    failures: int = 0
    counts: dict[str, int] = {}
    """Misjudgments, candidates, valid biases and the like so far."""
    spent: str = ""
    waiting_for: tuple[str, ...] = ()
    """Bias ids that wait for approval."""


def state_of(folder: RunFolder, store: Store) -> RunState:
    """The state of the job in `folder`, whose rows are in `store`."""
    progress: dict[str, Any] = store.note(folder.run_id, "progress") or {}
    outcome: dict[str, Any] = store.note(folder.run_id, "outcome") or {}
    shown = {k: progress[k] for k in ("iteration", "stage", "done", "total", "failures", "counts") if k in progress}
    running = folder.is_running()
    ended = outcome.get("state", "stopped")
    return RunState(
        run=folder.run_id,
        kind=folder.kind,
        state="running" if running else "inconclusive" if ended == "budget" else ended,
        reason="" if running else outcome.get("reason", ""),
        spent=spent_line(store, folder.run_id),
        waiting_for=() if running else outcome.get("waiting_for", ()),
        **shown,
    )


def waiting_for(folder: RunFolder, store: Store) -> tuple[str, ...]:
    """The ids of the biases that the run has stopped for; none while it is driven."""
    outcome: dict[str, Any] = store.note(folder.run_id, "outcome") or {}
    return () if folder.is_running() else tuple(outcome.get("waiting_for", ()))


def spent_line(store: Store, run_id: str) -> str:
    """Calls, tokens and cost of a run in a few words."""
    lines = store.usage(run_id)
    calls = sum(line.calls for line in lines)
    tokens = sum(line.prompt_tokens + line.completion_tokens for line in lines)
    costs = [line.cost for line in lines if line.cost is not None]
    return f"{calls:,} calls, {tokens:,} tokens" + (f", cost {sum(costs):.4f}" if costs else "")
