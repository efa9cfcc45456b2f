"""Have the panel grade, the judge choose, and the panel's members choose too."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...agents.judges.protocol import Judge
from ...agents.panel import Grades, grade
from ...core.calls import Model
from ...core.ids import content_id
from ...core.job import Job
from ...core.records import Judgment, Order, PreferencePair
from .authors import same_author
from .contests import Contest
from .said import BASELINE, LABEL_OTHER, LABEL_OWN, PANEL, PLAIN, STRUCTURED, equal_contests, read
from .settings import SelfPreferenceSettings

YOURS, THEIRS = "You wrote this answer yourself.", "Someone else wrote this answer."
"""Labels of the same length, put before the answers; on the other's answer `yours` is made up."""


@dataclass(frozen=True)
class Member:
    """One of the panel: as an author it may have answered, as a model it grades, as a judge it chooses."""

    author: str
    model: Model
    judge: Judge


@dataclass(frozen=True)
class Roles:
    """Who is asked."""

    judge: Judge
    structured: Judge | None
    """The judge by aspects; None where that is not asked for or it is no pairwise LLM."""
    panel: tuple[Member, ...]


async def ask(job: Job, roles: Roles, contests: Sequence[Contest], settings: SelfPreferenceSettings) -> None:
    """Store everything that is said; failures become rows. Which pairs are equal is known once the panel has spoken."""
    await _grade(job, roles.panel, contests)
    await _choose(job, PLAIN, [(roles.judge, c.pair) for c in contests])
    equal = equal_contests(read(job, contests), settings.delta)
    compared = {"equal": equal, "all": list(contests), "off": []}[settings.baseline]
    await _choose(job, BASELINE, [(m.judge, c.pair) for c in compared for m in roles.panel if eligible(m.author, c)])
    own = [c for c in equal if c.role == "own"]
    if roles.structured is not None:
        await _choose(job, STRUCTURED, [(roles.structured, c.pair) for c in own])
    if settings.labels:
        for arm, mine, theirs in ((LABEL_OWN, YOURS, THEIRS), (LABEL_OTHER, THEIRS, YOURS)):
            await _choose(job, arm, [(roles.judge, labelled(c.pair, mine, theirs)) for c in own])


def eligible(author: str, contest: Contest) -> bool:
    """Whether a member may speak about a pair: it wrote neither answer."""
    return not same_author(author, contest.own) and not same_author(author, contest.other)


def labelled(pair: PreferencePair, own: str, other: str) -> PreferencePair:
    """The pair with a line about its author before each answer; the same id."""
    return pair.model_copy(update={"chosen": f"{own}\n\n{pair.chosen}", "rejected": f"{other}\n\n{pair.rejected}"})


async def _grade(job: Job, panel: Sequence[Member], contests: Sequence[Contest]) -> None:
    """Each answer once by each member; then a row for each pair and member that graded both."""
    tasks = {
        (member.author, text_id): (member, contest.pair.prompt, text)
        for contest in contests
        for member in panel
        if eligible(member.author, contest)
        for text_id, text in _texts(contest)
    }

    async def work(key: tuple[str, str]) -> Grades:
        member, question, text = tasks[key]
        return (await grade(member.model, question, text))[0]

    keys = list(tasks)
    found = dict(zip(keys, await job.run_all(PANEL, keys, work, " ".join), strict=True))
    rows = []
    for contest in contests:
        (own_id, _), (other_id, _) = _texts(contest)
        for member in panel:
            own, other = found.get((member.author, own_id)), found.get((member.author, other_id))
            if eligible(member.author, contest) and own is not None and other is not None:
                rows.append(_graded(job, member, contest, own, other))
    await job.store.write(*rows)


def _texts(contest: Contest) -> tuple[tuple[str, str], tuple[str, str]]:
    pair = contest.pair
    return (
        (content_id("answer", pair.prompt, pair.chosen), pair.chosen),
        (content_id("answer", pair.prompt, pair.rejected), pair.rejected),
    )


def _graded(job: Job, member: Member, contest: Contest, own: Grades, other: Grades) -> Judgment:
    return Judgment(
        id=content_id("graded", job.run_id, member.author, contest.pair.id),
        run_id=job.run_id,
        pair_id=contest.pair.id,
        arm=PANEL,
        order="chosen_first",
        verdict="tie" if own.mean == other.mean else "chosen" if own.mean > other.mean else "rejected",
        judge=member.author,
        score_chosen=own.mean,
        score_rejected=other.mean,
        reasoning=f"own: {own.model_dump_json()}; other: {other.model_dump_json()}",
    )


async def _choose(job: Job, arm: str, tasks: Iterable[tuple[Judge, PreferencePair]]) -> None:
    every: list[tuple[Judge, PreferencePair, Order]] = []
    for judge, pair in tasks:
        orders: tuple[Order, ...] = ("chosen_first", "rejected_first") if judge.has_position else ("chosen_first",)
        every += [(judge, pair, order) for order in orders]

    async def work(task: tuple[Judge, PreferencePair, Order]) -> None:
        judge, pair, order = task
        made = await judge.judge(pair, arm=arm, rejected_text=pair.rejected, order=order, stage="audit")
        await job.store.write(made)

    await job.run_all(arm, every, work, lambda task: f"{task[0].name} {task[1].id} {task[2]}")
