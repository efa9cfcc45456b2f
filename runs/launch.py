"""Start and resume runs: from a configuration to an outcome and a report."""

import asyncio
import contextlib
import datetime
import fcntl
import json
import re
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from ..agents.engines.budget import Budget
from ..agents.engines.embedder import open_embedder
from ..agents.engines.gguf import resolve
from ..agents.engines.opening import open_model
from ..agents.engines.reference import ModelSpec
from ..agents.judges.specs import models_of
from ..agents.opening import open_teacher
from ..core.calls import Model
from ..core.errors import BrokenMachine, BudgetReached, ConfigError, StoreError
from ..core.records import Bias
from ..core.store import Store
from ..graph.build import build
from ..graph.context import Context
from ..graph.nodes.admit import meant
from ..graph.progress import Progress
from .config import RunConfig, dump_config, load_config
from .folder import RunFolder, check_name
from .inputs import load_pairs, start_library
from .manifest import check_unchanged, manifest
from .report import write_report

_LOCK_TRIES = 10

Listener = Callable[[Progress], None]

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
    state: Literal["finished", "budget", "waiting"]
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


def settle_models(config: RunConfig) -> tuple[RunConfig, list[str]]:
    """The configuration with `local:` replaced by the model it stands for now, and a line on each choice.

    A resumed run must ask the same models, whatever can be reached then.
    """
    settled, notices = {}, []
    for role in ("judge", "teacher", "verifier"):
        spec = getattr(config, role)
        if spec is not None and (found := resolve(spec)).notice:
            settled[role] = found.spec
            notices.append(f"{role}: {found.notice}")
    return config.model_copy(update=settled), notices


def create(config: RunConfig) -> RunFolder:
    """A new run's folder with its configuration; ConfigError when the name is taken."""
    name = check_name(config.name or _drawn_name(config))
    folder = RunFolder((config.workspace / name).resolve())
    if folder.config.exists():
        raise ConfigError(
            f"a run {name!r} is in {str(config.workspace)!r} already; continue it with `biasscope resume {name}` or "
            "choose another --name"
        )
    folder.path.mkdir(parents=True, exist_ok=True)
    text = dump_config(config.model_copy(update={"name": name}))
    _write_whole(folder.config, text)
    return folder


def forget_unstarted(folder: RunFolder) -> None:
    """Remove the folder of a run that never got as far as its manifest: it holds nothing, and would keep its name."""
    if not folder.manifest.exists():
        shutil.rmtree(folder.path, ignore_errors=True)


def open_store(folder: RunFolder, config: RunConfig | None = None) -> Store:
    """The store that holds a run."""
    config = config or load_config(folder.config)
    return Store(config.store or folder.store)


async def drive(
    folder: RunFolder,
    *,
    listener: Listener | None = None,
    approval: Approval | None = None,
    changes: tuple[str, ...] = (),
) -> Outcome:
    """Run or go on with a run until it has finished, spent its budget or waits for approval.

    `changes` are `key=value` settings that may differ from the run's own: budget and models' concurrency.
    Whatever happens, what was paid for stays in the store.
    """
    config = load_config(folder.config, changes)
    with _locked(folder):
        async with opened(folder, config, listener) as context:
            store = context.store
            outcome = await _loop(folder, config, context, approval)
            store.write_note(folder.run_id, "outcome", {"state": outcome.state, "reason": outcome.reason})
            return Outcome(
                folder,
                outcome.state,
                outcome.reason,
                outcome.waiting_for,
                write_report(store, folder.run_id, folder.path),
            )


async def _loop(folder: RunFolder, config: RunConfig, context: Context, approval: Approval | None) -> Outcome:
    async with AsyncSqliteSaver.from_conn_string(str(folder.checkpoints)) as saver:
        graph = build(context, saver)
        thread: Any = {"configurable": {"thread_id": folder.run_id}, "recursion_limit": 10_000}
        known = await graph.aget_state(thread)
        start: Any = None
        if not known.values:
            start = {"iteration": 0, "library": start_library(context.store, folder.run_id, config), "validated": []}
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
            with contextlib.suppress(StoreError):  # it may be the store that is broken
                context.store.write_note(folder.run_id, "outcome", {"state": "stopped", "reason": str(broken)})
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
    async with AsyncExitStack() as stack:
        store = open_store(folder, config)
        stack.callback(store.close)
        run_id = folder.run_id
        budget = Budget.of_run(store, run_id, **config.budget.model_dump())

        def model_for(spec: ModelSpec) -> Model:
            model = open_model(spec, run_id=run_id, store=store, budget=budget)
            stack.push_async_callback(model.aclose)
            return model

        judge = config.judge.open(model_for, run_id)
        teacher = model_for(config.teacher)
        verifier = model_for(config.verifier) if config.verifier else teacher
        embedder = open_embedder(config.embedder, store)
        stack.push_async_callback(embedder.aclose)
        data = load_pairs(store, run_id, config)
        models = {
            "judge": judge.name,
            "teacher": teacher.name,
            "verifier": verifier.name,
            "embedder": embedder.name,
        }
        _write_manifest(folder, store, config, models, data)
        yield Context(
            run_id=run_id,
            settings=config,
            store=store,
            judge=judge,
            teacher=open_teacher(config.teacher, teacher, run_id),
            teacher_model=teacher,
            verifier_model=verifier,
            embedder=embedder,
            progress=Progress(store, run_id, listener),
            width=4 * max(m.max_concurrency for m in (*models_of(config.judge), config.teacher)),
        )


@asynccontextmanager
async def attached(folder: RunFolder, listener: Listener | None = None) -> AsyncIterator[Context]:
    """A run's own models and store for work beside the loop, held so that nobody drives the run meanwhile."""
    with _locked(folder):
        async with opened(folder, load_config(folder.config), listener) as context:
            yield context


def _write_manifest(
    folder: RunFolder, store: Store, config: RunConfig, models: dict[str, str], data: dict[str, str]
) -> None:
    made = manifest(
        config=config.model_dump(mode="json", exclude_defaults=True, exclude={"workspace", "budget"}),
        models=models,
        data=data,
        seed=config.seed,
    )
    if then := store.note(folder.run_id, "manifest"):
        check_unchanged(then, made)
        if folder.manifest.exists():
            return
        made = then  # the process died between the note and the file
    else:
        store.write_note(folder.run_id, "manifest", made)
    text = json.dumps(made, indent=2, sort_keys=True, ensure_ascii=False)
    _write_whole(folder.manifest, text)


def _write_whole(path: Path, text: str) -> None:
    """All of the file or nothing, also when the process is killed."""
    partial = path.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def _drawn_name(config: RunConfig) -> str:
    judge = re.sub(r"[^A-Za-z0-9]+", "-", config.judge.model.split("@")[0].rsplit("/", 1)[-1]).strip("-")[:40]
    return f"{datetime.datetime.now():%Y-%m-%d-%H%M%S}-{judge or 'judge'}"


@contextmanager
def _locked(folder: RunFolder) -> Iterator[None]:
    with folder.lock.open("w") as handle:
        for left in reversed(range(_LOCK_TRIES)):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not left:
                    message = f"another process is driving the run {folder.run_id!r}; wait for it or stop it"
                    raise StoreError(message) from None
                time.sleep(0.02)  # `status --watch` looks at the lock for a moment
        yield


def run(folder: RunFolder, **options: Any) -> Outcome:
    """`drive` for callers without an event loop."""
    return asyncio.run(drive(folder, **options))
