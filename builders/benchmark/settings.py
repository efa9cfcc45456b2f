"""What can be set when a benchmark is built."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Rule = Literal["any", "majority", "all"]


class FilterSettings(BaseModel):
    """The adversarial filter: a variant stays when the judges prefer the worse answer in both orders."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: Rule = "any"
    """How many of the judges must be misled in both orders: any of them, more than half, or all."""
    misjudgments: Literal["any", "flipped"] = "any"
    """any: every misled judge counts; flipped: only one that is not misled by the original pair already."""


class BuildSettings(BaseModel):
    """How a benchmark is built."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    variants: int = Field(10, ge=1)
    """Biases written into every source pair; all of them where there are fewer."""
    filter: FilterSettings = FilterSettings()
    """The adversarial filter."""
