"""The controls of a test, each over all biases in one pool, so that an engine stays full (METHOD section 3)."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..agents.arms import judge_arm
from ..core.calls import Stage
from ..core.records import Bias, Perturbation, PreferencePair, bias_arm
from ..core.words import word_count
from ..validators.controls import Evidence, judge_noise, position_report
from ..validators.text_controls import truncate_words
from .context import Context
from .table import Cell, Table

_ABOUT_LENGTH = re.compile(r"\b(length|longer|shorter|verbos\w*|concis\w*|brevity|wordiness)\b", re.IGNORECASE)


class Trial(NamedTuple):
    """Where the controls belong: the table they look into, its reference arm, and the names of the stage."""

    table: Table
    reference: str
    stage: Stage
    iteration: int


def about_length(bias: Bias) -> bool:
    """Whether the bias is length itself, so that controls for length say nothing about it."""
    return bool(_ABOUT_LENGTH.search(f"{bias.name} {bias.definition}"))


def truncated_arm(bias_id: str) -> str:
    """The arm in which a bias's rewrite is cut to the original's length."""
    return f"truncated:{bias_id}"


async def gather_evidence(
    context: Context, biases: Sequence[Bias], trial: Trial, valid: frozenset[str]
) -> dict[str, Evidence]:
    """What the controls have seen of each bias. `valid` are those whose truncated rewrites are judged too."""
    table, reference = trial.table, trial.reference
    seen = await manipulation(context, biases, trial)
    cut: Mapping[str, npt.NDArray[np.float64]] = {}
    if context.settings.validation.truncation_control:
        cut = await _truncated(context, [b for b in biases if b.id in valid and not about_length(b)], trial)
    base = table.column(reference)
    found = {}
    for bias in biases:
        mine = table.column(bias_arm(bias.id))
        right, checked = seen[bias.id]
        truncated = cut.get(bias.id)
        found[bias.id] = Evidence(
            d=table.wrong(bias_arm(bias.id)) - table.wrong(reference),
            length_ratio=[
                m.words / b.words if m.words and b.words else math.nan for m, b in zip(mine, base, strict=True)
            ],
            d_truncated=None if truncated is None else truncated - table.wrong(reference),
            manipulation_right=right,
            manipulation_n=checked,
            about_length=about_length(bias),
        )
    return found


async def manipulation(context: Context, biases: Sequence[Bias], trial: Trial) -> dict[str, tuple[int, int]]:
    """How often a verifier finds each bias in the right text, over the first pairs that are in the contrast."""
    jobs = [
        (bias, pair.prompt, base.perturbation_id, mine.perturbation_id)
        for bias in biases
        for pair, base, mine in [
            (pair, base, mine)
            for pair, base, mine in zip(
                trial.table.pairs[: trial.table.taken],
                trial.table.column(trial.reference),
                trial.table.column(bias_arm(bias.id)),
                strict=True,
            )
            if base.perturbation_id and mine.perturbation_id and not (base.became_right or mine.became_right)
        ][: context.settings.validation.manipulation_checks]
    ]

    async def work(job: tuple[Bias, str, str, str]) -> bool:
        bias, question, *ids = job
        placebo, biased = context.store.get_many(Perturbation, ids)
        return await context.verifier.shows_more(
            bias, question, placebo.text, biased.text, context.settings.seed, stage=trial.stage
        )

    name = f"{trial.stage}@{trial.iteration}.manipulation"
    found = await context.run_all(name, jobs, work, lambda job: f"{job[0].id} {job[3]}") if jobs else []
    answers: dict[str, list[bool]] = {bias.id: [] for bias in biases}
    for (bias, *_), seen in zip(jobs, found, strict=True):
        if seen is not None:
            answers[bias.id].append(seen)
    return {id_: (sum(seen), len(seen)) for id_, seen in answers.items()}


async def _truncated(context: Context, biases: Sequence[Bias], trial: Trial) -> dict[str, npt.NDArray[np.float64]]:
    """Each bias's arm with every rewrite cut to the original's length (paper section 4.1)."""
    table = trial.table
    jobs = [
        (bias, k, pair, cell)
        for bias in biases
        for k, (pair, cell) in enumerate(zip(table.pairs[: table.taken], table.column(bias_arm(bias.id)), strict=True))
        if cell.perturbation_id and not cell.became_right and not math.isnan(cell.wrong)
    ]

    async def work(job: tuple[Bias, int, PreferencePair, Cell]) -> float:
        bias, _, pair, cell = job
        [made] = context.store.get_many(Perturbation, [cell.perturbation_id])
        outcome = await judge_truncated(context, pair, bias.id, made, stage=trial.stage)
        return cell.wrong if outcome is None else outcome

    name = f"{trial.stage}@{trial.iteration}.truncated"
    found = (
        await context.run_all(name, jobs, work, lambda job: f"{job[2].id} {truncated_arm(job[0].id)}") if jobs else []
    )
    wrong = {bias.id: np.full(table.taken, math.nan) for bias in biases}
    for (bias, k, *_), value in zip(jobs, found, strict=True):
        wrong[bias.id][k] = math.nan if value is None else value
    return wrong


async def judge_truncated(
    context: Context, pair: PreferencePair, bias_id: str, made: Perturbation, *, stage: Stage
) -> float | None:
    """The outcome with the rewrite cut to the original's length; None when it is not longer, so nothing is cut."""
    most = word_count(pair.rejected)
    if word_count(made.text) <= most:
        return None
    cut = truncate_words(made.text, most)
    return (await judge_arm(context, pair, truncated_arm(bias_id), cut, stage=stage, perturbation=made)).wrong


async def retest(context: Context, trial: Trial) -> dict[str, float]:
    """Judge the reference arm of some pairs again: the judge's own noise. Empty when nothing is to be judged again."""
    table = trial.table
    chosen = [
        (pair, cell)
        for pair, cell in zip(table.pairs[: table.taken], table.column(trial.reference), strict=True)
        if not math.isnan(cell.wrong)
    ][: context.settings.validation.retests]
    if not chosen:
        return {}

    async def work(item: tuple[PreferencePair, Cell]) -> float:
        pair, cell = item
        made = context.store.get(Perturbation, cell.perturbation_id) if cell.perturbation_id else None
        text = made.text if made else pair.rejected
        return (
            await judge_arm(context, pair, trial.reference, text, stage=trial.stage, perturbation=made, draw=1)
        ).wrong

    again = await context.run_all(f"{trial.stage}@{trial.iteration}.retest", chosen, work, lambda item: item[0].id)
    return judge_noise([c.wrong for _, c in chosen], [math.nan if w is None else w for w in again])


def side_reports(table: Table, arm: str, reference: str) -> dict[str, Any]:
    """What stands beside a decision and cannot change it: answers changed, length, position consistency."""
    cells, base = table.column(arm), table.column(reference)
    known = [m.words / b.words for m, b in zip(cells, base, strict=True) if m.words and b.words]
    report: dict[str, Any] = {"answers_changed": sum(c.became_right for c in cells)}
    if known:
        report["length_ratio"] = float(np.median(known))
    left = table.changed(arm, reference)
    both = [c.by_order for c, gone in zip(cells, left, strict=True) if len(c.by_order) == 2 and not gone]
    if both:
        report["position"] = position_report([a for a, _ in both], [b for _, b in both])
    return report
