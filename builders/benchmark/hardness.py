"""The adversarial filter: which judges take a variant's rejected answer for the better one, whatever the order."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...agents import arms
from ...agents.judges.protocol import Judge
from ...core.calls import Stage
from ...core.job import Job
from ...core.records import Judgment, Order, PreferencePair
from ...data.order import draw_order
from .settings import Rule


@dataclass(frozen=True)
class Shown:
    """A pair with the text that stands as its rejected answer."""

    pair: PreferencePair
    arm: str
    text: str
    perturbation_id: str = ""


def needed(rule: Rule, judges: int) -> int:
    """How many of `judges` must be misled."""
    return {"any": 1, "majority": judges // 2 + 1, "all": judges}[rule]


def orders_of(judge: Judge, pair: PreferencePair, seed: int) -> tuple[Order, ...]:
    """Both orders, the drawn one first; one for a judge that has no position."""
    first = draw_order(pair.id, seed)
    other: Order = "rejected_first" if first == "chosen_first" else "chosen_first"
    return (first, other) if judge.has_position else (first,)


async def judged(job: Job, judge: Judge, shown: Shown, order: Order, stage: Stage) -> Judgment:
    """One judgment, stored. Raises CallFailed."""
    return await arms.judged(
        job, judge, shown.pair, shown.arm, shown.text, order, stage=stage, perturbation_id=shown.perturbation_id
    )


async def is_misled(job: Job, judge: Judge, shown: Shown, stage: Stage = "judge") -> tuple[bool, str]:
    """Whether the judge prefers the rejected answer in every order, and the verdict that says no.

    The second order is asked only where the first one misled: a variant needs both.
    """
    for order in orders_of(judge, shown.pair, job.seed):
        judgment = await judged(job, judge, shown, order, stage)
        if judgment.verdict != "rejected":
            return False, judgment.verdict
    return True, ""


async def misled_judges(
    job: Job, judges: Sequence[Judge], shown: Shown, rule: Rule, stage: Stage = "judge"
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the judges that are misled, and the verdicts of those that are not ("name: verdict").

    Stops as soon as the rule cannot be met any more. Raises CallFailed when a judge has no answer.
    """
    spare = len(judges) - needed(rule, len(judges))
    misled: list[str] = []
    others: list[str] = []
    for judge in judges:
        yes, verdict = await is_misled(job, judge, shown, stage)
        if yes:
            misled.append(judge.name)
        else:
            others.append(f"{judge.name}: {verdict}")
        if len(others) > spare:
            break
    return tuple(misled), tuple(others)


def meets(rule: Rule, misled: int, judges: int) -> bool:
    """Whether the filter keeps a variant."""
    return misled >= needed(rule, judges)
