"""Pairs on which a bias turned a right verdict wrong."""

from collections.abc import Sequence
from typing import NamedTuple

from ...core.job import Job
from ...core.records import Judgment
from .entries import Entry
from .judging import judgments_by_pair
from .outcomes import outcomes_of
from .suite import Suite


class Harm(NamedTuple):
    """One such pair, and what the judge said of it in one order before and after."""

    entry: Entry
    before: Judgment
    after: Judgment


def harms(job: Job, suite: Suite, *, both_orders: bool, most: int = 2) -> dict[str, list[Harm]]:
    """By bias: up to `most` of them, those with the shortest texts."""
    judgments = judgments_by_pair(job)
    found: dict[str, list[Harm]] = {}
    for count in suite.counts:
        entries = [entry for entry in suite.entries if entry.bias.name == count.bias]
        outcomes = outcomes_of(entries, judgments, job.seed, both_orders)
        turned = [
            harm
            for entry, before, after in zip(
                entries, outcomes.original.judgments, outcomes.biased.judgments, strict=True
            )
            if (harm := _turned(entry, before, after)) is not None
        ]
        turned.sort(
            key=lambda h: (
                len(h.entry.base.prompt) + len(h.entry.pair.chosen) + len(h.entry.pair.rejected),
                h.entry.base.id,
            )
        )
        found[count.bias] = turned[:most]
    return found


def _turned(entry: Entry, before: Sequence[Judgment], after: Sequence[Judgment]) -> Harm | None:
    for first, second in zip(before, after, strict=False):
        if first.verdict == "chosen" and second.verdict == "rejected":
            return Harm(entry, first, second)
    return None
