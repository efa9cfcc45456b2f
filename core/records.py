"""The rows of the store, as frozen records under content ids. Vocabulary: docs/method.md."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .errors import FailureKind

Side = Literal["chosen", "rejected"]
Order = Literal["chosen_first", "rejected_first"]
Verdict = Literal["chosen", "rejected", "tie", "invalid"]
Origin = Literal["seed", "discovered", "merged", "split", "imported", "taxonomy", "feature"]
Status = Literal["candidate", "valid", "confirmed", "rejected", "inconclusive", "retired", "merged", "seed"]
Decision = Literal["valid", "not_shown", "inconclusive", "not_injectable", "explained_by_length"]
PairSet = Literal["target", "search", "confirm"]
AnnotationLabel = Literal["different", "same", "broken", "unsure"]
AnnotationRound = Literal["independent", "review", "adjudication"]

ORIGINAL = "original"
PLACEBO = "placebo"


def bias_arm(bias_id: str) -> str:
    """The name of a bias's arm."""
    return f"bias:{bias_id}"


class Record(BaseModel):
    """A row. `id` is a content id; the same content written twice is one row."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str


class PreferencePair(Record):
    """Prompt, chosen and rejected answer; chosen really is better."""

    prompt: str
    chosen: str
    rejected: str
    domain: str = "all"
    source: str = ""
    """Data set it comes from."""
    source_id: str = ""
    """Its id there, as text; empty when it has none."""
    meta: dict[str, str] = Field(default_factory=dict)


class Bias(Record):
    """A systematic preference for something that is not quality. The id hashes name and definition."""

    name: str
    definition: str
    manifestation: str = ""
    """How it shows in an answer or a verdict."""
    origin: Origin
    parents: tuple[str, ...] = ()
    """Biases that it comes from: injected when it was found, merged, or split."""


class Perturbation(Record):
    """One rewritten rejected answer."""

    run_id: str
    pair_id: str
    arm: str
    text: str
    teacher: str
    request_id: str = ""
    answer_change: Literal["same", "changed", "unknown"] = "unknown"


class Judgment(Record):
    """One verdict on one (pair, arm, order)."""

    run_id: str
    pair_id: str
    arm: str
    order: Order
    verdict: Verdict
    judge: str
    perturbation_id: str = ""
    p_rejected: float | None = None
    """P(rejected) / (P(chosen) + P(rejected)) from token log-probabilities, where there are any."""
    tie_mass: float | None = None
    reasoning: str = ""
    request_id: str = ""
    draw: int = 0


class Explanation(Record):
    """The judge going on to explain a wrong verdict (DeeperExplain; paper section 2.2)."""

    run_id: str
    judgment_id: str
    text: str
    by: str
    """Model that explained; the judge itself unless it cannot."""
    request_id: str = ""


class Candidate(Record):
    """A bias the teacher named from one misjudgment."""

    run_id: str
    iteration: int
    name: str
    definition: str
    manifestation: str = ""
    judgment_id: str
    pair_id: str
    source_bias: str
    """The bias that was injected when the judge erred."""
    request_id: str = ""


class MergeDecision(Record):
    """Where one group of candidates went."""

    run_id: str
    iteration: int
    candidate_ids: tuple[str, ...]
    into: str
    """The bias it became or was merged into."""
    novel: bool
    nearest: str = ""
    """The nearest library bias, and how near (cosine)."""
    similarity: float | None = None
    decided_by: Literal["threshold", "teacher", "exact", "undecided"]
    """`undecided`: the teacher was asked and gave no usable answer, so the candidate counts as novel."""


class Validation(Record):
    """What the test set says about one bias and one judge."""

    run_id: str
    bias_id: str
    iteration: int
    """-1 for the confirmation."""
    judge: str
    pair_set: PairSet
    rule: str
    n: int
    """Pairs with a valid judgment in both arms of the contrast."""
    missing: int = 0
    """Pairs left out because one arm has none, or its answer changed."""
    harms: int
    repairs: int
    error_reference: float
    """Error rate in the reference arm (placebo, or original under the paper's rule), 0-1."""
    error_bias: float
    error_original: float | None = None
    effect: float
    """error_bias - error_reference, in points (percent)."""
    interval: tuple[float, float]
    """95 %, in points."""
    interval_method: str
    effect_vs_original: float | None = None
    e_value: float | None = None
    p_value: float | None = None
    """Exact McNemar, two-sided."""
    by_domain: dict[str, dict[str, float]] = Field(default_factory=dict)
    controls: dict[str, Any] = Field(default_factory=dict)
    decision: Decision
    reason: str = ""


class Failure(Record):
    """One item without a usable result, with its reason and what came back."""

    run_id: str
    stage: str
    kind: FailureKind
    subject: str
    """Ids of what was tried, e.g. pair and arm."""
    reason: str
    raw: str = ""
    request_id: str = ""


class Drop(Record):
    """One item that was left out of a data set, and why. A step that failed is a Failure instead."""

    run_id: str
    stage: str
    subject: str
    """Ids of what was left out, e.g. pair and bias."""
    reason: str
    """A few fixed words, to count by."""
    detail: str = ""


class Annotation(Record):
    """What one annotator says about one item of a data set in the making. A change of mind is another row."""

    run_id: str
    item_id: str
    """The item's preference pair."""
    annotator: str
    """As `annotator_name` writes it."""
    label: AnnotationLabel
    """different: a marker would not treat both answers alike; same: they come to the same; broken: no use, whatever
    the answers (damaged text, no right answer, the wrong one is labelled better); unsure: cannot tell."""
    round: AnnotationRound = "independent"
    by: Literal["person", "program"] = "person"
    """Only what people say can make a data set human-verified."""
    time: str
    """ISO 8601, UTC; the newest row of an annotator on an item counts."""
    comment: str = ""


class LibraryEvent(Record):
    """One line of the library's history; the library is what its events say."""

    run_id: str
    seq: int
    kind: Literal["add", "merge", "status", "rename", "edit", "split", "retire", "evidence", "undo"]
    bias_id: str
    author: str
    reason: str = ""
    iteration: int | None = None
    payload: dict[str, Any] = Field(default_factory=dict)
