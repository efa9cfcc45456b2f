"""Biases that flip the same pairs: two names, one effect (METHOD: same-effect groups)."""

from pydantic import BaseModel, ConfigDict

from ...bias_library.library import load_library
from ...core.records import Validation
from ...core.store import Store
from ...validators.agreement import SAME_EFFECT, phi_coefficient, same_effect_groups
from .arms import differences, read_arms, reference_arm


class Member(BaseModel):
    """One bias of a group."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bias_id: str
    name: str
    decision: str
    """Of its latest test in the search."""


class Group(BaseModel):
    """Biases linked by phi >= the threshold. `lowest_phi` is over all pairs of members, also those linked by others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    members: tuple[Member, ...]
    lowest_phi: float | None
    """None when no two members have a defined phi."""


class SameEffect(BaseModel):
    """The groups of one run, the largest first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    threshold: float
    compared: int
    """Biases with judged pairs."""
    groups: tuple[Group, ...]


def groups_of(store: Store, run_id: str) -> tuple[tuple[str, ...], ...]:
    """Bias ids by group; empty for a run without tests."""
    return tuple(tuple(m.bias_id for m in g.members) for g in same_effect(store, run_id).groups)


def same_effect(store: Store, run_id: str, threshold: float = SAME_EFFECT) -> SameEffect:
    """Groups among the tested biases, from stored judgments."""
    validations = sorted(store.select(Validation, run_id=run_id), key=lambda v: (v.iteration, v.id))
    if not validations:
        return SameEffect(run_id=run_id, threshold=threshold, compared=0, groups=())
    arms = read_arms(store, run_id, lengths=False)
    decisions = {v.bias_id: v.decision for v in validations if v.iteration >= 0}
    d = differences(arms, sorted({v.bias_id for v in validations}), reference_arm(validations))
    names = {entry.bias.id: entry.bias.name for entry in load_library(store, run_id)}
    groups = []
    for ids in same_effect_groups(d, threshold):
        members = tuple(Member(bias_id=i, name=names.get(i, i), decision=decisions.get(i, "")) for i in ids)
        phis = [phi_coefficient(d[a], d[b]) for k, a in enumerate(ids) for b in ids[:k]]
        defined = [phi for phi in phis if phi == phi]
        groups.append(Group(members=members, lowest_phi=round(min(defined), 6) if defined else None))
    return SameEffect(run_id=run_id, threshold=threshold, compared=len(d), groups=tuple(groups))
