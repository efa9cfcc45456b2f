"""The job `mitigate`: a judge as it is against the same judge trained or treated, on the same held-out texts."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import ConfigDict, model_validator

from ..agents.arms import VerifyAnswers, Workshop
from ..agents.judges.protocol import Judge
from ..agents.opening import open_teacher
from ..agents.verifier import LLMVerifier, RulesVerifier
from ..agents.wording import described
from ..audits.treatment_report import TreatmentReport, report, reports_markdown
from ..audits.treatments import Treatment, make_items, score
from ..bias_library.features import load_features
from ..core.errors import ConfigError, DataError, StoreError
from ..core.ids import content_id, seed_from
from ..core.records import Bias, PreferencePair
from ..data.benchmark import public_name
from ..data.contamination import prompt_key
from ..data.sources import load, source_name
from ..prompts import render
from .biases import biases_hash, settled_biases
from .config import JobConfig, JudgeField, ModelField, SourceField, TeacherField
from .folder import RunFolder
from .jobs import Desk, JobOutcome, Listener, drive_job

Mitigation = Literal["preamble", "both_orders", "jury"]


class TreatmentConfig(JobConfig):
    """A judge before and after training or other treatment."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["treatment"] = "treatment"
    """Told apart from other jobs in one workspace."""
    judge: JudgeField
    """The judge as it is."""
    after: JudgeField | None = None
    """The judge after training."""
    mitigations: tuple[Mitigation, ...] = ()
    """preamble: the judge is told of known biases; both_orders: it judges both orders, averaged; jury: it votes with
    the judges under `jury`."""
    jury: tuple[JudgeField, ...] = ()
    """The other members of the jury."""
    source: SourceField
    """Held-out pairs on which biases are looked at."""
    general: SourceField | None = None
    """Pairs on which judging in general is looked at, without biases."""
    not_in: Path | None = None
    """Training data (`dpo build`, `augment`): pairs and prompts that are in it are left out of both sets."""
    library: str = "seeds"
    """Where the biases come from: a run (name or folder), a library file, `seeds`, `features` or `taxonomy`."""
    biases: tuple[str, ...] = ()
    """Biases to look at, by name or id; all validated ones of the library when empty."""
    known: tuple[str, ...] | None = None
    """Those that the preamble tells of or the training was about, by name or id; None: half of them, by seed."""
    teacher: TeacherField
    """Writes the biases in."""
    verifier: ModelField | None = None
    """Compares final answers where the exact comparison is silent; None: the teacher's model, if it has one."""
    verify_answers: VerifyAnswers = "model"
    """How a rewrite that has become right is noticed: exact, model (exact first) or off."""

    @model_validator(mode="after")
    def _something(self) -> "TreatmentConfig":
        if self.after is None and not self.mitigations:
            raise ValueError("nothing to compare: give the trained judge under after, or mitigations")
        if "jury" in self.mitigations and not self.jury:
            raise ValueError("mitigations: a jury needs other judges under jury")
        if "preamble" in self.mitigations and getattr(self.judge, "kind", None) != "pairwise":
            raise ValueError("mitigations: a preamble needs a judge of the kind pairwise")
        return self


@dataclass(frozen=True)
class Treated:
    """What came of the job."""

    reports: tuple[TreatmentReport, ...]
    files: dict[str, Path]


def run_treatments(folder: RunFolder, listener: Listener | None = None) -> JobOutcome[Treated]:
    """Compare, or go on with it."""
    return drive_job(folder, TreatmentConfig, compare, listener)


async def compare(desk: Desk[TreatmentConfig]) -> Treated:
    """The work of the job."""
    config = desk.config
    biases = settled_biases(desk.store, desk.run_id, config.library, config.biases, config.workspace)
    known = _known(config, biases)
    pairs, general, hashes = _pairs(config)
    judge = desk.judge("judge", config.judge)
    treatments = _treatments(desk, judge, known)
    teacher_model = desk.teacher_model("teacher", config.teacher)
    verifier = desk.model("verifier", config.verifier) if config.verifier else teacher_model
    desk.begin(hashes | {"biases": biases_hash(biases)})
    workshop = Workshop(
        **vars(desk.job),
        teacher=open_teacher(config.teacher, teacher_model, desk.run_id),
        verifier=LLMVerifier(verifier) if verifier else RulesVerifier(load_features()),
        verify_answers=config.verify_answers,
    )
    await desk.store.write(*biases, *pairs, *general)
    items = await make_items(workshop, pairs, biases, general)
    before = await score(desk.job, Treatment("as it is", (judge,)), items, 0)
    if np.isnan(before).all():
        raise DataError(f"the judge {judge.name!r} gave no verdict on any of {len(items)} texts")
    found = []
    for number, treatment in enumerate(treatments, 1):
        after = await score(desk.job, treatment, items, number)
        found.append(report(treatment.name, items, before, after, {bias.id: bias for bias in known}))
    return Treated(tuple(found), _write(desk, found, biases, known, len(pairs), len(general)))


def _treatments(desk: Desk[TreatmentConfig], judge: Judge, known: Sequence[Bias]) -> list[Treatment]:
    config = desk.config
    made = []
    if config.after is not None:
        made.append(Treatment("trained", (desk.judge("after", config.after),)))
    if "preamble" in config.mitigations:
        text = preamble(known)
        planted = getattr(config.judge, "planted", None)
        spec: Any = config.judge.model_copy(update={"planted": f"{planted}\n\n{text}" if planted else text})
        made.append(Treatment("told of biases", (desk.judge("told", spec),)))
    if "both_orders" in config.mitigations:
        made.append(Treatment("both orders", (judge,), both_orders=True))
    if "jury" in config.mitigations:
        others = tuple(desk.judge(f"jury {k}", spec) for k, spec in enumerate(config.jury, 1))
        made.append(Treatment(f"jury of {1 + len(others)}", (judge, *others)))
    return made


def preamble(biases: Iterable[Bias]) -> str:
    """What a judge is told of biases, made from their descriptions."""
    described_biases = [described(bias.name, bias.definition, bias.manifestation) for bias in biases]
    return render("preamble", biases=described_biases).messages[0].content


def _known(config: TreatmentConfig, biases: Sequence[Bias]) -> list[Bias]:
    if config.known is None:
        ordered = sorted(biases, key=lambda bias: seed_from("known", config.seed, bias.id))
        return ordered[: (len(ordered) + 1) // 2]
    named = [bias for bias in biases if bias.id in config.known or bias.name in config.known]
    if missing := sorted(set(config.known) - {key for bias in named for key in (bias.id, bias.name)}):
        raise ConfigError(f"known: {missing[0]!r} is none of the biases: {', '.join(bias.name for bias in biases)}")
    return named


def _pairs(config: TreatmentConfig) -> tuple[list[PreferencePair], list[PreferencePair], dict[str, str]]:
    trained = _trained_on(config.not_in) if config.not_in else (set(), set())
    found, hashes = [], {}
    for name, spec in (("source", config.source), ("general", config.general)):
        loaded = load(spec).pairs if spec else []
        kept = [p for p in loaded if p.id not in trained[0] and prompt_key(p.prompt) not in trained[1]]
        if spec and not kept:
            raise DataError(f"{source_name(spec)}: all of its {len(loaded)} pairs are in the training data")
        found.append(kept)
        hashes[name] = content_id("pairs", *(pair.id for pair in kept))
    return found[0], found[1], hashes


def _trained_on(folder: Path) -> tuple[set[str], set[int]]:
    """Ids of the pairs that training data were made from, and keys of prompts that are in them as they are."""
    files = sorted(folder.glob("*.jsonl")) if folder.is_dir() else [folder]
    pairs, prompts = set(), set()
    try:
        for file in files:
            with file.open(encoding="utf-8") as handle:
                for row in map(json.loads, handle):
                    pairs.add(str(row.get("pair_id", "")))
                    prompt = row["prompt"]
                    prompts.add(prompt_key(prompt if isinstance(prompt, str) else prompt[-1]["content"]))
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise DataError(f"not_in: {str(folder)!r} cannot be read as training data: {error}") from None
    if not pairs:
        raise DataError(f"not_in: {str(folder)!r} holds no training data (*.jsonl)")
    return pairs, prompts


def _write(
    desk: Desk[TreatmentConfig],
    reports: Sequence[TreatmentReport],
    biases: Sequence[Bias],
    known: Sequence[Bias],
    pairs: int,
    general: int,
) -> dict[str, Path]:
    """treatment.json and treatment.md; returns the paths by name. Raises StoreError."""
    config = desk.config
    facts = [
        f"{pairs:,} held-out pairs of {source_name(config.source)}, {len(biases)} biases, {len(known)} of them known "
        "to the treatments: " + (", ".join(sorted(bias.name for bias in known)) or "none"),
        *([f"{general:,} general pairs of {source_name(config.general)}"] if config.general else []),
        *(f"{role}: {public_name(name)}" for role, name in sorted(desk.models.items())),
        "A verdict for the worse answer is an error, a tie half of one. Intervals are paired and take pairs as units.",
    ]
    value = {"facts": facts, "treatments": [found.model_dump(mode="json") for found in reports]}
    texts = {
        "json": ("treatment.json", json.dumps(value, indent=2, ensure_ascii=False) + "\n"),
        "markdown": ("treatment.md", reports_markdown(f"Treatments of {desk.run_id}", facts, reports)),
    }
    files = {}
    try:
        for kind, (name, text) in texts.items():
            files[kind] = desk.folder.path / name
            files[kind].write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"the report cannot be written to {str(desk.folder.path)!r}: {error.strerror}") from error
    return files
