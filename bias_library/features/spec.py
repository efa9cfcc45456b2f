"""A feature as data: phrases or a pattern to measure it by, templates to write it with. The form of the YAML files."""

import re
from typing import Any, Literal

import regex
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ...core.errors import LibraryError
from ...core.mistakes import mistakes
from .feature import Dimension

Per = Literal["words", "text"]
UNITS: dict[Per, str] = {"words": "per 100 words", "text": "count"}
SLOT = re.compile(r"\{(\w+)\}")


class WriteSpec(BaseModel):
    """How a feature is written in."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at: Literal["spread", "start", "end"] = "spread"
    """Between the sentences, before the text, or at its close."""
    strength: float = Field(1.0, gt=0, le=4)
    """Times the usual number of insertions (one in 45 words); `start` and `end` take one, or two from 2 on."""
    templates: tuple[str, ...] = Field(min_length=1)
    """Whole sentences. `{slot}` is filled from `slots`, `{topic}` with a thing that the question
    or text is about, `{word}`, `{word2}` and `{word3}` with words of the question."""
    openings: tuple[str, ...] = ()
    """Words put before a sentence ("Furthermore,"); a template stands in where no sentence can take one."""
    endings: tuple[str, ...] = ()
    """Words put before a full stop; likewise."""
    slots: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class FeatureSpec(BaseModel):
    """One feature as it stands in a YAML file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{1,59}$")
    title: str = Field(min_length=1, max_length=200)
    definition: str = Field(min_length=10, max_length=4000)
    dimension: Dimension
    phrases: tuple[str, ...] = ()
    """Words or phrases, in any case; a star at the end stands for any ending."""
    pattern: str = ""
    """A regular expression, in the prose as it is; use (?i) for any case and (?m) for lines."""
    measured_as: str = ""
    """In place of phrases and pattern: a measure of measures.py by its name."""
    per: Per = "words"
    unit: str = ""
    """What the measure counts, where `per` does not say it."""
    written_as: str = ""
    """A writer of writers.py by its name; without one the templates are put between sentences."""
    write: WriteSpec

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            regex.compile(pattern)
        except regex.error as error:
            raise ValueError(f"not a regular expression: {error}") from error
        return pattern

    @model_validator(mode="after")
    def _complete(self) -> "FeatureSpec":
        if sum(map(bool, (self.phrases, self.pattern, self.measured_as))) != 1:
            raise ValueError("give one of phrases, pattern and measured_as")
        if any(not phrase.strip(" *") for phrase in self.phrases):
            raise ValueError("a phrase is empty")
        known = {"topic", "word", "word2", "word3", *self.write.slots}
        for text in (*self.write.templates, *self.write.openings, *self.write.endings):
            if missing := set(SLOT.findall(text)) - known:
                raise ValueError(f"the template {text!r} names the slot {sorted(missing)[0]!r}, which is not in slots")
        if empty := [name for name, values in self.write.slots.items() if not values]:
            raise ValueError(f"the slot {empty[0]!r} has no values")
        return self


def read_specs(rows: Any, where: str) -> list[FeatureSpec]:
    """Features from parsed YAML; LibraryError names the file, the feature and the field."""
    if not isinstance(rows, list):
        raise LibraryError(f"{where}: a list of features is needed, got {type(rows).__name__}: see docs/features.md")
    specs = []
    for number, row in enumerate(rows, 1):
        label = row.get("name", number) if isinstance(row, dict) else number
        try:
            specs.append(FeatureSpec.model_validate(row))
        except ValidationError as error:
            said = mistakes(error, "as a whole")[0]
            raise LibraryError(f"{where}: feature {label!r}, {said}: see docs/features.md") from error
    return specs
