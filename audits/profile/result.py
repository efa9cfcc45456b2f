"""The profile as a value; profile.json holds it as it stands here (docs/profile.md)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from ...validators.rates import Rate


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Share(_Part):
    """A rate in [0, 1] over pairs, with a 95 % interval."""

    value: float | None
    """None when there was nothing to count."""
    low: float
    high: float
    pairs: int
    n: int
    """Judgments; more than `pairs` where both orders count."""
    method: str


class Domain(_Part):
    """The pairs of one domain. Intervals are for each domain by itself, not for all at once."""

    domain: str
    pairs: int
    accuracy: Share
    consistency: Share | None
    """None for a judge without a position."""


class Orders(_Part):
    """What the place of an answer does to the verdict."""

    consistency: Share
    """Pairs with the same verdict in both orders, of those that can be read in both; two ties are the same."""
    right_twice: Share
    """Pairs on which both orders are right, of all pairs: ties, unreadable verdicts and failures are not right."""
    first: Share
    """Verdicts for the answer that stood first, of all that preferred one."""
    first_kept: int
    """Pairs with a preference in each order that went to the first place twice."""
    second_kept: int
    """The same for the second place."""


class Retest(_Part):
    """The same question again, in the pair's drawn order."""

    agreement: Share
    """Pairs with the same verdict both times, of those that can be read both times."""
    kappa: float | None
    """Cohen's, between the two times, over A, B and tie; None where it is not defined."""
    kappa_low: float
    kappa_high: float


class People(_Part):
    """The judge against people's labels."""

    pairs: int
    """Pairs with a label of people and a verdict of the judge."""
    annotators: int
    split: int
    """Labelled pairs without a most frequent label, left out."""
    agreement: Share
    kappa: float | None
    """Cohen's, over A, B and tie as they stand in the drawn order; None where it is not defined."""
    kappa_low: float
    kappa_high: float
    between_people: float | None
    """Share of pairs of annotators on the same pair who agree: what a judge can hope for. None with one annotator."""


class ConfidenceBin(_Part):
    """Judgments of about the same confidence."""

    n: int
    confidence: float
    right: float
    low: float
    high: float


class Confidence(_Part):
    """Whether the probability of the verdict in the drawn order is the chance of its being right."""

    n: int
    mean: float
    right: float
    brier: float
    brier_low: float
    brier_high: float
    ece: float
    ece_if_calibrated: float
    rms: float
    rms_low: float
    rms_high: float
    bins: tuple[ConfidenceBin, ...]


class Spending(_Part):
    """What a judgment costs; calls answered from another run's cache count as if they had been made."""

    calls: int
    calls_per_judgment: float
    prompt_tokens: float
    """For one judgment, as the next two."""
    completion_tokens: float
    cost: float | None
    """In the currency of the configured prices; None where no price is known."""
    seconds_median: float | None
    """For one call, as the next; None when no call was made. Calls that ran beside it slow a call down."""
    seconds_p95: float | None


class Profile(_Part):
    """All that is known. Rates in [0, 1]."""

    format: Literal["biasscope-profile"] = "biasscope-profile"
    version: Literal[1] = 1
    run_id: str
    judge: str
    """The judge's identity."""
    served_by: tuple[str, ...]
    """Model names that the endpoint reported."""
    data: str
    """The source."""
    data_hash: str
    seed: int
    pairs: int
    judgments: int
    """Asked, both orders, without those of the retest."""
    has_position: bool
    accuracy: Share
    """Right, of the verdicts that preferred an answer."""
    right: Share
    """Right, of all judgments asked."""
    domains: tuple[Domain, ...]
    orders: Orders | None
    """None for a judge without a position: one order stands for both."""
    ties: Share
    """Of all judgments asked, as the next three."""
    invalid: Share
    failed: Share
    truncated: Share
    """Failures of the kind `truncated`: the judge ran into its token limit before a verdict."""
    failures: dict[str, int]
    """Failed judgments by kind."""
    retest: Retest | None
    """None when nothing was asked again."""
    people: People | None
    """None without labels."""
    confidence: Confidence | None
    """None for a judge without probabilities, or with too few."""
    spending: Spending
    notes: tuple[str, ...]
    """What was left out, and why."""


def share(rate: Rate) -> Share:
    """A rate as it is written down."""
    value = None if rate.rate != rate.rate else rate.rate
    return Share(value=value, low=rate.low, high=rate.high, pairs=rate.pairs, n=rate.n, method=rate.method)
