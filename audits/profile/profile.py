"""The whole profile."""

from collections.abc import Iterator, Sequence

from ...agents.judges.protocol import Judge
from ...core.job import Job
from ...core.records import PreferencePair
from .asking import Answers, ask
from .measure import (
    accuracy,
    confidence,
    domains,
    failed_share,
    failure_kinds,
    orders,
    people,
    retest,
    right,
    spending,
    verdict_share,
)
from .people import Labels
from .result import Profile


async def profile(
    job: Job,
    judge: Judge,
    pairs: Sequence[PreferencePair],
    *,
    again: int,
    labels: Labels | None,
    data: str,
    data_hash: str,
) -> Profile:
    """Ask the judge and measure; `again`: pairs that are asked twice. Every judgment is stored, failures are rows."""
    answers = await ask(job, judge, pairs, retest=again)
    calls = [call for _, stage, call in job.store.calls(job.run_id) if stage == "audit"]
    judgments = sum(len(answers.orders(pair)) for pair in pairs)
    return Profile(
        run_id=job.run_id,
        judge=judge.name,
        served_by=tuple(sorted({call.served_by for call in calls} - {""})),
        data=data,
        data_hash=data_hash,
        seed=job.seed,
        pairs=len(pairs),
        judgments=judgments,
        has_position=judge.has_position,
        accuracy=accuracy(answers, pairs),
        right=right(answers),
        domains=domains(answers),
        orders=orders(answers),
        ties=verdict_share(answers, "tie"),
        invalid=verdict_share(answers, "invalid"),
        failed=failed_share(answers),
        truncated=failed_share(answers, "truncated"),
        failures=failure_kinds(answers),
        retest=retest(answers),
        people=None if labels is None else people(answers, labels),
        confidence=(found := confidence(answers)),
        spending=spending(calls, judgments + len(answers.asked_again)),
        notes=tuple(_notes(judge, answers, labels, found is not None)),
    )


def _notes(judge: Judge, answers: Answers, labels: Labels | None, calibrated: bool) -> Iterator[str]:
    if not judge.has_position:
        yield "The order of the answers cannot matter to this judge, so consistency and position are left out."
    if not calibrated:
        with_p = sum(j.p_rejected is not None for j in answers.first.values())
        few = "has too few probabilities" if with_p else "gives no probabilities"
        yield f"The judge {few}, so calibration is left out."
    if not answers.asked_again:
        yield "No question was asked again, so agreement with itself is left out."
    if labels is None:
        yield "No labels of people were given, so agreement with people is left out."
