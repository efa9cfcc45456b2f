"""Judges on a finished benchmark and on the pairs that it was made from, in both orders."""

from collections.abc import Sequence
from typing import NamedTuple

from ...agents.judges.protocol import Judge
from ...core.job import Job
from ...core.records import ORIGINAL, Order, PreferencePair, Verdict, bias_arm
from ...data.benchmark import BenchmarkRow
from .hardness import Shown, judged, orders_of

ITEMS, SOURCE = "items", "source pairs"


class _Question(NamedTuple):
    judge: Judge
    shown: Shown
    order: Order

    @property
    def subject(self) -> str:
        return f"{self.judge.name} {self.shown.pair.id} {self.shown.arm} {self.order}"


Given = dict[tuple[str, str], tuple[Verdict | None, ...]]
"""(judge, item or source pair) to its verdicts in each order; None where the judge gave no answer."""


async def judge_rows(job: Job, judges: Sequence[Judge], rows: Sequence[BenchmarkRow]) -> tuple[Given, Given]:
    """Verdicts on every item by `pair_id`, and on every source pair by `source_pair_id`."""
    pairs = {row.source_pair_id: source_pair(row) for row in rows}
    sources = [(pair.id, Shown(pair, ORIGINAL, pair.rejected)) for pair in pairs.values()]
    items = [
        (row.pair_id, Shown(pairs[row.source_pair_id], bias_arm(row.bias_id), row.rejected, row.perturbation_id))
        for row in rows
    ]
    before = await _verdicts(job, SOURCE, judges, sources)
    return await _verdicts(job, ITEMS, judges, items), before


def source_pair(row: BenchmarkRow) -> PreferencePair:
    """The pair that an item was made from."""
    return PreferencePair(
        id=row.source_pair_id,
        prompt=row.question,
        chosen=row.chosen,
        rejected=row.source_rejected,
        domain=row.domain,
        source=row.source_dataset,
        source_id=row.original_id,
    )


async def _verdicts(job: Job, stage: str, judges: Sequence[Judge], shown: Sequence[tuple[str, Shown]]) -> Given:
    keys: list[tuple[str, str]] = []
    questions: list[_Question] = []
    for judge in judges:
        for key, one in shown:
            for order in orders_of(judge, one.pair, job.seed):
                keys.append((judge.name, key))
                questions.append(_Question(judge, one, order))

    async def work(question: _Question) -> Verdict:
        judgment = await judged(job, question.judge, question.shown, question.order, "judge")
        return judgment.verdict

    found = await job.run_all(stage, questions, work, lambda q: q.subject)
    given: Given = {}
    for place, verdict in zip(keys, found, strict=True):
        given[place] = (*given.get(place, ()), verdict)
    return given
