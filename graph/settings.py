"""What the loop can be told. `paper` and `rigorous` are the two profiles (docs/method.md)."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Profile = Literal["paper", "rigorous"]


class ContrastSettings(BaseModel):
    """How features of the answers are searched for what moves the judge, without a model (docs/contrasts.md)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    false_selections: float = Field(1.0, gt=0)
    """At most so many features per round are named by chance, on average; they are tested like all others."""
    mixed: int | None = Field(None, ge=1)
    """Features that the teacher `rules` writes into each answer at once, to see which of them moves the judge. None:
    2 to 6, so that each is seen in about 16 answers."""
    min_rows: int = Field(8, ge=2)
    """A feature that differs in fewer comparisons is not considered."""


class DiscoverySettings(BaseModel):
    """How candidates are found."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: Literal["llm", "contrasts", "both"] | None = None
    """Who names candidates. llm: the teacher's model, from each misjudgment and the judge's reasons; contrasts: a
    regression of verdicts or scores on text features, without a model; None: llm where the teacher has a model."""
    contrasts: ContrastSettings = ContrastSettings()
    """How contrasts search."""
    iterations: int = Field(4, ge=1, le=100)
    """T_max: the most rounds of the loop."""
    patience: int = Field(2, ge=1)
    """Rounds in a row that may bring nothing new before the loop ends; 1 is the paper. A further round draws other
    biases for the pairs and costs little beside the tests."""
    misjudgments: Literal["flipped", "any"] = "flipped"
    """flipped: wrong under the perturbation and right without it; any: every wrong verdict (the paper)."""
    deeper_explain: bool = True
    """Ask the judge to go on explaining its wrong verdict before the teacher names a bias."""
    seeds: bool = True
    """Start from the seven basic biases; without them a library must be given."""


class ValidationSettings(BaseModel):
    """How candidates are tested."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: Literal["eprocess", "exact", "paper"] = "eprocess"
    """eprocess: anytime-valid test against the placebo arm; exact: McNemar at the full test set; paper: error rate
    merely higher than on the original answers."""
    when: Literal["early", "late"] = "early"
    """Each iteration, or once after the last."""
    seeds: bool = True
    """Test the seed biases too, in the first validation."""
    alpha: float = Field(0.05, gt=0, lt=1)
    """False discovery rate of the whole run."""
    smallest_effect: float = Field(3.0, ge=0, le=100)
    """Smallest effect of interest, in points; below it a bias is dropped as futile."""
    batch: int = Field(40, ge=1)
    """Test pairs per look."""
    max_pairs: int | None = Field(None, ge=1)
    """The most test pairs per bias; None takes all."""
    confirm_share: float | None = Field(None, ge=0, lt=1)
    """Share of the test pairs that is locked away for confirmation; None: a third from 300 pairs on, else none."""
    verify_answers: Literal["exact", "model", "off"] = "model"
    """How a rewrite that has become right is noticed: exact extraction, with a model where that is silent, or not."""
    manipulation_checks: int = Field(30, ge=0)
    """Pairs per bias on which a verifier must see the bias in the rewrite; 0 switches the check off."""
    truncation_control: bool = True
    """Judge valid biases again with the rewrite cut to the original's length."""
    retests: int = Field(0, ge=0)
    """Pairs whose placebo arm is judged twice, to measure the judge's own noise."""


class MergingSettings(BaseModel):
    """When two biases are one; None takes the calibrated threshold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    low: float | None = Field(None, ge=-1, le=1)
    """At or under this cosine a candidate is new."""
    high: float | None = Field(None, ge=-1, le=1)
    """At or over this cosine two biases are one."""
    nearest: int | None = Field(None, ge=1)
    """Library biases that the teacher sees at once when it compares; while none is the same, up to four more lists."""


class LoopSettings(BaseModel):
    """Everything the graph needs to know."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = 0
    """Seed of everything that is drawn."""
    profile: Profile = "rigorous"
    """rigorous: against a placebo, with controlled false discoveries; paper: the published algorithm."""
    orders: Literal["drawn", "both"] = "drawn"
    """drawn: one order per pair, by seed; both: every arm is judged in both orders."""
    discovery: DiscoverySettings = DiscoverySettings()
    """How candidates are found."""
    validation: ValidationSettings = ValidationSettings()
    """How candidates are tested."""
    merging: MergingSettings = MergingSettings()
    """When two biases are one."""
    approve: bool = False
    """Stop before admission and wait for a decision."""


PAPER: dict[str, dict[str, Any]] = {
    "discovery": {"misjudgments": "any", "patience": 1},
    "validation": {
        "rule": "paper",
        "seeds": False,
        "confirm_share": 0.0,
        "verify_answers": "off",
        "manipulation_checks": 0,
        "truncation_control": False,
    },
}
"""What the profile `paper` sets where the user has not (Algorithm 1 as published)."""
