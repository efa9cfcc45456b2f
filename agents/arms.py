"""Make an arm of a pair and have it judged: what the loop, the audits and the builders have in common."""

from dataclasses import dataclass
from typing import Literal

from ..core.calls import Stage
from ..core.errors import CallFailed
from ..core.job import Job
from ..core.records import ORIGINAL, Bias, Judgment, Order, Perturbation, PreferencePair, bias_arm
from ..data.order import judged_orders
from ..validators.answers import answer_change
from .judges.protocol import Judge
from .outcomes import wrong, wrong_in_order
from .teacher import Teacher
from .verifier import Verifier

VerifyAnswers = Literal["exact", "model", "off"]


@dataclass(frozen=True)
class Bench(Job):
    """A job with the roles that make and judge arms."""

    judge: Judge
    teacher: Teacher
    verifier: Verifier
    verify_answers: VerifyAnswers
    """How a rewrite that has become right is noticed: exact extraction, with a model where that is silent, or not."""
    both_orders: bool
    """Judge every arm in both orders, else in the pair's drawn one."""

    def orders(self, pair: PreferencePair) -> tuple[Order, ...]:
        """The orders in which an arm of the pair is judged; one where the judge knows no position."""
        return judged_orders(pair.id, self.seed, self.both_orders and self.judge.has_position)


@dataclass(frozen=True)
class Outcome:
    """One arm of one pair, judged. `wrong` is 1, 0, a probability of the wrong answer, or NaN without a verdict."""

    pair: PreferencePair
    arm: str
    text: str
    wrong: float
    by_order: tuple[float, ...]
    judgments: tuple[Judgment, ...]
    perturbation: Perturbation | None

    @property
    def became_right(self) -> bool:
        """The rewrite is no rejected answer any more."""
        return self.perturbation is not None and self.perturbation.answer_change == "changed"


async def rewrite(bench: Bench, pair: PreferencePair, bias: Bias | None, *, stage: Stage) -> Perturbation:
    """The rejected answer in the bias's arm, or in the placebo arm for None, checked and stored."""
    if bias is None:
        made = await bench.teacher.placebo(pair, stage=stage)
    else:
        made = await bench.teacher.perturb(pair, bias, stage=stage)
    return await keep(bench, pair, made, stage=stage)


async def keep(bench: Bench, pair: PreferencePair, made: Perturbation, *, stage: Stage) -> Perturbation:
    """A rewrite, checked for a final answer that has become right, and stored."""
    made = made.model_copy(update={"answer_change": await _answer_change(bench, pair, made.text, stage)})
    await bench.store.write(made)
    return made


async def judged(
    job: Job,
    judge: Judge,
    pair: PreferencePair,
    arm: str,
    text: str,
    order: Order,
    *,
    stage: Stage,
    perturbation_id: str = "",
    draw: int = 0,
) -> Judgment:
    """One verdict on the pair with `text` as the rejected answer, stored. Raises CallFailed."""
    judgment = await judge.judge(
        pair,
        arm=arm,
        rejected_text=text,
        order=order,
        stage=stage,
        perturbation_id=perturbation_id,
        draw=draw,
    )
    await job.store.write(judgment)
    return judgment


async def judge_arm(
    bench: Bench,
    pair: PreferencePair,
    arm: str,
    text: str,
    *,
    stage: Stage,
    perturbation: Perturbation | None = None,
    draw: int = 0,
) -> Outcome:
    """The judge's verdict on the pair with `text` as the rejected answer, in the pair's order or in both."""
    perturbation_id = perturbation.id if perturbation else ""
    judgments = [
        await judged(
            bench, bench.judge, pair, arm, text, order, stage=stage, perturbation_id=perturbation_id, draw=draw
        )
        for order in bench.orders(pair)
    ]
    by_order = tuple(wrong_in_order(j) for j in judgments)
    return Outcome(pair, arm, text, wrong(judgments), by_order, tuple(judgments), perturbation)


async def original_arm(bench: Bench, pair: PreferencePair, *, stage: Stage, draw: int = 0) -> Outcome:
    """The pair as it is."""
    return await judge_arm(bench, pair, ORIGINAL, pair.rejected, stage=stage, draw=draw)


async def bias_outcome(bench: Bench, pair: PreferencePair, bias: Bias, *, stage: Stage) -> Outcome:
    """Rewrite with the bias and judge."""
    made = await rewrite(bench, pair, bias, stage=stage)
    return await judge_arm(bench, pair, bias_arm(bias.id), made.text, stage=stage, perturbation=made)


async def _answer_change(
    bench: Bench, pair: PreferencePair, text: str, stage: Stage
) -> Literal["same", "changed", "unknown"]:
    """same: still wrong; changed: the rewrite has become right (METHOD section 3, controls)."""
    mode = bench.verify_answers
    if mode == "off":
        return "unknown"
    exact = answer_change(pair.rejected, pair.chosen, text)
    if exact != "unknown" or mode == "exact":
        return exact
    try:
        found = await bench.verifier.same_answer(pair.prompt, pair.chosen, text, stage=stage)
    except CallFailed:
        return "unknown"
    if found == "unsure":
        return "unknown"
    return "changed" if found == "same" else "same"
