"""A job's folder, lock, store, models and manifest: what discovery runs, audits and the making of data sets share.

A job is resumed by doing its steps again: every call that was paid for is answered from the store.
"""

import asyncio
import contextlib
import datetime
import fcntl
import itertools
import json
import re
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from ..agents.engines.budget import Budget
from ..agents.engines.embedder import Embedder, open_embedder
from ..agents.engines.gguf import resolve
from ..agents.engines.opening import open_model
from ..agents.engines.reference import ModelSpec
from ..agents.judges.protocol import Judge
from ..agents.judges.specs import JurySpec
from ..agents.opening import JudgeSpec, TeacherSpec, open_judge
from ..core.calls import Model
from ..core.errors import BrokenMachine, BudgetReached, ConfigError, StoreError
from ..core.job import Job
from ..core.progress import Progress
from ..core.store import Store
from ..core.tracing import span
from .config import JobConfig, RunConfig, change_config, dump_config, load_config
from .folder import RunFolder, check_name
from .manifest import check_unchanged, manifest

_LOCK_TRIES = 10
interrupted: list[RunFolder] = []
"""Jobs that this process was stopped in, for what it says on its way out: an interrupt carries nothing."""

Listener = Callable[[Progress], None]
State = Literal["finished", "budget", "waiting"]
C = TypeVar("C", bound=JobConfig)
R = TypeVar("R")


def create(config: JobConfig) -> RunFolder:
    """A new job's folder with its configuration; ConfigError when the name is taken or no folder can be made."""
    drawn = config.name is None
    name = check_name(config.name or _drawn_name(config))
    folder = RunFolder((config.workspace / name).resolve())
    if not drawn and folder.config.exists():
        raise ConfigError(
            f"a run {name!r} is in {str(config.workspace)!r} already; continue it with `{folder.resume_command}` or "
            "choose another --name"
        )
    if config.store:
        with contextlib.closing(Store(config.store)) as store:
            if store.note(name, "manifest") is not None:
                raise ConfigError(
                    f"a run {name!r} is in the shared store already, perhaps a colleague's; choose another --name"
                )
    with _writing(folder.path):
        folder = _make(folder, drawn)
        _write_whole(folder.config, dump_config(config.model_copy(update={"name": folder.path.name})))
    return folder


def _make(folder: RunFolder, drawn: bool) -> RunFolder:
    """Make the folder. A drawn name holds the second, in which several jobs may begin: the later ones are numbered."""
    if not drawn:
        folder.path.mkdir(parents=True, exist_ok=True)
        return folder
    for k in itertools.count(1):
        numbered = RunFolder(folder.path if k == 1 else folder.path.with_name(f"{folder.path.name}-{k}"))
        with contextlib.suppress(FileExistsError):
            numbered.path.mkdir(parents=True)
            break
    return numbered


def change(folder: RunFolder, settings: Sequence[str], *, kind: type[JobConfig] = RunConfig) -> None:
    """Keep changed settings with a job that has begun; hold it meanwhile. ConfigError for what may not change."""
    if settings:
        changed = change_config(folder.config, settings, kind=kind)
        with _writing(folder.path):
            _write_whole(folder.config, changed)


def forget_unstarted(folder: RunFolder) -> None:
    """Remove the folder of a job that never got as far as its manifest: it holds nothing, and would keep its name."""
    if not folder.manifest.exists():
        shutil.rmtree(folder.path, ignore_errors=True)


def open_store(folder: RunFolder, config: JobConfig | None = None) -> Store:
    """The store that holds a job."""
    config = config or load_config(folder.config, kind=JobConfig)
    return Store(config.store or folder.store)


def settle_models(config: C) -> tuple[C, list[str]]:
    """The configuration with `local:` replaced by the model it stands for now, and a line on each choice.

    A resumed job must ask the same models, whatever can be reached then.
    """
    notices: list[str] = []

    def settle(role: str, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(settle(f"{role}.{k}", inner) for k, inner in enumerate(value))
        if isinstance(value, JurySpec):
            return value.model_copy(update={"members": settle(role, value.members)})
        if not isinstance(value, ModelSpec) or role == "embedder":
            return value
        found = resolve(value)
        if not found.notice:
            return value
        notices.append(f"{role}: {found.notice}")
        return found.spec

    settled = {role: settle(role, getattr(config, role)) for role in type(config).model_fields}
    return config.model_copy(update=settled), notices


@dataclass
class Desk(Generic[C]):
    """A job that a process works on: its store and budget, and the models opened for it, closed with it."""

    folder: RunFolder
    config: C
    store: Store
    progress: Progress
    budget: Budget
    stack: AsyncExitStack
    models: dict[str, str] = field(default_factory=dict)
    """Identities by role, for the manifest."""
    _concurrency: int = 1

    @property
    def run_id(self) -> str:
        """Whose rows are written."""
        return self.folder.run_id

    @property
    def width(self) -> int:
        """Items in flight at a time, enough to keep the widest of the models opened so far full."""
        return 4 * self._concurrency

    @property
    def job(self) -> Job:
        """What audits and builders work with; ask for it when the models are open."""
        return Job(self.run_id, self.store, self.config.seed, self.progress, self.width)

    def model(self, role: str, spec: ModelSpec) -> Model:
        """Open a model under the job's budget. Raises ConfigError."""
        model = open_model(spec, run_id=self.run_id, store=self.store, budget=self.budget)
        self.stack.push_async_callback(model.aclose)
        self.models[role] = model.name
        self._concurrency = max(self._concurrency, spec.at_once)
        return model

    def judge(self, role: str, spec: JudgeSpec) -> Judge:
        """Open a judge of any kind."""
        judge = open_judge(spec, lambda model: self.model(role, model), self.run_id)
        self.models[role] = judge.name
        return judge

    def teacher_model(self, role: str, spec: TeacherSpec) -> Model | None:
        """Open the teacher's model; None for the teacher `rules`."""
        if spec.has_model:
            return self.model(role, spec)
        self.models[role] = "rules"
        return None

    def embedder(self, spec: ModelSpec) -> Embedder:
        """Open the embedder."""
        embedder = open_embedder(spec, self.store)
        self.stack.push_async_callback(embedder.aclose)
        self.models["embedder"] = embedder.name
        return embedder

    def begin(self, data: Mapping[str, str]) -> None:
        """Write the manifest (`data` are hashes by set); ConfigError when a resumed job's prompts, models or data
        are other ones now. Call it when the models are open and before anything is asked of them."""
        made = manifest(
            config=self.config.model_dump(mode="json", exclude_defaults=True, exclude={"workspace", "budget", "store"}),
            models=self.models,
            data=dict(data),
            seed=self.config.seed,
        )
        if then := self.store.note(self.run_id, "manifest"):
            check_unchanged(then, made)
            if self.folder.manifest.exists():
                return
            made = then  # the process died between the note and the file
        else:
            self.store.write_note(self.run_id, "manifest", made)
        with _writing(self.folder.path):
            _write_whole(self.folder.manifest, json.dumps(made, indent=2, sort_keys=True, ensure_ascii=False))

    def ended(self, state: State, reason: str) -> None:
        """How the job stands when the process lets go of it."""
        self.store.write_note(self.run_id, "outcome", {"state": state, "reason": reason})


@asynccontextmanager
async def opened(folder: RunFolder, config: C, listener: Listener | None = None) -> AsyncIterator[Desk[C]]:
    """A job's store and models for as long as it is worked on; take `locked` around it to work alone."""
    async with AsyncExitStack() as stack:
        stack.enter_context(span(f"run {folder.run_id}", biasscope__run=folder.run_id, biasscope__kind=config.kind))
        store = open_store(folder, config)
        stack.callback(store.close)
        budget = Budget.of_run(store, folder.run_id, **config.budget.model_dump())
        yield Desk(folder, config, store, Progress(store, folder.run_id, listener), budget, stack)


@dataclass(frozen=True)
class JobOutcome(Generic[R]):
    """What came of driving a job. `result` is there when it has finished."""

    folder: RunFolder
    state: State
    reason: str
    result: R | None


def drive_job(
    folder: RunFolder, kind: type[C], work: Callable[[Desk[C]], Awaitable[R]], listener: Listener | None = None
) -> JobOutcome[R]:
    """Do a job's work, or go on with it, until it is done or its budget is spent. What was paid for is kept.

    Raises what `work` raises; a broken machine is noted first.
    """

    async def drive() -> JobOutcome[R]:
        with locked(folder):
            async with opened(folder, load_config(folder.config, kind=kind), listener) as desk:
                desk.store.write_note(desk.run_id, "outcome", {})
                try:
                    result = await work(desk)
                except BudgetReached as reached:
                    desk.ended("budget", str(reached))
                    return JobOutcome(folder, "budget", str(reached), None)
                except BrokenMachine as broken:
                    note_broken(desk.store, desk.run_id, broken)
                    raise
                desk.ended("finished", "")
                return JobOutcome(folder, "finished", "", result)

    return asyncio.run(drive())


def note_broken(store: Store, run_id: str, broken: BrokenMachine) -> None:
    """Keep why a job stopped, unless it is the store that is broken."""
    with contextlib.suppress(StoreError):
        store.write_note(run_id, "outcome", {"state": "stopped", "reason": str(broken)})


@contextmanager
def locked(folder: RunFolder) -> Iterator[None]:
    """Hold a job, so that no other process drives it meanwhile; StoreError when one does."""
    with _writing(folder.path):
        handle = folder.lock.open("w")
    with handle:
        for left in reversed(range(_LOCK_TRIES)):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not left:
                    message = f"another process is driving the run {folder.run_id!r}; wait for it or stop it"
                    raise StoreError(message) from None
                time.sleep(0.02)  # `status --watch` looks at the lock for a moment
        try:
            yield
        except (asyncio.CancelledError, KeyboardInterrupt):
            interrupted.append(folder)
            raise


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"the run's folder {str(folder)!r} cannot be written: {error.strerror or error}; mend that, or choose "
            "another --workspace"
        ) from error


def _write_whole(path: Path, text: str) -> None:
    """All of the file or nothing, also when the process is killed."""
    partial = path.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def _drawn_name(config: JobConfig) -> str:
    judge = getattr(config, "judge", None)
    about = judge.model.split("@")[0].rsplit("/", 1)[-1] if isinstance(judge, ModelSpec) else ""
    parts = [f"{datetime.datetime.now():%Y-%m-%d-%H%M%S}"]
    if not isinstance(config, RunConfig):
        parts.append(config.kind)
    parts.append(re.sub(r"[^A-Za-z0-9]+", "-", about).strip("-")[:40] or "judge")
    return "-".join(parts)
