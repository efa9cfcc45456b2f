"""The two questions of merging: which wordings of a group are one mechanism, and is a bias one of the nearest few."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ..core.errors import CallFailed, ConfigError, LibraryError
from ..core.ids import content_id
from ..core.records import Bias, Failure
from .bias import bias_text, make_bias
from .grouping import Group
from .index import Hit, build, normalise
from .thresholds import GROUP, HIGH, LOW, NEAREST

DecidedBy = Literal["threshold", "teacher", "exact", "undecided"]


class Summary(NamedTuple):
    """One mechanism among the wordings of a group, and the words for it."""

    name: str
    definition: str
    manifestation: str
    members: tuple[int, ...]
    """Places in the group that was shown, from 0; no place in two summaries."""


Embed = Callable[[Sequence[str]], Awaitable[npt.NDArray[np.float32]]]
"""(n) texts to (n, d) vectors; need not be normalised."""
Summarise = Callable[[Sequence[Bias]], Awaitable[Sequence[Summary]]]
"""A group's wordings, the most central first, sorted into mechanisms with one wording each. Near in embedding is not
the same in meaning (opposites are the nearest of all), so the teacher parts what does not belong together in the same
call; a wording that is in no summary stays a bias of its own."""
SameAs = Callable[[Bias, Sequence[Bias]], Awaitable[str | None]]
"""The id of the bias among the nearest that is the same mechanism as the first argument, or None."""


@dataclass(frozen=True)
class Rule:
    """When biases are the same. Cosines of the embedder that the defaults were calibrated on."""

    low: float = LOW
    """At or below: new, unasked."""
    high: float = HIGH
    """At or above: merged, unasked."""
    group: float = GROUP
    """At or above this cosine to its leader a wording is in the group that the teacher sorts and summarises."""
    group_size: int = 12
    """Most wordings in one group, so that the teacher sees each."""
    nearest: int = NEAREST
    """How many library biases the teacher sees when it compares."""
    pages: int = 5
    """Most times that it is asked: as long as it has found none, it is shown the next nearest. A bias that is taken for
    new costs a whole test."""
    nearest_groups: int = 3
    """How many larger groups of this iteration it sees beside the first of them."""

    def __post_init__(self) -> None:
        if (
            not -1 <= self.low <= self.high
            or self.group_size < 2
            or min(self.nearest, self.pages) < 1
            or self.nearest_groups < 0
        ):
            raise ConfigError(
                f"{self} cannot be: low must not be above high, groups hold 2 or more, nearest and pages 1 or more"
            )


@dataclass(frozen=True)
class Verdict:
    """What a bias is part of (itself when novel), who said so, and the nearest of all that it was compared with."""

    into: str
    decided_by: DecidedBy
    nearest: Hit | None


@dataclass
class Work:
    """Calls and failures of one merge."""

    run_id: str
    calls: int = 0
    failures: list[Failure] = field(default_factory=list)

    def fail(self, subject: str, error: CallFailed) -> None:
        """Keep a call without a usable answer as a row."""
        self.failures.append(
            Failure(
                id=content_id("failure", self.run_id, "merge", subject, error.kind, error.request_id or ""),
                run_id=self.run_id,
                stage="merge",
                kind=error.kind,
                subject=subject,
                reason=error.reason,
                raw=error.raw,
                request_id=error.request_id or "",
            )
        )


async def embedded(biases: Sequence[Bias], embed: Embed) -> npt.NDArray[np.float32]:
    """(n, d) normalised vectors of biases."""
    if not biases:
        return np.zeros((0, 1), dtype=np.float32)
    return normalise(await embed([bias_text(b.name, b.definition) for b in biases]))


Part = tuple[Bias, tuple[str, ...]]
"""A mechanism and the ids of the wordings that it was made from."""


async def summaries(
    group: Group, summarise: Summarise, embed: Embed, rule: Rule, work: Work
) -> tuple[list[Part], bool]:
    """The mechanisms of a group, each with the ids of its wordings, and whether it was the teacher who parted them."""
    if len(group.members) == 1:
        return [(group.members[0], group.ids)], False
    work.calls += 1
    try:
        found = await summarise(group.members)
        used = [place for summary in found for place in summary.members]
        if len(used) != len(set(used)) or not set(used) <= set(range(len(group.members))):
            raise CallFailed("malformed", "the summary names a wording twice or one that is not there", repr(found))
    except CallFailed as error:
        work.fail(f"summary of {group.members[0].id}", error)
        near = group.rows @ group.rows[0] >= rule.high
        joined = tuple(i for i, is_near in zip(group.ids, near, strict=True) if is_near)
        rest = [b for b in group.members if b.id not in joined]
        return [(group.members[0], joined), *((b, (b.id,)) for b in rest)], False
    parts = [await _part(group, summary, embed, rule, work) for summary in found if summary.members]
    return parts + [(b, (b.id,)) for k, b in enumerate(group.members) if k not in used], True


async def _part(group: Group, summary: Summary, embed: Embed, rule: Rule, work: Work) -> Part:
    """One mechanism: its only wording, the summary, or the most central wording when the summary is of no use."""
    places = sorted(summary.members)
    ids = tuple(group.ids[k] for k in places)
    central = group.members[places[0]]
    if len(places) == 1:
        return central, ids
    try:
        bias = make_bias(summary.name, summary.definition, summary.manifestation, origin="discovered")
        [vector] = await embedded([bias], embed)
        if float((group.rows[places] @ vector).max()) > rule.low:
            return bias, ids
        problem = f"the summary {bias.name!r} strays from its group"
    except LibraryError as error:
        problem = f"the summary is no bias: {error}"
    work.fail(f"summary of {central.id}", CallFailed("malformed", problem, repr(summary)))
    return central, ids


async def compare(
    queue: Sequence[Bias],
    parted: Mapping[str, set[int]],
    known: Sequence[Bias],
    embed: Embed,
    same_as: SameAs,
    rule: Rule,
    work: Work,
) -> dict[str, Verdict]:
    """Each bias against the library and the larger ones before it, all biases at once: the nearest few, and as long
    as the teacher finds none the next few, `rule.pages` times at most and down to `rule.low`.

    What the teacher has parted (`parted`: the numbers of the groups that a bias came out of) is not compared again.
    """
    everyone = [*sorted({b.id: b for b in known}.values(), key=lambda b: b.id), *queue]
    by_id = {b.id: b for b in everyone}
    rows = await embedded(everyone, embed)
    first = len(everyone) - len(queue)
    vectors = {b.id: row for b, row in zip(everyone, rows, strict=True)}
    index = build(vectors)
    places = {b.id: k for k, b in enumerate(everyone)}

    async def one(place: int, bias: Bias) -> tuple[str, Verdict]:
        [hits] = index.nearest(vectors[bias.id], len(everyone))
        old = [hit for hit in hits if places[hit.id] < first]
        larger = [
            hit for hit in hits if first <= places[hit.id] < first + place and not parted[hit.id] & parted[bias.id]
        ][: rule.nearest_groups]
        near = sorted((*old[: rule.nearest], *larger), key=lambda hit: (-hit.similarity, hit.id))
        if not near or near[0].similarity <= rule.low:
            return bias.id, Verdict(bias.id, "threshold", near[0] if near else None)
        if near[0].similarity >= rule.high:
            return bias.id, Verdict(near[0].id, "threshold", near[0])
        later = [old[k : k + rule.nearest] for k in range(rule.nearest, rule.nearest * rule.pages, rule.nearest)]
        for page in (near, *later):
            shown = [by_id[hit.id] for hit in page if hit.similarity > rule.low]
            if not shown:
                break
            work.calls += 1
            try:
                answer = await same_as(bias, shown)
                if answer is not None and answer not in {b.id for b in shown}:
                    raise CallFailed(
                        "malformed", f"the teacher named {answer!r}, which was not among the choices", repr(answer)
                    )
            except CallFailed as error:
                work.fail(f"comparison of {bias.id}", error)
                return bias.id, Verdict(bias.id, "undecided", near[0])
            if answer is not None:
                return bias.id, Verdict(answer, "teacher", near[0])
        return bias.id, Verdict(bias.id, "teacher", near[0])

    return dict(await asyncio.gather(*(one(k, bias) for k, bias in enumerate(queue))))
