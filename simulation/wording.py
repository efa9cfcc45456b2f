"""The neutral stock of every world (wording.yaml): words that may stand for each other, sentences that say nothing,
plain reasons for a verdict, biases that are in no world."""

import functools
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

from .spec import Invented


class Wording(BaseModel):
    """The stock, checked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    groups: list[list[str]]
    """Words that may stand for each other."""
    neutral: list[str]
    """Sentences that add nothing and show no feature."""
    reasons: list[str]
    """What a judge says when nothing in particular drove it; `{w}` is the winner's letter, `{l}` the loser's."""
    drivers: list[str]
    """How a judge brings up a feature; `{what}` is one of its names."""
    invented: list[Invented]
    common: frozenset[str]
    """Words that say nothing about which bias is meant."""
    openings: list[str]
    remarks: list[str]

    @functools.cached_property
    def swaps(self) -> dict[str, list[str]]:
        """By word: the others of its group."""
        return {word: [o for o in group if o != word] for group in self.groups for word in group}


@functools.cache
def stock() -> Wording:
    """The built-in stock."""
    with (Path(__file__).parent / "wording.yaml").open(encoding="utf-8") as file:
        return Wording.model_validate(yaml.safe_load(file))
