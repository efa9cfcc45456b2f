"""How many variants came how far, and why the others did not."""

from collections import Counter
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field

from ...core.records import Drop
from ...data.card import Section, Table

PERTURB, ANSWERS, FILTER, PANEL, PEOPLE = "perturb", "answers", "filter", "panel", "annotation"
STEP_NAMES = {
    PERTURB: "rewritten with a bias",
    ANSWERS: "another final answer, by exact comparison",
    FILTER: "mislead the filter in every order",
    PANEL: "not found to agree by the panel: candidates",
    PEOPLE: "final",
}


class Step(BaseModel):
    """One step. `before` - `after` is the sum of `reasons`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    before: int
    after: int
    reasons: dict[str, int] = Field(default_factory=dict)
    """Why variants were left out, most frequent first."""


class Funnel(BaseModel):
    """All steps of a benchmark."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pairs: int
    """Source pairs."""
    steps: tuple[Step, ...]

    @property
    def left(self) -> int:
        """What came through the last step."""
        return self.steps[-1].after


def make_step(name: str, before: int, after: int, reasons: Iterable[str]) -> Step:
    """A step with its reasons counted."""
    return Step(name=name, before=before, after=after, reasons=dict(Counter(reasons).most_common()))


def reasons_of(stage: str, drops: Iterable[Drop]) -> list[str]:
    """The reasons of one stage's drops."""
    return [drop.reason for drop in drops if drop.stage == stage]


def funnel_section(funnel: Funnel) -> Section:
    """The funnel as a section of the card."""
    first = funnel.steps[0]
    rows: list[tuple[str | int, ...]] = [("source pairs", funnel.pairs, ""), ("variants planned", first.before, "")]
    for step in funnel.steps:
        why = ", ".join(f"{count} {reason}" for reason, count in step.reasons.items())
        rows.append((STEP_NAMES.get(step.name, step.name), step.after, why))
    return Section("Funnel", (Table(("step", "left over", "left out, and why"), tuple(rows)),))
