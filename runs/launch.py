"""Start and resume runs: from a configuration to an outcome and a report."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.types import Command

from ..agents.judges.applies import left_out
from ..agents.opening import open_teacher, open_writer
from ..agents.verifier import LLMVerifier, RulesVerifier
from ..bias_library.features import load_features, user_features
from ..core.errors import BrokenMachine, BudgetReached, ConfigError
from ..core.records import Bias
from ..graph.build import build
from ..graph.checkpoints import open_checkpoints
from ..graph.context import Context
from ..graph.nodes.admit import meant
from . import jobs
from .config import RunConfig, load_config
from .folder import RunFolder
from .inputs import file_hashes, load_pairs, start_library
from .jobs import Listener, State, change, locked, note_broken
from .planned import read_plan
from .proposals import give_proposals
from .report import write_report

_STOPPED = {
    "no_candidates": "no misjudgment was explained by a bias in the last iteration",
    "nothing_new": "the last iteration named only biases that were known",
    "nothing_validated": "none of the last iteration's biases was valid",
    "max_iterations": "the most iterations were reached",
}


@dataclass(frozen=True)
class Outcome:
    """How a run stands when its process lets go of it."""

    folder: RunFolder
    state: State
    reason: str
    waiting_for: tuple[str, ...] = ()
    """Bias ids that wait for approval."""
    files: Mapping[str, Path] | None = None


@dataclass(frozen=True)
class Approval:
    """A person's decision on the biases that wait; those not named are rejected."""

    approved: tuple[str, ...]
    author: str
    reason: str = ""


async def drive(
    folder: RunFolder,
    *,
    listener: Listener | None = None,
    approval: Approval | None = None,
    changes: tuple[str, ...] = (),
) -> Outcome:
    """Run or go on with a run until it has finished, spent its budget or waits for approval.

    `changes` are `key=value` settings to change for good: the budget, and how models are reached (`MAY_CHANGE`).
    Whatever happens, what was paid for stays in the store.
    """
    with locked(folder):
        change(folder, changes)
        config = load_config(folder.config)
        async with opened(folder, config, listener) as context:
            store = context.store
            outcome = await _loop(folder, config, context, approval)
            told = {"state": outcome.state, "reason": outcome.reason, "waiting_for": list(outcome.waiting_for)}
            store.write_note(folder.run_id, "outcome", told)
            return Outcome(
                folder,
                outcome.state,
                outcome.reason,
                outcome.waiting_for,
                write_report(store, folder.run_id, folder.path),
            )


async def _loop(folder: RunFolder, config: RunConfig, context: Context, approval: Approval | None) -> Outcome:
    async with open_checkpoints(context.store.url, folder.checkpoints) as saver:
        graph = build(context, saver)
        thread: Any = {"configurable": {"thread_id": folder.run_id}, "recursion_limit": 10_000}
        known = await graph.aget_state(thread)
        start: Any = None
        if not known.values:
            if plan := read_plan(config):
                context.store.write_note(folder.run_id, "plan", plan.model_dump(mode="json"))
            has_position = context.judge.has_position
            library = start_library(context.store, folder.run_id, config, has_position=has_position)
            start = {"iteration": 0, "library": library, "validated": []}
            await give_proposals(context, config)
        elif known.interrupts:
            decision = _decision(context, known.interrupts, approval)
            if decision is None:
                return _waiting(context, folder, known.interrupts)
            start = Command(resume=decision)
        elif approval is not None:
            raise ConfigError(f"no bias of the run {folder.run_id!r} waits for a decision; resume it without one")
        elif not known.tasks:
            # Not `next`: it leaves out a node that was done when the process died before its checkpoint.
            return Outcome(folder, "finished", _STOPPED.get(known.values.get("stop") or "", ""))
        # How an earlier process ended says nothing about this one, should it be killed.
        context.store.write_note(folder.run_id, "outcome", {})
        try:
            result: Any = await graph.ainvoke(start, thread, durability="sync")
        except BudgetReached as reached:
            return Outcome(folder, "budget", str(reached))
        except BrokenMachine as broken:
            note_broken(context.store, folder.run_id, broken)
            raise
        if interrupts := result.get("__interrupt__"):
            return _waiting(context, folder, interrupts)
        return Outcome(folder, "finished", _STOPPED.get(result.get("stop") or "", ""))


def _decision(context: Context, interrupts: Any, approval: Approval | None) -> dict[str, Any] | None:
    """What was decided, on disk before it has effects: a process that dies in between must not get another answer."""
    note = f"decision:{interrupts[0].value['iteration']}"
    known: dict[str, Any] | None = context.store.note(context.run_id, note)
    if approval is None:
        return known
    approved = meant(approval.approved, _biases(context, interrupts))
    made = {"approved": approved, "author": approval.author, "reason": approval.reason}
    if known is not None and known != made:
        raise ConfigError(
            f"the biases that wait in {context.run_id!r} were decided on by {known['author']!r} before the run "
            "stopped; resume it without a decision"
        )
    context.store.write_note(context.run_id, note, made)
    return made


def _biases(context: Context, interrupts: Any) -> list[Bias]:
    return context.store.get_many(Bias, interrupts[0].value["biases"])


def _waiting(context: Context, folder: RunFolder, interrupts: Any) -> Outcome:
    biases = _biases(context, interrupts)
    names = ", ".join(f"{bias.name} ({bias.id[:8]})" for bias in biases)
    one = len(biases) == 1
    reason = f"{len(biases)} {'bias waits' if one else 'biases wait'} for approval: {names}"
    return Outcome(folder, "waiting", reason, tuple(bias.id for bias in biases))


@asynccontextmanager
async def opened(folder: RunFolder, config: RunConfig, listener: Listener | None) -> AsyncIterator[Context]:
    """A run's store, models and pairs, for as long as it is driven."""
    async with jobs.opened(folder, config, listener) as desk:
        judge = desk.judge("judge", config.judge)
        teacher_model = desk.teacher_model("teacher", config.teacher)
        verifier_model = desk.model("verifier", config.verifier) if config.verifier else teacher_model
        desk.models["verifier"] = verifier_model.name if verifier_model else "rules"
        embedder = desk.embedder(config.embedder)
        features = load_features() | (user_features(config.features) if config.features else {})
        desk.begin(load_pairs(desk.store, desk.run_id, config) | file_hashes(config))
        desk.store.write_note(desk.run_id, "left_out", list(left_out(judge)))
        yield Context(
            run_id=desk.run_id,
            store=desk.store,
            seed=config.seed,
            progress=desk.progress,
            width=desk.width,
            judge=judge,
            teacher=open_teacher(config.teacher, teacher_model, desk.run_id, features),
            writer=open_writer(config.teacher, teacher_model, desk.run_id, features),
            verifier=LLMVerifier(verifier_model) if verifier_model else RulesVerifier(features),
            verify_answers=config.validation.verify_answers,
            both_orders=config.orders == "both",
            settings=config,
            teacher_model=teacher_model,
            embedder=embedder,
            features=features,
        )


@asynccontextmanager
async def attached(folder: RunFolder, listener: Listener | None = None) -> AsyncIterator[Context]:
    """A run's own models and store for work beside the loop, held so that nobody drives the run meanwhile."""
    with locked(folder):
        async with opened(folder, load_config(folder.config), listener) as context:
            yield context


def run(folder: RunFolder, **options: Any) -> Outcome:
    """`drive` for callers without an event loop."""
    return asyncio.run(drive(folder, **options))
