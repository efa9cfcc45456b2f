"""What to read: the source, how its columns are meant, and how much of it."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Preset = Literal[
    "auto",
    "judgebench",
    "rewardbench",
    "llmbar",
    "evalbiasbench",
    "ultrafeedback",
    "rmbench",
    "judgebiasbench",
    "edited",
    "pairs",
]


class Columns(BaseModel):
    """Which column holds what, for data that no preset knows.

    Either `chosen` and `rejected`, or `answer_a`, `answer_b` and `label`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: str
    """Column of the prompt."""
    chosen: str | None = None
    """Column of the better answer."""
    rejected: str | None = None
    """Column of the worse answer."""
    answer_a: str | None = None
    """Column of the first answer."""
    answer_b: str | None = None
    """Column of the second answer."""
    label: str | None = None
    """Column that says which of the two is better."""
    labels: Literal["auto", "1/2", "0/1"] = "auto"
    """What numbers in `label` mean: 1 = A and 2 = B, or 0 = A and 1 = B. `auto` looks at the first 500 rows."""
    label_values: dict[str, Literal["A", "B", "tie"]] = Field(default_factory=dict)
    """Your own labels, e.g. {"win": "A", "loss": "B"}; letter case does not matter."""
    domain: str | None = None
    """Column of the domain."""
    id: str | None = None
    """Column of the id."""
    subset: str | None = None
    """Column of the subset."""
    model_a: str | None = None
    """Model that wrote answer A (or the chosen one); a label may name it."""
    model_b: str | None = None
    """Model that wrote answer B (or the rejected one)."""

    @model_validator(mode="after")
    def _one_of_two_forms(self) -> "Columns":
        sided = (self.chosen, self.rejected)
        labelled = (self.answer_a, self.answer_b, self.label)
        if all(sided) and not any(labelled):
            return self
        if all(labelled) and not any(sided):
            return self
        raise ValueError("columns: give either chosen and rejected, or answer_a, answer_b and label")


class SourceSpec(BaseModel):
    """One data source. The same spec and the same data give the same pairs, whatever the order of the rows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str = Field(min_length=1)
    """A .parquet, .jsonl, .json, .csv or .tsv file (also .gz), a folder of such files, a hub data set (`owner/name`),
    `builtin` (verifiable questions in math, logic, knowledge and code) or `builtin:relevance` (answers on topic
    against evasive, generic or off-topic ones)."""
    preset: Preset = "auto"
    """Layout of the source; auto finds it by its columns."""
    columns: Columns | None = None
    """Where the fields are, for a layout that no preset knows."""
    split: str | None = None
    """Split of a hub data set."""
    config: str | None = None
    """Configuration of a hub data set."""
    limit: int | None = Field(default=None, gt=0)
    """At most so many pairs, in proportion to the domains, at least one of each where the limit allows."""
    domains: tuple[str, ...] = ()
    """Only these domains; all when empty."""
    seed: int = 0
    """Seed of what is drawn when pairs are limited or made."""
    max_chars: int | None = Field(default=None, gt=0)
    """Leave out pairs with a longer text than this."""
    styles: Literal["matched", "all"] = "matched"
    """RM-Bench: compare answers of the same style, or each chosen with each rejected one."""
    responses: Literal["original", "rewritten"] = "original"
    """JudgeBiasBench: the answers before or after its rewriting."""

    @model_validator(mode="after")
    def _preset_or_columns(self) -> "SourceSpec":
        if self.columns is not None and self.preset != "auto":
            raise ValueError(f"columns and preset={self.preset!r} exclude each other: leave one out")
        return self
