"""Candidates of one iteration become few biases: grouped by meaning, summarised once, compared with the nearest few.

At most two calls per group, whatever the number of candidates and the size of the library (METHOD: merging and
de-duplication). Every step is ordered by content, so the outcome does not depend on the order of the candidates.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ..core.errors import CallFailed, LibraryError
from ..core.ids import content_id
from ..core.records import Bias, Candidate, Failure, LibraryEvent, MergeDecision
from . import events as line
from .bias import bias_text, make_bias
from .events import Stamp, Support
from .grouping import Group, group_wordings
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
    nearest_groups: int = 3
    """How many larger groups of this iteration it sees beside them."""


@dataclass(frozen=True)
class Outcome:
    """What became of one group."""

    bias: Bias
    into: str
    """The bias that stands for it now: its own id when novel."""
    novel: bool
    support: Support
    decision: MergeDecision


@dataclass(frozen=True)
class Merged:
    """Outcomes by size, the lines for the library, failed calls as rows to store, and how many calls were made."""

    outcomes: tuple[Outcome, ...]
    events: tuple[LibraryEvent, ...]
    failures: tuple[Failure, ...]
    calls: int

    @property
    def novel(self) -> list[Bias]:
        """The new biases, most supported first."""
        return [o.bias for o in self.outcomes if o.novel]

    @property
    def decisions(self) -> list[MergeDecision]:
        """One per group."""
        return [o.decision for o in self.outcomes]


@dataclass(frozen=True)
class _Verdict:
    into: str
    decided_by: DecidedBy
    nearest: Hit | None


@dataclass
class _Work:
    """Calls and failures of one merge."""

    run_id: str
    calls: int = 0
    failures: list[Failure] = field(default_factory=list)

    def fail(self, subject: str, error: CallFailed) -> None:
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


async def merge_candidates(
    candidates: Sequence[Candidate],
    known: Sequence[Bias],
    stamp: Stamp,
    *,
    embed: Embed,
    summarise: Summarise,
    same_as: SameAs,
    rule: Rule | None = None,
) -> Merged:
    """Merge candidates with each other and against `known` (every bias that must not come up as new again).

    A candidate worded like a known bias to the letter joins it without any call. When a group's summary fails, only
    wordings at or above `high` to the central one are joined, under that wording; a failed comparison leaves a bias
    novel, decided by `undecided`. Calls: at most two per outcome. Events start at `stamp`; every outcome enters the
    library, and one that is not novel is merged there, so that this can be undone.
    """
    rule = rule or Rule()
    work = _Work(stamp.run_id)
    wordings = _wordings(candidates, work)
    by_id = {bias.id: bias for bias in known}
    exact = sorted(set(wordings) & set(by_id))
    fresh = {i: w for i, w in wordings.items() if i not in by_id}

    groups = group_wordings(
        {i: bias for i, (bias, _) in fresh.items()},
        {i: len(found) for i, (_, found) in fresh.items()},
        dict(zip(fresh, await _embedded([bias for bias, _ in fresh.values()], embed), strict=True)),
        rule.group,
        rule.group_size,
    )
    sorted_out = await asyncio.gather(*(_summaries(group, summarise, embed, rule, work) for group in groups))
    # Groups whose summaries came out the same to the letter are one.
    pooled: dict[str, tuple[Bias, list[Candidate]]] = {}
    for bias, members in (part for parts in sorted_out for part in parts):
        found = [c for i in members for c in fresh[i][1]]
        if bias.id in by_id:
            exact.append(bias.id)
            wordings[bias.id] = (by_id[bias.id], wordings.get(bias.id, (bias, []))[1] + found)
        else:
            pooled.setdefault(bias.id, (bias, []))[1].extend(found)
    queue = sorted(pooled.values(), key=lambda item: (-len(item[1]), item[0].id))
    verdicts = await _compare([bias for bias, _ in queue], known, embed, same_as, rule, work)

    outcomes = [
        _outcome(by_id[i], wordings[i][1], _Verdict(i, "exact", Hit(i, 1.0)), stamp) for i in dict.fromkeys(exact)
    ]
    outcomes += [_outcome(bias, found, verdicts[bias.id], stamp) for bias, found in queue]
    failures = sorted(work.failures, key=lambda f: f.id)
    return Merged(tuple(outcomes), _events(outcomes, stamp), tuple(failures), work.calls)


def _wordings(candidates: Sequence[Candidate], work: _Work) -> dict[str, tuple[Bias, list[Candidate]]]:
    found: dict[str, list[Candidate]] = defaultdict(list)
    biases: dict[str, Bias] = {}
    for candidate in sorted({c.id: c for c in candidates}.values(), key=lambda c: c.id):
        try:
            bias = make_bias(candidate.name, candidate.definition, candidate.manifestation, origin="discovered")
        except LibraryError as error:
            work.fail(candidate.id, CallFailed("malformed", str(error), candidate.name, candidate.request_id))
            continue
        biases.setdefault(bias.id, bias)
        found[bias.id].append(candidate)
    return {i: (biases[i], found[i]) for i in sorted(found)}


async def _embedded(biases: Sequence[Bias], embed: Embed) -> npt.NDArray[np.float32]:
    if not biases:
        return np.zeros((0, 1), dtype=np.float32)
    return normalise(await embed([bias_text(b.name, b.definition) for b in biases]))


_Part = tuple[Bias, tuple[str, ...]]


async def _summaries(group: Group, summarise: Summarise, embed: Embed, rule: Rule, work: _Work) -> list[_Part]:
    """The mechanisms of a group, each with the ids of its wordings."""
    if len(group.members) == 1:
        return [(group.members[0], group.ids)]
    work.calls += 1
    try:
        summaries = await summarise(group.members)
        used = [place for summary in summaries for place in summary.members]
        if len(used) != len(set(used)) or not set(used) <= set(range(len(group.members))):
            raise CallFailed("malformed", "the summary names a wording twice or one that is not there", repr(summaries))
    except CallFailed as error:
        work.fail(f"summary of {group.members[0].id}", error)
        near = group.rows @ group.rows[0] >= rule.high
        joined = tuple(i for i, is_near in zip(group.ids, near, strict=True) if is_near)
        rest = [b for b in group.members if b.id not in joined]
        return [(group.members[0], joined), *((b, (b.id,)) for b in rest)]
    parts = [await _part(group, summary, embed, rule, work) for summary in summaries if summary.members]
    return parts + [(b, (b.id,)) for k, b in enumerate(group.members) if k not in used]


async def _part(group: Group, summary: Summary, embed: Embed, rule: Rule, work: _Work) -> _Part:
    """One mechanism: its only wording, the summary, or the most central wording when the summary is of no use."""
    places = sorted(summary.members)
    ids = tuple(group.ids[k] for k in places)
    central = group.members[places[0]]
    if len(places) == 1:
        return central, ids
    try:
        bias = make_bias(summary.name, summary.definition, summary.manifestation, origin="discovered")
        [vector] = await _embedded([bias], embed)
        if float((group.rows[places] @ vector).max()) > rule.low:
            return bias, ids
        problem = f"the summary {bias.name!r} strays from its group"
    except LibraryError as error:
        problem = f"the summary is no bias: {error}"
    work.fail(f"summary of {central.id}", CallFailed("malformed", problem, repr(summary)))
    return central, ids


async def _compare(
    queue: Sequence[Bias], known: Sequence[Bias], embed: Embed, same_as: SameAs, rule: Rule, work: _Work
) -> dict[str, _Verdict]:
    """Each group against the library and the larger groups before it: all questions at once, each at most once."""
    everyone = [*sorted({b.id: b for b in known}.values(), key=lambda b: b.id), *queue]
    by_id = {b.id: b for b in everyone}
    rows = await _embedded(everyone, embed)
    first = len(everyone) - len(queue)
    vectors = {b.id: row for b, row in zip(everyone, rows, strict=True)}
    index = build(vectors)
    places = {b.id: k for k, b in enumerate(everyone)}

    async def one(place: int, bias: Bias) -> tuple[str, _Verdict]:
        [hits] = index.nearest(vectors[bias.id], len(everyone))
        old = [hit for hit in hits if places[hit.id] < first][: rule.nearest]
        larger = [hit for hit in hits if first <= places[hit.id] < first + place][: rule.nearest_groups]
        near = sorted((*old, *larger), key=lambda hit: (-hit.similarity, hit.id))
        if not near or near[0].similarity <= rule.low:
            return bias.id, _Verdict(bias.id, "threshold", near[0] if near else None)
        if near[0].similarity >= rule.high:
            return bias.id, _Verdict(near[0].id, "threshold", near[0])
        shown = [by_id[hit.id] for hit in near if hit.similarity > rule.low]
        work.calls += 1
        try:
            answer = await same_as(bias, shown)
            if answer is not None and answer not in {b.id for b in shown}:
                raise CallFailed("malformed", f"the teacher named {answer!r}, which was not among the choices", answer)
        except CallFailed as error:
            work.fail(f"comparison of {bias.id}", error)
            return bias.id, _Verdict(bias.id, "undecided", near[0])
        return bias.id, _Verdict(answer or bias.id, "teacher", near[0])

    return dict(await asyncio.gather(*(one(k, bias) for k, bias in enumerate(queue))))


def _outcome(bias: Bias, found: Sequence[Candidate], verdict: _Verdict, stamp: Stamp) -> Outcome:
    support = Support.of((c.id for c in found), (c.pair_id for c in found), (c.source_bias for c in found))
    novel = verdict.into == bias.id and verdict.decided_by != "exact"
    if verdict.decided_by != "exact":
        bias = bias.model_copy(update={"parents": support.sources})
    iteration = 0 if stamp.iteration is None else stamp.iteration
    decision = MergeDecision(
        id=content_id("merge", stamp.run_id, iteration, list(support.candidates), verdict.into),
        run_id=stamp.run_id,
        iteration=iteration,
        candidate_ids=support.candidates,
        into=verdict.into,
        novel=novel,
        nearest=verdict.nearest.id if verdict.nearest else "",
        similarity=round(verdict.nearest.similarity, 4) if verdict.nearest else None,
        decided_by=verdict.decided_by,
    )
    return Outcome(bias, verdict.into, novel, support, decision)


def _events(outcomes: Sequence[Outcome], stamp: Stamp) -> tuple[LibraryEvent, ...]:
    written: list[LibraryEvent] = []
    for outcome in outcomes:
        if outcome.decision.decided_by == "exact":
            written.append(line.evidence(stamp, outcome.bias.id, outcome.support))
            stamp = stamp.next()
            continue
        written.append(line.add(stamp, outcome.bias, "candidate", outcome.support))
        stamp = stamp.next()
        if not outcome.novel:
            how = (outcome.decision.similarity, outcome.support.candidates, outcome.decision.decided_by)
            written.append(line.merge(stamp, outcome.bias.id, outcome.into, *how))
            stamp = stamp.next()
    return tuple(written)
