"""What the nodes work with. Built by the launcher, never part of the state."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from ..agents.arms import Bench
from ..agents.contrasts import Profiles
from ..agents.engines.embedder import Embedder
from ..agents.rules_teacher import RulesTeacher
from ..agents.teacher import Teacher
from ..bias_library.features import Feature
from ..core.calls import Model
from ..core.records import Bias
from .settings import LoopSettings


@dataclass(frozen=True)
class Context(Bench):
    """Everything outside the state."""

    settings: LoopSettings
    writer: Teacher
    """Writes biases into target pairs, which are held against no placebo; the teacher, or more than it can."""
    teacher_model: Model | None
    """Names and compares biases; None where nobody is to be asked."""
    embedder: Embedder
    features: Mapping[str, Feature]
    """The lexicon and the user's own."""

    @functools.cached_property
    def profiles(self) -> Profiles:
        """Measures of the texts that contrasts have met, so that a later round takes them once."""
        return Profiles(self.features)

    def has_edit(self, bias: Bias) -> bool:
        """Whether the teacher has a way to write the bias in; a model can always try."""
        return not isinstance(self.teacher, RulesTeacher) or self.teacher.recipe(bias) is not None

    @property
    def by_llm(self) -> bool:
        """Whether the teacher's model names candidates."""
        by = self.settings.discovery.by
        return self.teacher_model is not None and by in (None, "llm", "both")

    @property
    def by_contrasts(self) -> bool:
        """Whether contrasts name candidates."""
        return self.settings.discovery.by in ("contrasts", "both") or not self.by_llm
