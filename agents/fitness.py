"""What a probe's findings mean for the role that a model is to play."""

from typing import Literal, NamedTuple

from .engines.probe import ProbeReport
from .engines.reference import ModelSpec
from .judges.specs import PairwiseSpec, ScoreSpec

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
    context = f"context of {report.context:,} tokens" if report.context else "context unknown"
    return Fitness(works, (*meaning, context, *notes))


def _meaning(role: Role, spec: ModelSpec, report: ProbeReport) -> tuple[Works, tuple[str, ...]]:
    if role == "judge":
        if isinstance(spec, ScoreSpec):
            return "yes", ("scores",)
        if not isinstance(spec, PairwiseSpec) or spec.mode == "reasoning":
            return "yes", ("reasons and verdicts as text",)
        if report.logprobs:
            return "yes", ("verdicts as probabilities",)
        return "in part", ("verdicts as bare letters: no log-probabilities, so the tests have less power",)
    if role in _NEEDS_JSON:
        if report.structured:
            return "yes", (f"structured output by {report.structured}",)
        return "no", (f"a {role} {_NEEDS_JSON[role]}",)
    judge = "as judge: verdicts as text" + (" or as probabilities" if report.logprobs else ", no log-probabilities")
    teacher = f"structured output by {report.structured}" if report.structured else "no, it did not give JSON"
    return "yes", (judge, f"as teacher or verifier: {teacher}")
