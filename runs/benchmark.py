"""The job `benchmark build`: its configuration, and driving it from start or where it was left."""

from typing import Literal

from pydantic import ConfigDict, Field

from ..agents.opening import open_writer
from ..builders.benchmark.build import Roles, build
from ..builders.benchmark.funnel import Funnel
from ..builders.benchmark.settings import BuildSettings
from ..core.errors import StoreError
from ..core.records import Drop, Failure, PreferencePair
from ..core.store import Store
from ..data.sources import load
from .biases import biases_hash, settled_biases
from .config import JobConfig, JudgeField, ModelField, SourceField, TeacherField
from .folder import RunFolder
from .jobs import Desk, JobOutcome, Listener, drive_job

PAIRS = "source"


class BenchmarkConfig(BuildSettings, JobConfig):
    """A hard benchmark."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["benchmark"] = "benchmark"
    """Told apart from other jobs in one workspace."""
    source: SourceField
    """Preference pairs that the items are made from."""
    library: str = "seeds"
    """Where the biases come from: a run (name or folder), a library file, `seeds`, `features` or `taxonomy`."""
    biases: tuple[str, ...] = ()
    """Biases to use, by name or id; all validated ones of the library when empty."""
    teacher: TeacherField
    """Rewrites the rejected answers."""
    judges: tuple[JudgeField, ...] = Field(min_length=1)
    """Judges of the adversarial filter: strong ones."""
    panel: tuple[ModelField, ...] = ()
    """Models that compare final answers where the exact comparison is silent; the teacher's model when empty. Without
    either, people decide."""
    title: str = ""
    """What the benchmark is called in its card; the name of the run when empty."""
    licence: str = ""
    """Licence of the source data, as the hub writes it (mit, odc-by); it is the benchmark's too."""


async def build_benchmark(desk: Desk[BenchmarkConfig]) -> Funnel:
    """The work of the job: open the models, read pairs and biases once, build."""
    config = desk.config
    pairs, data_hash = source_pairs(desk.store, desk.run_id, config)
    biases = settled_biases(desk.store, desk.run_id, config.library, config.biases, config.workspace)
    teacher_model = desk.teacher_model("teacher", config.teacher)
    panel = tuple(desk.model(f"panel {k}", spec) for k, spec in enumerate(config.panel, 1))
    roles = Roles(
        teacher=open_writer(config.teacher, teacher_model, desk.run_id),
        judges=tuple(desk.judge(f"judge {k}", spec) for k, spec in enumerate(config.judges, 1)),
        panel=panel or ((teacher_model,) if teacher_model else ()),
    )
    desk.begin({PAIRS: data_hash, "biases": biases_hash(biases)})
    return await build(desk.job, roles, pairs, biases, config)


def source_pairs(store: Store, run_id: str, config: BenchmarkConfig) -> tuple[list[PreferencePair], str]:
    """The pairs that the benchmark is made from, read once, and their hash."""
    if (known := store.note(run_id, "data")) is None:
        loaded = load(config.source)
        store.write_pairs(run_id, PAIRS, loaded.pairs)
        store.write_note(run_id, f"data:{PAIRS}", loaded.report.model_dump(mode="json"))
        known = {PAIRS: loaded.report.data_hash}
        store.write_note(run_id, "data", known)
    return store.pairs(run_id, PAIRS), str(known[PAIRS])


def run_build(folder: RunFolder, listener: Listener | None = None) -> JobOutcome[Funnel]:
    """Build, or go on building."""
    return drive_job(folder, BenchmarkConfig, build_benchmark, listener)


def stored_funnel(store: Store, run_id: str) -> Funnel:
    """The funnel of a finished build; StoreError before that."""
    found = store.note(run_id, "funnel")
    if found is None:
        raise StoreError(f"the benchmark {run_id!r} is not built yet; resume it")
    return Funnel.model_validate(found)


def left_out_rows(store: Store, run_id: str) -> list[dict[str, str]]:
    """Every variant that was left out: step, pair and bias, reason and detail."""
    drops = [(d.stage, d.subject, d.reason, d.detail) for d in store.iterate(Drop, run_id=run_id)]
    failures = [(f.stage, f.subject, f"failed ({f.kind})", f.reason) for f in store.iterate(Failure, run_id=run_id)]
    return [dict(zip(("step", "subject", "reason", "detail"), row, strict=True)) for row in sorted([*drops, *failures])]
