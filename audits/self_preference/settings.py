"""What can be set for a self-preference audit."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class SelfPreferenceSettings(BaseModel):
    """How own answers are compared with others."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    own: str | None = None
    """Author in the answers that is the judge; None: the author of the judge's model name, else the judge answers the
    prompts itself."""
    others: tuple[str, ...] = ()
    """Authors to compare with; all when empty."""
    families: dict[str, str] = Field(default_factory=dict)
    """Family of an author, where its name does not tell: {"my-finetune": "llama"}."""
    pairs: int = Field(500, ge=1)
    """Own-other pairs, near-uniform over the other authors; and as many at most for the family."""
    delta: float = Field(0.25, ge=0)
    """Largest quality difference (0-10 scale) of an equal-quality pair."""
    baseline: Literal["equal", "all", "off"] = "equal"
    """Have the panel's members judge the same pairs: the equal-quality ones, all, or none."""
    structured: bool = True
    """Judge the equal-quality pairs by five aspects first (the mitigation), where the judge is a pairwise LLM."""
    labels: bool = True
    """Judge the equal-quality pairs with made-up author labels: `you wrote this` on either answer."""
    family: bool = True
    """Compare answers of the judge's family with those of other families too."""
