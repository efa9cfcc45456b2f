"""The report as a value: the JSON report, and the only thing that HTML, Markdown, tables and plots are made from.

Error rates are fractions (0-1), effects and differences are points (percent).
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from ...core.calls import Usage
from ...core.records import Decision, Origin, Status, Verdict

State = Literal["finished", "inconclusive", "stopped", "running"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Fact(_Part):
    """One line of a list of facts, in words."""

    label: str
    value: str


class Headline(_Part):
    """The first thing a reader sees."""

    state: State
    title: str
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    facts: tuple[Fact, ...]
    tested: int
    """Biases with at least one validation."""
    validated: int
    confirmed: int | None
    """None when the run has no confirmation part."""


class DomainEffect(_Part):
    """The effect of one bias in one domain."""

    domain: str
    n: int | None
    effect: float | None
    interval: tuple[float, float] | None


class Control(_Part):
    """Outcome of one control of a validation."""

    name: str
    outcome: str


class Evidence(_Part):
    """One validation, on the search part or on the confirmation part."""

    part: Literal["search", "confirmation"]
    rule: str
    n: int
    missing: int
    harms: int
    repairs: int
    error_reference: float
    error_bias: float
    error_original: float | None
    effect: float
    interval: tuple[float, float]
    interval_method: str
    effect_vs_original: float | None
    e_value: float | None
    p_value: float | None
    by_domain: tuple[DomainEffect, ...]
    controls: tuple[Control, ...]
    decision: Decision
    reason: str


class Span(_Part):
    """A stretch of a text. `cut` says in words what was left out."""

    kind: Literal["same", "added", "removed", "cut"]
    text: str


class Text(_Part):
    """A text as shown: in spans, and how long it was before anything was left out."""

    spans: tuple[Span, ...]
    characters: int


class ArmVerdict(_Part):
    """What the judge said in one arm."""

    arm: Literal["original", "placebo", "biased"]
    order: str
    verdict: Verdict
    p_rejected: float | None


class Example(_Part):
    """A pair whose verdict flipped: right in the reference arm, wrong in the bias arm."""

    pair_id: str
    domain: str
    source: str
    order: str
    """Which answer stood first."""
    prompt: Text
    chosen: Text
    original: Text
    placebo: Text | None
    """Spans mark what differs from the original."""
    biased: Text
    verdicts: tuple[ArmVerdict, ...]
    reasoning: Text
    explanation: Text | None


class Discovery(_Part):
    """A misjudgment from which the bias was named."""

    pair_id: str
    named: str
    definition: str
    source_bias: str
    reasoning: Text
    explanation: Text | None
    contrast: str | None = None
    """What speaks for it where contrasts named it."""


class BiasEntry(_Part):
    """All that the report says about one bias."""

    id: str
    name: str
    definition: str
    manifestation: str
    origin: Origin
    status: Status
    parents: tuple[str, ...]
    """Names."""
    iteration: int | None
    support: int
    """Misjudgments it was named from."""
    support_pairs: int
    support_sources: int
    """Distinct injected biases among them."""
    search: Evidence | None
    confirmation: Evidence | None
    usage: Usage
    """Calls for its rewrites and judgments."""
    examples: tuple[Example, ...]
    discoveries: tuple[Discovery, ...]
    same_effect: tuple[str, ...] = ()
    """Names of other tested biases that flip the same pairs."""

    @property
    def shown(self) -> Evidence | None:
        """The evidence whose effect is quoted: the confirmation, if any, for selection inflates the other."""
        return self.confirmation or self.search

    @property
    def accepted(self) -> bool:
        """Whether the search part found it valid."""
        return self.search is not None and self.search.decision == "valid"

    @property
    def declined(self) -> bool:
        """Whether a person turned it down although its test found it valid."""
        return self.accepted and self.confirmation is None and self.status in ("rejected", "retired")


class ErrorRow(_Part):
    """One domain of the error table. Means over the valid biases, each on the same pairs in both arms."""

    domain: str
    pairs: int
    error_original: float | None
    error_placebo: float | None
    error_biased: float | None
    difference: float | None
    """error_biased - error_original, in points."""


class Funnel(_Part):
    """How many of each kind the loop saw. None: not recorded."""

    iteration: int | None
    """None for the whole run."""
    misjudgments: int | None
    explained: int | None
    candidates: int | None
    groups: int | None
    novel: int | None
    validated: int | None
    confirmed: int | None


class Growth(_Part):
    """Biases after one iteration (paper: Figure 2)."""

    iteration: int
    novel: int
    validated: int
    cumulative_novel: int
    cumulative_validated: int


class FailureExample(_Part):
    """One failed item."""

    subject: str
    reason: str
    raw: Text


class FailureGroup(_Part):
    """The failures of one stage and kind."""

    stage: str
    kind: str
    count: int
    examples: tuple[FailureExample, ...]


class VerdictRow(_Part):
    """Verdicts in one arm of the test pairs. `biased` pools the biases."""

    arm: Literal["original", "placebo", "biased"]
    judged: int
    right: int
    wrong: int
    ties: int
    invalid: int
    error: float | None
    error_chosen_first: float | None
    error_rejected_first: float | None
    both_orders: int
    """Items judged in both orders."""
    consistent: float | None
    """Share of them with the same verdict."""
    repeated: int
    """Judgments made again (test-retest)."""
    repeated_same: float | None


class PlannedRow(_Part):
    """What `biasscope plan` expected of one stage, beside what it took, as (low, high)."""

    stage: str
    calls: tuple[float, float]
    tokens: tuple[float, float]
    cost: tuple[float, float] | None
    calls_taken: int
    tokens_taken: int
    cost_taken: float | None
    seconds: tuple[float, float] = (0.0, 0.0)
    seconds_taken: float | None = None
    """The calls' own time over those in flight at once; None for batches."""


class ContrastLine(_Part):
    """A feature that goes with the judge's leaning."""

    title: str
    direction: str
    """more or less of it is preferred."""
    frequency: float
    weight: float
    support: int
    support_pairs: int = 0
    candidate: bool
    """False for what no edit can take out of an answer, so that it is not tested."""


class ContrastRound(_Part):
    """One round of the contrast discoverer."""

    iteration: int | None
    """None: verdicts that were given elsewhere."""
    response: str
    rows: int
    features: int
    false_bound: float
    found: tuple[ContrastLine, ...]


class DataSummary(_Part):
    """What was read for one set of pairs."""

    name: str
    facts: tuple[Fact, ...]


class Report(_Part):
    """Everything that is known about one run."""

    run_id: str
    headline: Headline
    biases: tuple[BiasEntry, ...]
    seeds: tuple[str, ...]
    """Names of the biases the library started with, those without a test."""
    errors: tuple[ErrorRow, ...]
    """By domain; the last row is `overall`."""
    funnel: Funnel
    iterations: tuple[Funnel, ...]
    growth: tuple[Growth, ...]
    contrasts: tuple[ContrastRound, ...] = ()
    """Rounds in which contrasts searched."""
    verdicts: tuple[VerdictRow, ...]
    failures: tuple[FailureGroup, ...]
    explanations: int = 0
    """Misjudgments that were explained further."""
    explanations_cut: int = 0
    """Explanations that ran into the token limit and were kept to their last whole sentence."""
    usage: tuple[Usage, ...]
    total: Usage
    planned: tuple[PlannedRow, ...] = ()
    """By stage, the whole run last; empty when no plan was made."""
    data: tuple[DataSummary, ...]
    made_with: tuple[Fact, ...]
    """Settings, versions, prompt and data hashes."""

    @property
    def valid(self) -> tuple[BiasEntry, ...]:
        """The biases that the search part accepted."""
        return tuple(b for b in self.biases if b.accepted)
