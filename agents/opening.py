"""From a judge's settings to a judge."""

from pydantic import Field

from ..core.calls import Model
from .engines.reference import ModelSpec
from .judge import Judge, Mode, PairwiseJudge


class JudgeSpec(ModelSpec):
    """The target judge: a model and how it judges."""

    mode: Mode = "reasoning"
    """reasoning: reasons, then a verdict; verdict: one letter, from token log-probabilities where there are any."""
    planted: str | None = Field(default=None, repr=False)
    """An instruction added to the judge's system prompt, to audit a judge whose bias is known."""


def open_judge(spec: JudgeSpec, model: Model, run_id: str) -> Judge:
    """The judge of a run."""
    return PairwiseJudge(model, run_id, mode=spec.mode, planted=spec.planted)
