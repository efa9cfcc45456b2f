"""What can be set for a taxonomy audit, and which biases it is about."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ...bias_library.taxonomy import JudgeKind, TaxonomyBias, identities, taxonomy
from ...core.errors import ConfigError

GROUPS = ("twelve", "identities", "all")


class TaxonomySettings(BaseModel):
    """How the suite is built and judged."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    biases: tuple[str, ...] = ("twelve",)
    """Names of biases; twelve: those of the taxonomy; identities: further groups of authors; all: both."""
    pairs: int = Field(500, ge=1)
    """Pairs drawn for each bias, before what fails and what the verifier discards."""
    orders: Literal["one", "both"] = "one"
    """one: each pair in its drawn order, as published; both: in both, and a pair is right when both verdicts are (or
    their mean log-odds). Reflection and position are about one order and stay in it."""
    controls: Literal["cues", "all", "off"] = "cues"
    """Matched controls, judged beside the injected pairs: cues: a neutral line as long as the cue, where one is added;
    all: for rewrites too, a rewrite with no bias asked for; off: none."""


def chosen_biases(names: Sequence[str]) -> tuple[TaxonomyBias, ...]:
    """The biases of that name or group, in the taxonomy's order. Raises ConfigError for a name that is not there."""
    known = {entry.name.casefold(): entry for entry in (*taxonomy(), *identities())}
    groups = {"twelve": taxonomy(), "identities": identities(), "all": (*taxonomy(), *identities())}
    wanted: dict[str, TaxonomyBias] = {}
    for name in names:
        plain = name.casefold().replace("_", " ").replace("-", " ").strip()
        if plain in groups:
            wanted |= {entry.name: entry for entry in groups[plain]}
        elif plain in known:
            wanted[known[plain].name] = known[plain]
        else:
            there = ", ".join((*GROUPS, *(entry.name for entry in known.values())))
            raise ConfigError(f"biases: there is no {name!r}; there are {there}")
    if not wanted:
        raise ConfigError(f"biases: is empty; name some, or one of {', '.join(GROUPS)}")
    return tuple(entry for entry in known.values() if entry.name in wanted)


def judge_kind(has_position: bool) -> JudgeKind:
    """What the taxonomy calls a judge: one that compares answers, or one that scores each alone."""
    return "generative" if has_position else "discriminative"


def split_applicable(
    biases: Sequence[TaxonomyBias], has_position: bool
) -> tuple[tuple[TaxonomyBias, ...], dict[str, str]]:
    """The biases that such a judge can have, and why the others are left out."""
    kind = judge_kind(has_position)
    fits = tuple(entry for entry in biases if kind in entry.kinds)
    reason = "this judge scores each answer alone: it sees neither an order nor another answer"
    return fits, {entry.name: reason for entry in biases if entry not in fits}
