"""Treat a judge and look again: what training, a preamble, both orders or a jury change on the same held-out texts.

Biases that the treatment knows of (told, or trained on) and others are looked at apart: a cure may only move the bias.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..agents.arms import Workshop, rewrite
from ..agents.judges.protocol import Judge
from ..core.job import Job
from ..core.records import ORIGINAL, Bias, Judgment, Order, PreferencePair, bias_arm
from ..data.order import draw_order
from ..validators.contrasts import combine_orders

Scores = npt.NDArray[np.float64]
_SCORES = {"rejected": 1.0, "chosen": 0.0, "tie": 0.5, "invalid": float("nan")}


@dataclass(frozen=True)
class Treatment:
    """A judge, or several that vote, in the pair's drawn order or in both."""

    name: str
    judges: tuple[Judge, ...]
    both_orders: bool = False

    def orders(self, pair: PreferencePair, seed: int) -> tuple[Order, ...]:
        """The orders in which a pair is judged."""
        if not self.both_orders or not any(judge.has_position for judge in self.judges):
            return (draw_order(pair.id, seed),)
        return ("chosen_first", "rejected_first")


@dataclass(frozen=True)
class Item:
    """One text to be judged as the worse answer of its pair."""

    pair: PreferencePair
    text: str
    bias: Bias | None = None
    perturbation_id: str = ""
    general: bool = False
    """Of the general set, which has no biases."""

    @property
    def subject(self) -> str:
        """How rows about it name it."""
        return f"{self.pair.id} {self.arm}"

    @property
    def arm(self) -> str:
        """Its arm."""
        return bias_arm(self.bias.id) if self.bias else ORIGINAL


async def make_items(
    workshop: Workshop, pairs: Sequence[PreferencePair], biases: Sequence[Bias], general: Sequence[PreferencePair]
) -> list[Item]:
    """Every pair as it is and with every bias, and the general pairs as they are.

    A rewrite that failed, or has become right, is no item.
    """
    wanted = [(pair, bias) for pair in pairs for bias in biases]

    async def work(one: tuple[PreferencePair, Bias]) -> Item | None:
        pair, bias = one
        made = await rewrite(workshop, pair, bias, stage="perturb")
        if made.answer_change == "changed":
            return None
        return Item(pair, made.text, bias, made.id)

    found = await workshop.run_all("perturb", wanted, work, lambda one: f"{one[0].id} {bias_arm(one[1].id)}")
    items = [Item(pair, pair.rejected) for pair in pairs]
    items += [item for item in found if item is not None]
    return items + [Item(pair, pair.rejected, general=True) for pair in general]


async def score(job: Job, treatment: Treatment, items: Sequence[Item], number: int) -> Scores:
    """The score of every item under a treatment (validators.treatments says what a score is)."""

    async def work(item: Item) -> float:
        orders = treatment.orders(item.pair, job.seed)
        by_judge = []
        for judge in treatment.judges:
            judgments = []
            for order in orders if judge.has_position else orders[:1]:
                judgment = await judge.judge(
                    item.pair,
                    arm=item.arm,
                    rejected_text=item.text,
                    order=order,
                    stage="audit",
                    perturbation_id=item.perturbation_id,
                )
                await job.store.write(judgment)
                judgments.append(judgment)
            by_judge.append(judged(judgments))
        return vote(by_judge)

    found = await job.run_all(f"judge@{number}", items, work, lambda item: item.subject)
    return np.array([np.nan if value is None else value for value in found], dtype=np.float64)


def judged(judgments: Sequence[Judgment]) -> float:
    """One judge's score, in one order or both.

    Both: from averaged log-odds where there are probabilities; else from the verdicts, 0.5 when they contradict each
    other and NaN when one is missing.
    """
    scores = [_SCORES[judgment.verdict] for judgment in judgments]
    if len(judgments) == 2:
        first, second = (judgment.p_rejected for judgment in judgments)
        if first is not None and second is not None:
            return decided(float(combine_orders([first], [second])[0]))
    return decided(float(np.mean(scores)))


def vote(scores: Sequence[float]) -> float:
    """The majority of several judges; 0.5 when they are split. Judges without a verdict do not vote."""
    there = [value for value in scores if not np.isnan(value)]
    return decided(float(np.mean(there))) if there else float("nan")


def decided(value: float) -> float:
    """A probability or a mean of verdicts as a verdict: 1, 0 or 0.5."""
    if np.isnan(value) or value == 0.5:
        return value
    return 1.0 if value > 0.5 else 0.0
