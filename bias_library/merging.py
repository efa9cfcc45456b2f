"""Candidates of one iteration become few biases: grouped by meaning, summarised once, compared with the nearest few.

One call per group and at most `Rule.pages` per bias that comes out of it, whatever the number of candidates and the
size of the library (METHOD: merging and de-duplication). Every step is ordered by content, so the outcome does not
depend on the order of the candidates.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.errors import CallFailed, LibraryError
from ..core.ids import content_id
from ..core.records import Bias, Candidate, Failure, LibraryEvent, MergeDecision
from . import events as line
from .asking import Embed, Rule, SameAs, Summarise, Summary, Verdict, Work, compare, embedded, summaries
from .bias import make_bias
from .events import Stamp, Support
from .grouping import group_wordings
from .index import Hit

__all__ = ["Embed", "Merged", "Outcome", "Rule", "SameAs", "Summarise", "Summary", "merge_candidates"]


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
    novel, decided by `undecided`. Calls: at most one per group and `rule.pages` per outcome. Events start at `stamp`;
    every outcome enters the library, and one that is not novel is merged there, so that this can be undone.
    """
    rule = rule or Rule()
    work = Work(stamp.run_id)
    wordings = _wordings(candidates, work)
    by_id = {bias.id: bias for bias in known}
    exact = sorted(set(wordings) & set(by_id))
    fresh = {i: w for i, w in wordings.items() if i not in by_id}

    groups = group_wordings(
        {i: bias for i, (bias, _) in fresh.items()},
        {i: len(found) for i, (_, found) in fresh.items()},
        dict(zip(fresh, await embedded([bias for bias, _ in fresh.values()], embed), strict=True)),
        rule.group,
        rule.group_size,
    )
    sorted_out = await asyncio.gather(*(summaries(group, summarise, embed, rule, work) for group in groups))
    # Groups whose summaries came out the same to the letter are one.
    pooled: dict[str, tuple[Bias, list[Candidate]]] = {}
    parted: dict[str, set[int]] = defaultdict(set)
    for number, bias, members in ((k, *part) for k, (parts, _) in enumerate(sorted_out) for part in parts):
        found = [c for i in members for c in fresh[i][1]]
        if bias.id in by_id:
            exact.append(bias.id)
            wordings[bias.id] = (by_id[bias.id], wordings.get(bias.id, (bias, []))[1] + found)
        else:
            pooled.setdefault(bias.id, (bias, []))[1].extend(found)
            parted[bias.id] |= {number} if sorted_out[number][1] else set()
    queue = sorted(pooled.values(), key=lambda item: (-len(item[1]), item[0].id))
    verdicts = await compare([bias for bias, _ in queue], parted, known, embed, same_as, rule, work)

    outcomes = [
        _outcome(by_id[i], wordings[i][1], Verdict(i, "exact", Hit(i, 1.0)), stamp) for i in dict.fromkeys(exact)
    ]
    outcomes += [_outcome(bias, found, verdicts[bias.id], stamp) for bias, found in queue]
    failures = sorted(work.failures, key=lambda f: f.id)
    return Merged(tuple(outcomes), _events(outcomes, stamp), tuple(failures), work.calls)


def _wordings(candidates: Sequence[Candidate], work: Work) -> dict[str, tuple[Bias, list[Candidate]]]:
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


def _outcome(bias: Bias, found: Sequence[Candidate], verdict: Verdict, stamp: Stamp) -> Outcome:
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
