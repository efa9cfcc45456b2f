"""What differs between two libraries: which biases, which statuses, how strong."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy.typing as npt

from ..core.records import Bias, Status, Validation
from .index import build
from .library import Entry, Library
from .thresholds import GROUP


@dataclass(frozen=True)
class StatusChange:
    """A bias of both libraries that stands differently."""

    bias: Bias
    before: Status
    after: Status


@dataclass(frozen=True)
class EffectChange:
    """A bias with a validation on both sides; effects in points. `apart`: the 95 % intervals do not overlap."""

    bias: Bias
    judge_before: str
    judge_after: str
    before: float
    after: float
    apart: bool

    @property
    def change(self) -> float:
        """Points gained."""
        return self.after - self.before


@dataclass(frozen=True)
class NearMatch:
    """A bias of only the first library and the nearest of only the second, which may be the same in other words."""

    a: Bias
    b: Bias
    similarity: float


@dataclass(frozen=True)
class Diff:
    """From library a to library b."""

    both: tuple[Bias, ...]
    only_a: tuple[Bias, ...]
    only_b: tuple[Bias, ...]
    statuses: tuple[StatusChange, ...]
    effects: tuple[EffectChange, ...]
    near: tuple[NearMatch, ...]


def diff(
    a: Library,
    b: Library,
    validations_a: Iterable[Validation] = (),
    validations_b: Iterable[Validation] = (),
    vectors: Mapping[str, npt.ArrayLike] | None = None,
    near: float = GROUP,
) -> Diff:
    """Compare by id; with `vectors` (by bias id) also what is worded differently, from cosine `near` on.
    Merged biases are left out on both sides: what they became stands for them.
    """
    standing_a, standing_b = _standing(a), _standing(b)
    both = [i for i in standing_a if i in standing_b]
    only_a = [i for i in standing_a if i not in standing_b]
    only_b = [i for i in standing_b if i not in standing_a]
    statuses = [
        StatusChange(standing_b[i].bias, standing_a[i].status, standing_b[i].status)
        for i in both
        if standing_a[i].status != standing_b[i].status
    ]
    last_a, last_b = decisive(validations_a), decisive(validations_b)
    effects = [_effect(standing_b[i].bias, last_a[i], last_b[i]) for i in both if i in last_a and i in last_b]
    return Diff(
        both=tuple(standing_b[i].bias for i in both),
        only_a=tuple(standing_a[i].bias for i in only_a),
        only_b=tuple(standing_b[i].bias for i in only_b),
        statuses=tuple(statuses),
        effects=tuple(sorted(effects, key=lambda e: (-abs(e.change), e.bias.id))),
        near=_near([standing_a[i].bias for i in only_a], [standing_b[i].bias for i in only_b], vectors or {}, near),
    )


def _standing(library: Library) -> dict[str, Entry]:
    return {e.bias.id: e for e in library if e.merged_into is None}


def decisive(validations: Iterable[Validation]) -> dict[str, Validation]:
    """The one to go by for each bias: the confirmation (iteration -1), else the latest."""
    chosen: dict[str, Validation] = {}
    for v in sorted(validations, key=lambda v: (v.iteration == -1, v.iteration, v.id)):
        chosen[v.bias_id] = v
    return chosen


def _effect(bias: Bias, a: Validation, b: Validation) -> EffectChange:
    apart = a.interval[1] < b.interval[0] or b.interval[1] < a.interval[0]
    return EffectChange(bias, a.judge, b.judge, a.effect, b.effect, apart)


def _near(
    only_a: list[Bias], only_b: list[Bias], vectors: Mapping[str, npt.ArrayLike], threshold: float
) -> tuple[NearMatch, ...]:
    by_id = {b.id: b for b in only_b if b.id in vectors}
    asked = [b for b in only_a if b.id in vectors]
    if not by_id or not asked:
        return ()
    hits = build({i: vectors[i] for i in by_id}).nearest([vectors[b.id] for b in asked], 1)  # type: ignore[arg-type]
    pairs = [NearMatch(bias, by_id[hit.id], hit.similarity) for bias, [hit] in zip(asked, hits, strict=True)]
    return tuple(sorted((p for p in pairs if p.similarity >= threshold), key=lambda p: (-p.similarity, p.a.id)))
