"""A text feature: what it is called, how much of it a text shows, and how to write it into one."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from ...core.records import Bias
from ..bias import make_bias

Dimension = Literal["length", "layout", "evidence", "provenance", "social", "tone", "style", "discourse"]
Measure = Callable[[str, str], float]
"""(text, question) to a number."""
Write = Callable[[str, random.Random, str], str]
"""(text, generator, question) to the edited text."""


@dataclass(frozen=True)
class Feature:
    """A feature of a text and the edit that adds it."""

    name: str
    """Lower case with underscores; its key."""
    title: str
    """Name of the bias that prefers it."""
    definition: str
    """That bias's definition."""
    dimension: Dimension
    unit: str
    """What `measure` counts, e.g. "per 100 words"."""
    examples: tuple[str, ...] = ()
    """What the edit may put in."""
    measured_by: Measure = field(repr=False, default=lambda text, question: 0.0)
    written_by: Write = field(repr=False, default=lambda text, rng, question: text)
    source: str = "lexicon"
    """`lexicon`, or the user's file."""

    def measure(self, text: str, question: str = "") -> float:
        """How much of the feature `text` shows, in `unit`. Code counts only for features about code."""
        return self.measured_by(text, question)

    def write(self, text: str, rng: random.Random, question: str = "") -> str:
        """`text` with the feature written in: English, outside code, before the sentence that holds the final answer.

        Every number of the text stays, in order. `question` gives the edit its subject where it has one.
        """
        return self.written_by(text, rng, question)


def feature_bias(feature: Feature, direction: Literal["more", "less"] = "more") -> Bias:
    """The bias of a judge that prefers `feature`, or with `less` of one that marks answers down for it."""
    if direction == "less":
        title = f"{feature.title[:1].lower()}{feature.title[1:]}"
        return make_bias(
            f"Aversion to {title}",
            f"Marking an answer down for {title}, so that an answer without it is preferred whatever it says.",
            origin="feature",
        )
    shown = "; ".join(f"“{example}”" for example in feature.examples[:3])
    manifestation = f"The answer holds wording such as {shown}" if shown else ""
    return make_bias(feature.title, feature.definition, manifestation, origin="feature")
