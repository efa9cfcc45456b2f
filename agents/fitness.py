"""What a probe's findings mean for the role that a model is to play."""

from typing import Literal, NamedTuple

from .engines.probe import Asks, ProbeReport
from .engines.reference import SCORERS, ModelSpec
from .judges.presets import PRESETS
from .judges.specs import CompareSpec, PairwiseSpec, PassFailSpec, PointwiseSpec, RubricSpec, ScoreSpec

Role = Literal["judge", "teacher", "verifier", "embedder", ""]
Works = Literal["yes", "in part", "no"]

_NEEDS_JSON = {
    "teacher": "names, words and compares biases in JSON, which this model did not give",
    "verifier": "answers its checks in JSON, which this model did not give",
}


class Fitness(NamedTuple):
    """Whether a model can play its role, and what it gives there, in a few words each."""

    works: Works
    says: tuple[str, ...]


def fitness(role: Role, spec: ModelSpec, report: ProbeReport) -> Fitness:
    """Judge a probe by what the role needs; without a role, say what the model could be used as."""
    if not report.reachable:
        return Fitness("no", (report.reason,))
    if report.dimensions is not None:
        return Fitness("yes", (f"vectors of {report.dimensions}", *report.notes))
    works, meaning = _meaning(role, spec, report)
    json_notes = [note for note in report.notes if note.startswith("no JSON answer")]
    notes = [note for note in report.notes if role != "judge" or note not in json_notes]
    if asked_for(spec) != "text":
        return Fitness(works, (*meaning, *report.notes))
    context = f"context of {report.context:,} tokens" if report.context else "context unknown"
    return Fitness(works, (*meaning, context, *notes))


def asked_for(spec: ModelSpec) -> Asks:
    """What a model of this reference and kind is asked for."""
    if isinstance(spec, CompareSpec):
        return "compare"
    return "score" if isinstance(spec, ScoreSpec) or spec.scheme in SCORERS else "text"


def needs_probabilities(spec: ModelSpec) -> bool:
    """Whether a judge's verdict is read from token log-probabilities where there are any."""
    if not isinstance(spec, PairwiseSpec | PointwiseSpec | PassFailSpec):
        return False
    if spec.prompt is None:
        return spec.mode == "verdict"
    preset = PRESETS.get(spec.prompt.preset or "")
    return bool(preset.top_logprobs if preset else spec.prompt.top_logprobs)


def _meaning(role: Role, spec: ModelSpec, report: ProbeReport) -> tuple[Works, tuple[str, ...]]:
    if role == "judge":
        if isinstance(spec, ScoreSpec | CompareSpec):
            return "yes", (
                f"{'a score' if isinstance(spec, ScoreSpec) else 'a verdict'} for a small example: {report.answer}",
            )
        if isinstance(spec, RubricSpec) and not report.structured:
            return "no", ("a rubric is filled in as JSON, which this model did not give",)
        if not needs_probabilities(spec):
            return "yes", ("reasons and verdicts as text",)
        if report.logprobs:
            return "yes", ("verdicts as probabilities",)
        return "in part", ("verdicts as bare letters: no log-probabilities, so the tests have less power",)
    if role in _NEEDS_JSON:
        if report.structured:
            return "yes", (f"structured output by {report.structured}",)
        return "no", (f"a {role} {_NEEDS_JSON[role]}",)
    if asked_for(spec) == "score":
        return "yes", (f"a scorer; a small example gets {report.answer}",)
    judge = "as judge: verdicts as text" + (" or as probabilities" if report.logprobs else ", no log-probabilities")
    teacher = f"structured output by {report.structured}" if report.structured else "no, it did not give JSON"
    return "yes", (judge, f"as teacher or verifier: {teacher}")
