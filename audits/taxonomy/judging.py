"""Ask the judge: the originals once, every injected pair, every control."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...agents.arms import judged
from ...agents.judges.protocol import Judge
from ...core.job import Job
from ...core.records import ORIGINAL, Judgment, Order, PreferencePair
from ...data.order import judged_orders
from .suite import Suite

STAGE = "audit"


@dataclass(frozen=True)
class _Task:
    pair: PreferencePair
    arm: str
    order: Order

    @property
    def key(self) -> str:
        """What makes two tasks the same question."""
        return f"{self.pair.id} {self.arm} {self.order}"


async def judge_suite(job: Job, judge: Judge, suite: Suite, *, both_orders: bool) -> None:
    """Store a judgment for every pair, arm and order of the suite; failures become rows."""

    async def work(task: _Task) -> None:
        await judged(job, judge, task.pair, task.arm, task.pair.rejected, task.order, stage="audit")

    tasks = list({task.key: task for task in _tasks(job, suite, both_orders and judge.has_position)}.values())
    await job.run_all(STAGE, tasks, work, lambda task: task.key)


def _tasks(job: Job, suite: Suite, both: bool) -> Iterator[_Task]:
    for entry in suite.entries:
        usual = judged_orders(entry.base.id, job.seed, both)
        for order in (entry.reference,) if entry.reference else usual:
            yield _Task(entry.base, ORIGINAL, order)
        for order in (entry.order,) if entry.order else usual:
            yield _Task(entry.pair, entry.arm, order)
            if entry.control:
                yield _Task(entry.control, entry.control_arm, order)


def judgments_by_pair(job: Job) -> dict[tuple[str, str], dict[Order, Judgment]]:
    """What the judge said, by pair and arm."""
    found: dict[tuple[str, str], dict[Order, Judgment]] = {}
    for judgment in job.store.iterate(Judgment, run_id=job.run_id):
        found.setdefault((judgment.pair_id, judgment.arm), {})[judgment.order] = judgment
    return found
