"""The jobs `dpo build` and `augment`: their configurations, and driving them from start or where they were left."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, model_validator

from .. import __version__
from ..agents.judges.pairwise import PairwiseJudge
from ..agents.opening import open_writer
from ..agents.verifier import LLMVerifier, RulesVerifier
from ..bias_library.features import load_features
from ..builders.benchmark.funnel import Funnel
from ..builders.preferences.augment import Augmenter
from ..builders.preferences.build import Make, build
from ..builders.preferences.candidates import Planned
from ..builders.preferences.card import Making, write_card
from ..builders.preferences.responses import response_unit
from ..builders.preferences.rewriting import Refused, Studio
from ..builders.preferences.settings import AugmentSettings, DpoSettings, PreferenceSettings
from ..builders.preferences.staging import Written
from ..builders.preferences.units import COLD_START, JUDGING, NEGATIVES, TRAIN, Unit
from ..builders.preferences.verdicts import Bar, verdict_unit
from ..core.calls import Model
from ..core.errors import ConfigError
from ..core.records import Bias
from ..data.benchmark import public_name
from ..data.contamination import PromptIndex
from ..data.report import Tally
from ..data.sources import iter_pairs, source_name
from .biases import biases_hash, settled_biases
from .config import JobConfig, JudgeField, ModelField, SourceField, TeacherField
from .folder import RunFolder
from .jobs import Desk, JobOutcome, Listener, drive_job

DATA = "data"
"""The folder in a run's folder that holds the files."""


class _DataConfig(JobConfig):
    model_config = ConfigDict(frozen=True, extra="forbid")

    source: SourceField
    """Preference pairs that the rows are made from. Without a limit they are read as a stream of any length."""
    tests: tuple[SourceField, ...] = ()
    """Test sets whose prompts must not be in the training data."""
    library: str = "seeds"
    """Where the biases come from: a run (name or folder), a library file, `seeds`, `features` or `taxonomy`."""
    biases: tuple[str, ...] = ()
    """Biases to use, by name or id; all validated ones of the library when empty."""
    teacher: TeacherField
    """Rewrites rejected answers, and argues for verdicts."""
    verifier: ModelField | None = None
    """Compares final answers where the exact comparison is silent; None: the teacher's model, if it has one."""
    check: JudgeField | None = None
    """A judge that must still prefer the better answer to a rewritten worse one; None: nobody is asked."""
    title: str = ""
    """What the set is called in its card; the name of the run when empty."""
    licence: str = ""
    """Licence of the source data, as the hub writes it (mit, odc-by)."""


class DpoConfig(DpoSettings, _DataConfig):
    """DPO pairs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["dpo"] = "dpo"
    """Told apart from other jobs in one workspace."""
    judge: JudgeField | None = None
    """The judge that is to be trained, for pairs of verdicts; a pairwise one."""

    @model_validator(mode="after")
    def _judged(self) -> "DpoConfig":
        if self.what == "verdict" and getattr(self.judge, "kind", None) != "pairwise":
            raise ValueError("what: verdict needs the judge that is to be trained, of the kind pairwise, under judge")
        return self


class AugmentConfig(AugmentSettings, _DataConfig):
    """Base pairs with negatives that show biases."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["augment"] = "augment"
    """Told apart from other jobs in one workspace."""


@dataclass(frozen=True)
class Made:
    """What came of a job."""

    folder: Path
    written: Written
    funnel: Funnel
    warnings: tuple[str, ...]


def run_dpo(folder: RunFolder, listener: Listener | None = None) -> JobOutcome[Made]:
    """Make DPO pairs, or go on making them."""
    return drive_job(folder, DpoConfig, build_dpo, listener)


def run_augment(folder: RunFolder, listener: Listener | None = None) -> JobOutcome[Made]:
    """Make augmented pairs, or go on making them."""
    return drive_job(folder, AugmentConfig, build_augmented, listener)


async def build_dpo(desk: Desk[DpoConfig]) -> Made:
    """The work of the job `dpo build`."""
    config = desk.config
    judge = desk.judge("judge", config.judge) if config.judge and config.what == "verdict" else None
    setup = _set_up(desk)
    if judge is not None and judge.gives_reasons and setup.teacher_model is None:
        raise ConfigError(
            "teacher: 'rules' cannot argue for verdicts; give a teacher with a model, or a judge with mode: verdict"
        )

    async def make(planned: Planned) -> Unit | Refused:
        if isinstance(judge, PairwiseJudge):
            return await verdict_unit(setup.studio, Bar(judge, setup.teacher_model), planned, config.length)
        return await response_unit(setup.studio, planned, config.length)

    purpose = {
        "response": "For DPO of a model that answers: the worse answer of most pairs shows a bias.",
        "verdict": "For DPO of a judge: the right verdict against the one to which a bias misled it.",
    }[config.what]
    return await _make(desk, setup, make, (TRAIN,), 1, purpose)


async def build_augmented(desk: Desk[AugmentConfig]) -> Made:
    """The work of the job `augment`."""
    setup = _set_up(desk)
    advocate = setup.teacher_model if desk.config.cold_start else None
    augmenter = Augmenter(setup.studio, desk.config, advocate)
    parts = (NEGATIVES, JUDGING, COLD_START) if advocate else (NEGATIVES, JUDGING)
    purpose = (
        "For training against biases: base pairs with worse answers that show them (negatives) and judging prompts "
        "with the right verdict (judging)" + (", some with the teacher's reasoning (cold_start)." if advocate else ".")
    )
    return await _make(desk, setup, augmenter.unit, parts, desk.config.negatives, purpose)


@dataclass(frozen=True)
class _Setup:
    """What both jobs work with, when the models are open and the data have been looked at."""

    studio: Studio
    teacher_model: Model | None
    biases: list[Bias]
    tests: PromptIndex
    total: int
    """Source pairs."""


def _set_up(desk: Desk[Any]) -> _Setup:
    """Open the models, read sources and test sets once for their hashes, and begin. Raises ConfigError, DataError."""
    config: _DataConfig = desk.config
    biases = settled_biases(desk.store, desk.run_id, config.library, config.biases, config.workspace)
    _check_weights(desk.config.weights, biases)
    teacher_model = desk.teacher_model("teacher", config.teacher)
    verifier = desk.model("verifier", config.verifier) if config.verifier else teacher_model
    check = desk.judge("check", config.check) if config.check else None
    tests, hashes = PromptIndex(desk.config.contamination), {}
    for spec in config.tests:
        name, tally = source_name(spec), Tally(spec.source)
        for pair in iter_pairs(spec, tally):
            tests.add(pair.prompt, name)
        hashes[f"test {name}"] = tally.report().data_hash
    tally = Tally(config.source.source)
    total = sum(1 for _ in iter_pairs(config.source, tally))
    report = tally.report()
    desk.store.write_note(desk.run_id, "data:source", report.model_dump(mode="json"))
    desk.begin({"source": report.data_hash, "biases": biases_hash(biases), **hashes})
    studio = Studio(
        **vars(desk.job),
        teacher=open_writer(config.teacher, teacher_model, desk.run_id),
        verifier=LLMVerifier(verifier) if verifier else RulesVerifier(load_features()),
        verify_answers=desk.config.verify_answers,
        check=check,
    )
    return _Setup(studio, teacher_model, biases, tests, total)


async def _make(desk: Desk[Any], setup: _Setup, make: Make, parts: tuple[str, ...], each: int, purpose: str) -> Made:
    config: Any = desk.config
    folder = desk.folder.path / DATA
    written, funnel = await build(
        setup.studio,
        make,
        iter_pairs(config.source),
        setup.total,
        setup.biases,
        setup.tests,
        config,
        parts=parts,
        each=each,
        folder=folder,
    )
    making = Making(
        title=config.title or desk.run_id,
        run_id=desk.run_id,
        version=__version__,
        seed=config.seed,
        licence=config.licence,
        sources=(source_name(config.source),),
        tests=tuple(source_name(spec) for spec in config.tests),
        biases={bias.id: (bias.name, bias.definition) for bias in setup.biases},
        models={role: public_name(name) for role, name in desk.models.items()},
        settings=config.model_dump(mode="json", include={*PreferenceSettings.model_fields, *_OWN[config.kind]}),
        purpose=purpose,
    )
    warnings = write_card(folder, parts[0], written, funnel, making)
    made = {"rows": dict(written.rows), "units": dict(written.units), "biases": dict(written.biases)}
    desk.store.write_note(desk.run_id, "funnel", funnel.model_dump(mode="json"))
    desk.store.write_note(desk.run_id, "written", made)
    return Made(folder, written, funnel, warnings)


_OWN = {"dpo": ("what",), "augment": ("negatives", "cold_start")}
"""Settings of one kind that its card tells."""


def _check_weights(weights: dict[str, float], biases: list[Bias]) -> None:
    known = {key for bias in biases for key in (bias.id, bias.name)}
    if unknown := sorted(set(weights) - known):
        names = ", ".join(bias.name for bias in biases)
        raise ConfigError(f"weights: {unknown[0]!r} is none of the biases that are used: {names}")
