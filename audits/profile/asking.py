"""The questions of a profile: every pair in both orders, some of them again. Each verdict is stored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...agents.arms import judged
from ...agents.judges.protocol import Judge
from ...core.job import Job
from ...core.records import ORIGINAL, Failure, Judgment, Order, PreferencePair
from ...data.order import draw_order, judged_orders
from ...validators.split import stratified_order

STAGE = "profile"


class Question(NamedTuple):
    """One judgment that is asked for."""

    pair: PreferencePair
    order: Order
    draw: int
    """1 for the second time."""

    @property
    def key(self) -> str:
        """What its failure is filed under."""
        return f"{self.pair.id} {self.order} {self.draw}"


@dataclass
class Answers:
    """What the judge said, by pair and order; a question that failed is not there."""

    pairs: Sequence[PreferencePair]
    seed: int
    both: bool
    """Whether every pair was asked in both orders."""
    first: dict[tuple[str, Order], Judgment] = field(default_factory=dict)
    again: dict[str, Judgment] = field(default_factory=dict)
    """By pair, in its drawn order."""
    asked_again: frozenset[str] = frozenset()
    failures: dict[tuple[str, Order], Failure] = field(default_factory=dict)
    """Of the first time."""

    def orders(self, pair: PreferencePair) -> tuple[Order, ...]:
        """The orders that a pair was asked in."""
        return judged_orders(pair.id, self.seed, self.both)

    def drawn(self, pair: PreferencePair) -> Judgment | None:
        """The judgment in the pair's drawn order."""
        return self.first.get((pair.id, draw_order(pair.id, self.seed)))


async def ask(job: Job, judge: Judge, pairs: Sequence[PreferencePair], *, retest: int) -> Answers:
    """Ask the judge; `retest`: so many pairs once more, in proportion to the domains. Failures become rows."""
    some = stratified_order({pair.id: pair.domain for pair in pairs}, job.seed)[:retest]
    answers = Answers(pairs, job.seed, judge.has_position, asked_again=frozenset(some))
    questions = list(_questions(answers))

    async def work(question: Question) -> Judgment:
        pair = question.pair
        made = await judged(
            job, judge, pair, ORIGINAL, pair.rejected, question.order, stage="audit", draw=question.draw
        )
        return made.model_copy(update={"reasoning": ""})

    found = await job.run_all(STAGE, questions, work, lambda question: question.key)
    failures = {f.subject: f for f in job.store.select(Failure, run_id=job.run_id, stage=STAGE)}
    for question, judgment in zip(questions, found, strict=True):
        place = (question.pair.id, question.order)
        if judgment is not None and question.draw:
            answers.again[question.pair.id] = judgment
        elif judgment is not None:
            answers.first[place] = judgment
        elif not question.draw:
            answers.failures[place] = failures[question.key]
    return answers


def _questions(answers: Answers) -> Iterator[Question]:
    """Pair by pair: requests that share their beginning run together and meet a warm prefix cache."""
    for pair in answers.pairs:
        yield from (Question(pair, order, 0) for order in answers.orders(pair))
        if pair.id in answers.asked_again:
            yield Question(pair, draw_order(pair.id, answers.seed), 1)
