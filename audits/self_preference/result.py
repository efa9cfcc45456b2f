"""What a self-preference audit found, as one value. Propensities are in [-0.5, 0.5], coefficients in log-odds."""

from pydantic import BaseModel, ConfigDict

from ...validators.preference_model import Coefficient as FittedCoefficient
from ...validators.preference_model import PreferenceFit
from ...validators.resampling import Estimate as Estimated


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Estimate(_Part):
    """A mean with its 95 % interval (bootstrap over prompts)."""

    value: float | None
    interval: tuple[float, float] | None
    n: int
    prompts: int

    @classmethod
    def of(cls, found: Estimated) -> "Estimate":
        """From the statistics."""
        return cls(value=found.value, interval=found.interval, n=found.n, prompts=found.clusters)


class Coefficient(_Part):
    """Log-odds, standard error (jackknife over prompts) and 95 % interval."""

    estimate: float
    error: float
    interval: tuple[float, float]


class Fit(_Part):
    """The model-based estimate, or why there is none."""

    n: int
    prompts: int
    beta_self: Coefficient | None
    discriminability: Coefficient | None
    position: Coefficient | None
    reason: str

    @classmethod
    def of(cls, found: PreferenceFit) -> "Fit":
        """From the statistics."""

        def made(one: FittedCoefficient | None) -> Coefficient | None:
            if one is None:
                return None
            return Coefficient(estimate=one.estimate, error=one.error, interval=one.interval)

        return cls(
            n=found.n,
            prompts=found.prompts,
            beta_self=made(found.beta_self),
            discriminability=made(found.discriminability),
            position=made(found.position),
            reason=found.reason,
        )


class Spoken(_Part):
    """Verdicts of one arm."""

    arm: str
    judged: int
    own: int
    other: int
    ties: int
    invalid: int
    failed: int
    """Asked for and not given."""


class AgainstAuthor(_Part):
    """The judge's own answers against those of one other author."""

    other: str
    family: str
    n: int
    quality: float | None
    """Mean of own - other by the panel."""
    equal: int
    preference: float | None
    """Mean P(own) - 0.5 over all pairs."""


class CurvePoint(_Part):
    """The propensity at one threshold of equal quality."""

    delta: float
    estimate: Estimate


class Baseline(_Part):
    """The panel's members on the same equal-quality pairs."""

    propensity: Estimate
    """Their mean P(own) - 0.5, where `own` is the judge's answer."""
    difference: Estimate
    """The judge's minus theirs: what is left is the judge's own."""
    members: dict[str, Estimate]


class MitigationResult(_Part):
    """Structured judging: propensity of verdicts before and after, on the same equal-quality pairs."""

    before: Estimate
    after: Estimate
    reduction: Estimate
    relative: Estimate | None
    """Share of the propensity that goes; None when the interval of `before` holds 0."""


class LabelResult(_Part):
    """What the words `you wrote this` do, whoever wrote the answer."""

    preference: Estimate
    """P(answer labelled as the judge's) - 0.5, mean over both placings."""
    own_labelled_own: Estimate
    """P(own) - 0.5 when the own answer bears the label."""
    other_labelled_own: Estimate
    """P(own) - 0.5 when the other's bears it."""


class SideResult(_Part):
    """Own answers (or the family's) against others."""

    pairs: int
    graded: int
    """Pairs that the panel graded on both sides."""
    equal: int
    unequal: int
    quality: float | None
    """Mean of own - other by the panel."""
    propensity: Estimate
    discriminability: Estimate
    fit: Fit
    baseline: Baseline | None
    curve: tuple[CurvePoint, ...]
    authors: tuple[AgainstAuthor, ...]
    first: float | None
    """Mean P(own) on equal-quality pairs where the own answer stands first."""
    second: float | None
    spoken: tuple[Spoken, ...]


class SelfPreferenceResult(_Part):
    """The whole audit."""

    own: str
    family: str
    delta: float
    has_position: bool
    authors: dict[str, int]
    """Answers of each author to the prompts."""
    families: dict[str, str]
    panel: tuple[str, ...]
    panel_agreement: float | None
    """Mean correlation of two members' quality differences."""
    own_side: SideResult
    mitigation: MitigationResult | None
    labels: LabelResult | None
    family_side: SideResult | None
    left_out: dict[str, str]
    """What was not asked, and why."""
