"""From settings to a judge and a teacher."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from ..bias_library.features import Feature
from ..core.calls import Model
from .engines.reference import SCHEMES, ModelSpec
from .judges.protocol import Judge
from .judges.specs import JudgeSpec, OpenModel
from .rules_teacher import EditsFirst, RulesTeacher
from .teacher import LLMTeacher, Teacher

__all__ = ["JudgeSpec", "TeacherSpec", "open_judge", "open_teacher", "open_writer"]


class TeacherSpec(ModelSpec):
    """The teacher: a model and how it is asked to rewrite, or `rules` for none."""

    schemes: ClassVar[tuple[str, ...]] = (*SCHEMES, "rules")

    prompts: Literal["full", "short"] = "full"
    """short: a few plain lines and a plain reply, for models under about a billion parameters."""
    rewrites: Literal["model", "rules"] = "model"
    """rules: biases are written in by the edits of the feature lexicon, without a model, and the placebo is a neutral
    edit of the same kind. The model names and merges biases, and writes those that no edit writes, for the search and
    for data sets; they are not tested, since the placebo is none for a model. `model: rules` does without one."""

    @property
    def has_model(self) -> bool:
        """Whether there is a model to ask; the teacher `rules` is none."""
        return self.scheme != "rules"

    @model_validator(mode="before")
    @classmethod
    def _without_model(cls, given: Any) -> Any:
        if not isinstance(given, Mapping) or given.get("model") not in ("rules", "rules:"):
            return given
        if given.get("rewrites", "rules") != "rules":
            raise ValueError(f"the teacher 'rules' has no model for rewrites: {given['rewrites']}; leave that out")
        return {**given, "model": "rules:", "rewrites": "rules"}


def open_teacher(
    spec: TeacherSpec, model: Model | None, run_id: str, features: Mapping[str, Feature] | None = None
) -> Teacher:
    """The teacher of a run. `features` are those that rules write, the packaged ones by default."""
    if spec.rewrites == "rules" or model is None:
        return RulesTeacher(run_id, features)
    return LLMTeacher(model, run_id, short=spec.prompts == "short")


def open_writer(
    spec: TeacherSpec, model: Model | None, run_id: str, features: Mapping[str, Feature] | None = None
) -> Teacher:
    """The teacher for what is held against no placebo: the model writes what no edit does, where there is a model."""
    teacher = open_teacher(spec, model, run_id, features)
    if model is None or not isinstance(teacher, RulesTeacher):
        return teacher
    return EditsFirst(teacher, LLMTeacher(model, run_id, short=spec.prompts == "short"))


def open_judge(spec: JudgeSpec, open_model: OpenModel, run_id: str) -> Judge:
    """The judge of a run, of any kind; `open_model` is called for every model that it asks. Raises ConfigError."""
    return spec.open(open_model, run_id)
