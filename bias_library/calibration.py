"""Pairs of biases labelled same or different by people, to set the thresholds of merging and to measure them.

The convention of `calibration.jsonl`: two biases are the *same* when they name one mechanism in one direction, so that
a judge audited for the first has been audited for the second, whatever the words and the example (kinds `paraphrase`
and `mechanism`). They are *different* when the direction is opposite (`opposite`), when one is a narrower case that a
judge can show without the general one (`subtype`), when they share a topic but not the mechanism (`near`), or when they
have nothing in common (`unrelated`). All wording is ours. A fixed hash of the texts puts each pair into one half:
thresholds and the embedded form are chosen on `tune`, figures are reported on `test`.
"""

import functools
import json
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from ..core.ids import content_id

Kind = Literal["paraphrase", "mechanism", "opposite", "subtype", "near", "unrelated"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_FILE = Path(__file__).parent / "calibration.jsonl"


class NamedText(BaseModel):
    """Name and definition of a bias."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    definition: str


class LabelledPair(BaseModel):
    """Two biases and what people say of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    label: Literal["same", "different"]
    a: NamedText
    b: NamedText

    @property
    def same(self) -> bool:
        """Whether the two are one bias."""
        return self.label == "same"

    @property
    def half(self) -> Literal["tune", "test"]:
        """By a fixed hash of the texts."""
        texts = (self.a.name, self.a.definition, self.b.name, self.b.definition)
        return "tune" if int(content_id("calibration", *texts), 16) % 2 == 0 else "test"


@functools.cache
def calibration_pairs() -> tuple[LabelledPair, ...]:
    """All labelled pairs, in the order of the file."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return tuple(LabelledPair.model_validate(json.loads(line)) for line in lines if line.strip())
