"""What a taxonomy audit found, as one value: the JSON report, and what every other face of it is made from.

Rates and accuracies are fractions, drops and effects points (percent); intervals are 95 %.
"""

from pydantic import BaseModel, ConfigDict

from ...bias_library.taxonomy import Dimension, JudgeKind
from .suite import SuiteCount

Interval = tuple[float, float]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Verdicts(_Part):
    """What came back in one arm. Failed judgments have no verdict at all."""

    judged: int
    ties: int
    invalid: int
    failed: int


class Rate(_Part):
    """A share and its interval; None where there is nothing to count."""

    value: float | None
    interval: Interval


class Against(_Part):
    """One arm against another on the same pairs: how much more often the judge is wrong."""

    n: int
    effect: float | None
    """Points of error rate."""
    interval: Interval
    harms: int
    repairs: int
    p_value: float
    p_corrected: float | None = None
    """Holm over the lines of one table."""


class Margin(_Part):
    """The margin by which the chosen answer leads: score difference, or log-odds."""

    unit: str
    n: int
    before: float | None
    after: float | None
    change: float | None
    interval: Interval | None
    standardised: float | None
    shrunk: float | None


class CueResult(_Part):
    """One line of a bias that is injected by lines."""

    cue: str
    n: int
    right_original: int
    harms: int
    repairs: int
    toward: int
    """Verdicts that moved to the answer beside which the line stands."""
    away: int
    against_original: Against
    against_control: Against | None
    """Net of what a neutral line as long does."""


class BiasResult(_Part):
    """One bias. All counts are over the pairs that have a verdict with and without it, unless they say otherwise."""

    name: str
    dimension: Dimension
    core: bool
    """One of the twelve."""
    definition: str
    written_by: str
    """Who rewrote, `line` for cues, `order` for swaps."""
    suite: SuiteCount
    n: int
    right_original: int
    harms: int
    repairs: int
    bsr: Rate
    """Harms over pairs that were right."""
    accuracy_original: float | None
    accuracy_biased: float | None
    drop: float | None
    drop_interval: Interval
    p_value: float
    p_corrected: float
    """Holm over all biases of the audit."""
    original: Verdicts
    biased: Verdicts
    margin: Margin | None
    control: Against | None
    """The control arm against the original: what any line, or any rewrite, does."""
    against_control: Against | None
    """The bias against its control."""
    length_ratio: float | None
    """Median words of the injected rejected answer over those of the original one."""
    cues: tuple[CueResult, ...]

    @property
    def flips(self) -> int:
        """In both directions."""
        return self.harms + self.repairs


class OverallResult(_Part):
    """Over the biases of the twelve, or of one dimension, weighted by the size of their test sets."""

    name: str
    bsr: Rate
    biases: int
    pairs: int


class TaxonomyResult(_Part):
    """The whole audit."""

    kind: JudgeKind
    both_orders: bool
    filtered: bool
    """Whether a verifier checked that the chosen answer is still the better one."""
    by_rule: bool = False
    """Whether rules checked that the injections changed nothing else."""
    biases: tuple[BiasResult, ...]
    left_out: dict[str, str]
    """Biases that do not apply to this judge, and why."""
    overall: OverallResult
    dimensions: tuple[OverallResult, ...]
    accuracy_original: Rate
    """Over all different pairs of the suite."""
    original: Verdicts
