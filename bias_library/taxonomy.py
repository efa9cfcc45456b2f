"""Twelve biases in four dimensions (JudgeBiasBench, section 3), and more identities than its two. Data only."""

import functools
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, model_validator

from ..core.records import Bias
from .bias import make_bias

Dimension = Literal["superficial quality", "context", "presentation", "diversity"]
JudgeKind = Literal["generative", "discriminative"]
_FOLDER = Path(__file__).parent


class TaxonomyBias(BaseModel):
    """One bias of the taxonomy and how it is brought in."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    dimension: Dimension
    definition: str
    manifestation: str
    how: Literal["rewrite", "cue", "swap"]
    kinds: tuple[JudgeKind, ...]
    """Judges that it applies to."""
    chosen: str = ""
    """What to ask of the rewrite of the chosen answer (weaken the feature); for `rewrite` only."""
    rejected: str = ""
    """What to ask of the rewrite of the rejected answer (add the feature); for `rewrite` only."""
    beside: Literal["chosen", "rejected", "second"] | None = None
    """Where a cue stands: at one side, or before whichever answer is shown second."""
    cues: tuple[str, ...] = ()
    """Variants of the cue; `{percent}` is filled from `percent`."""
    controls: tuple[str, ...] = ()
    """For each cue a line of as many words that says nothing of the kind."""
    percent: tuple[int, ...] = ()
    ratio: float | None = None
    """Largest allowed length of the rejected over the chosen answer."""

    @model_validator(mode="after")
    def _complete(self) -> "TaxonomyBias":
        if (self.how == "rewrite") != bool(self.chosen and self.rejected):
            raise ValueError(f"{self.name}: a rewrite, and only a rewrite, says what to ask for on both sides")
        if (self.how == "cue") != bool(self.cues and self.beside):
            raise ValueError(f"{self.name}: a cue, and only a cue, has variants and a place")
        if len(self.controls) != len(self.cues):
            raise ValueError(f"{self.name}: {len(self.controls)} controls for {len(self.cues)} cues; give each its own")
        return self

    @property
    def bias(self) -> Bias:
        """As a record of the library."""
        return make_bias(f"{self.name} bias", self.definition, self.manifestation, origin="taxonomy")


@functools.cache
def taxonomy() -> tuple[TaxonomyBias, ...]:
    """The twelve, in the order of the four dimensions."""
    return _read("taxonomy")


@functools.cache
def identities() -> tuple[TaxonomyBias, ...]:
    """Further groups of authors, of the dimension diversity."""
    return _read("identities")


def _read(name: str) -> tuple[TaxonomyBias, ...]:
    rows = yaml.safe_load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return tuple(TaxonomyBias.model_validate(row) for row in rows)
