"""What judge, teacher and checkers of a world share: its features, compiled, and the truth about a final answer."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from .measures import Measured, compile_measure
from .puzzles import solve
from .recognition import Recogniser
from .spec import FeatureSpec, ShapeMeasure, WorldSpec
from .texts import final_answer
from .wording import Wording, stock


class Feature(NamedTuple):
    """A feature and its compiled measure."""

    spec: FeatureSpec
    measure: Measured


class Compiled:
    """Immutable in what it answers; the caches inside only make it fast."""

    def __init__(self, spec: WorldSpec) -> None:
        self.spec = spec
        self.wording: Wording = stock()
        self.features = {f.name: Feature(f, compile_measure(f.measure)) for f in spec.features}
        self.recogniser = Recogniser(spec.features)
        self.measure: Callable[[str, str, str], float] = lru_cache(maxsize=200_000)(self._measure)
        """(feature, text, question) -> amount."""
        self._counted = [f.name for f in spec.features if not isinstance(f.measure, ShapeMeasure)]
        self._correct = lru_cache(maxsize=50_000)(_correct)

    @property
    def name(self) -> str:
        """The world's name."""
        return self.spec.name

    def correct(self, question: str, text: str) -> float:
        """1 when the final answer is the question's right one, else 0, also for questions of no known domain."""
        return self._correct(question, text)

    def plain(self, sentence: str) -> bool:
        """Whether a sentence shows none of the features that are counted."""
        return not any(self.measure(name, sentence, "") for name in self._counted)

    def _measure(self, feature: str, text: str, question: str) -> float:
        return self.features[feature].measure(text, question)


def _correct(question: str, text: str) -> float:
    right = solve(question)
    return float(right is not None and final_answer(text) == right)
