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


def mixed_arm(iteration: int) -> str:
    """The name of the arm in which several features at once were written into an answer."""
    return f"mixed:{iteration}"


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
    score_chosen: float | None = None
    """The judge's score of the chosen answer, on its own scale, where it scores."""
    score_rejected: float | None = None
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
    own_words: bool = True
    """Whether the judge itself explained; another model only guesses what moved it."""
    request_id: str = ""
    truncated: bool = False
    """Cut off at the token limit; `text` is what there is up to the last whole sentence."""


class ContrastEvidence(BaseModel):
    """Why the contrast discoverer named a feature (docs/contrasts.md)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    feature: str
    """Its name in the lexicon."""
    direction: Literal["more", "less"]
    """Whether the judge goes for more of it or for less."""
    frequency: float
    """Share of the halves of the data in which it was chosen."""
    weight: float
    """Its pull in the joint fit: standard deviations of the response for one of the feature."""
    support: int
    """Misjudgments in which the wrongly preferred answer shows it in that direction."""
    support_pairs: int
    """Pairs that these come from."""
    rows: int
    """Comparisons that were regressed on."""
    features: int
    """Features that varied enough to be considered."""
    false_bound: float
    """At most so many of the features that this fit chose are chosen by chance, on average."""


class Candidate(Record):
    """A bias named from misjudgments: by the teacher from one, by contrasts from all of a round."""

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
    contrast: ContrastEvidence | None = None
    """What speaks for it where contrasts named it; `judgment_id` is then the most telling misjudgment."""


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


class Item(Record):
    """One candidate of a benchmark: a source pair whose rejected answer shows a bias, and how it passed the checks."""

    run_id: str
    pair_id: str
    """The preference pair that it is: the source's prompt and chosen answer, and the rewritten rejected one."""
    source_pair_id: str
    bias_id: str
    perturbation_id: str
    misled: tuple[str, ...]
    """Judges of the filter that took it for the better answer in every order."""
    misled_before: tuple[str, ...]
    """Those of them that did so with the original rejected answer already."""
    answers: Literal["exact", "panel", "unsettled"]
    """By what the two final answers were found to differ; unsettled: by nothing yet."""
    votes: dict[str, str] = Field(default_factory=dict)
    """What each model of the panel said, where it was asked."""


class Annotation(Record):
    """What one annotator says about one item of a data set in the making. A change of mind is another row."""

    run_id: str
    item_id: str
    """The preference pair of the item."""
    annotator: str
    """As `annotator_name` writes it."""
    label: AnnotationLabel
    """different: the final answers differ; same: they come to the same; broken: no use whatever the answers are
    (damaged text, no right answer); unsure: cannot tell. Told to annotators in data/guidelines.md."""
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
