"""What can be set when preference data are made."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ...agents.arms import VerifyAnswers


class LengthSettings(BaseModel):
    """Length control: training must not learn that the longer answer is the worse one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    low: float = Field(0.67, ge=0)
    """Least length of a rewritten answer, in words, as a share of the answer before."""
    high: float = Field(1.5, gt=0)
    """Most length, likewise. Biases about length themselves are not held to either."""
    balance: bool = False
    """Leave rows out until the chosen side is the longer one as often as the shorter one."""


class PreferenceSettings(BaseModel):
    """What DPO pairs and augmented negatives have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    original_share: float = Field(0.2, ge=0, le=1)
    """Share of the pairs that stay as they are; too much about biases harms general judging."""
    weights: dict[str, float] = Field(default_factory=dict)
    """Weight of a bias in the mixture, by name or id; 1 for those not named."""
    length: LengthSettings = LengthSettings()
    """Length control."""
    near_duplicates: bool = True
    """Leave out source pairs that are nearly the same as an earlier one."""
    contamination: float = Field(0.8, gt=0, le=1)
    """A source pair is left out when its prompt holds this share of a test prompt's word sequences, or is the same."""
    verify_answers: VerifyAnswers = "model"
    """How a rewrite that has become right is noticed: exact, model (exact first) or off."""
    validation_share: float = Field(0.05, ge=0, lt=1)
    """Share of the prompts that is kept for validation."""
    validation_most: int = Field(1000, ge=1)
    """Most prompts that are kept for validation."""


class DpoSettings(PreferenceSettings):
    """How DPO pairs are made."""

    what: Literal["response", "verdict"] = "response"
    """response: the better answer against a rejected one that shows a bias, to train a model that answers;
    verdict: the right verdict against the biased one, with their reasoning, to train a judge."""


class AugmentSettings(PreferenceSettings):
    """How base pairs get negatives that show biases."""

    negatives: int = Field(2, ge=1)
    """Biases written into the rejected answer of a pair that gets any, each as a negative of its own."""
    cold_start: int = Field(100, ge=0)
    """Judging prompts per bias, and without bias, for which the teacher writes the reasoning (the SFT before GRPO)."""
