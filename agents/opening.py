"""From settings to a judge and a teacher."""

from typing import Literal

from ..core.calls import Model
from .engines.reference import ModelSpec
from .judges.protocol import Judge
from .judges.specs import JudgeSpec, OpenModel
from .rules_teacher import RulesTeacher
from .teacher import LLMTeacher, Teacher

__all__ = ["JudgeSpec", "TeacherSpec", "open_judge", "open_teacher"]


class TeacherSpec(ModelSpec):
    """The teacher: a model and how it is asked to rewrite."""

    prompts: Literal["full", "short"] = "full"
    """short: a few plain lines and a plain reply, for models under about a billion parameters."""
    rewrites: Literal["model", "rules"] = "model"
    """rules: biases are written in by the edits of the feature lexicon, without a model, and the placebo is a neutral
    edit of the same kind; what has no recipe there is left out. The model still names and merges biases."""


def open_teacher(spec: TeacherSpec, model: Model, run_id: str) -> Teacher:
    """The teacher of a run."""
    if spec.rewrites == "rules":
        return RulesTeacher(run_id)
    return LLMTeacher(model, run_id, short=spec.prompts == "short")


def open_judge(spec: JudgeSpec, open_model: OpenModel, run_id: str) -> Judge:
    """The judge of a run, of any kind; `open_model` is called for every model that it asks. Raises ConfigError."""
    return spec.open(open_model, run_id)
