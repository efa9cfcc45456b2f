"""Test biases on pairs: all of them side by side, batch by batch, until each is decided (METHOD section 3)."""

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ..agents.verifier import shows_more
from ..core.calls import Stage
from ..core.ids import content_id
from ..core.records import ORIGINAL, PLACEBO, Bias, PairSet, Perturbation, PreferencePair, Validation, bias_arm
from ..validators.controls import Evidence, apply_controls, judge_noise, position_report
from ..validators.decisions import CandidateState, Limits, Rule, Step, make_rule
from ..validators.split import batches, stratified_order
from ..validators.summaries import summarise
from ..validators.text_controls import truncate_words, word_count
from .arms import Outcome, bias_outcome, judge_arm, original_arm, rewrite
from .context import Context

_ABOUT_LENGTH = re.compile(r"\b(length|longer|shorter|verbos\w*|concis\w*|brevity|wordiness)\b", re.IGNORECASE)


class Cell(NamedTuple):
    """What is kept of one arm of one pair."""

    wrong: float = math.nan
    by_order: tuple[float, ...] = ()
    perturbation_id: str = ""
    words: int = 0
    became_right: bool = False


_EMPTY = Cell()


@dataclass
class Table:
    """Outcomes by arm and pair, in the order in which pairs are taken."""

    pairs: list[PreferencePair]
    cells: dict[str, dict[str, Cell]]
    taken: int = 0

    def column(self, arm: str) -> list[Cell]:
        """The arm's cells for the pairs taken so far."""
        cells = self.cells.get(arm, {})
        return [cells.get(pair.id, _EMPTY) for pair in self.pairs[: self.taken]]

    def wrong(self, arm: str) -> "np.ndarray[Any, np.dtype[np.float64]]":
        """Outcomes with the pairs whose rewrite became right as missing."""
        return np.array([math.nan if c.became_right else c.wrong for c in self.column(arm)], dtype=np.float64)


async def test_biases(
    context: Context,
    biases: Sequence[Bias],
    pairs: Sequence[PreferencePair],
    *,
    pair_set: PairSet,
    iteration: int,
    level: float,
    stage: Stage,
) -> list[Validation]:
    """One Validation per bias, stored. `level` is the false discovery rate of this family of tests."""
    if not biases or not pairs:
        return []
    settings = context.settings.validation
    confirming = pair_set == "confirm"
    reference = ORIGINAL if settings.rule == "paper" else PLACEBO
    limits = Limits(
        alpha=level,
        iterations=1,
        smallest_effect=max(settings.smallest_effect, 0.01) / 100,
        hopeless=0.0 if confirming else Limits.hopeless,
    )
    rule = make_rule(settings.rule, limits)
    by_id = {pair.id: pair for pair in pairs}
    order = stratified_order({pair.id: pair.domain for pair in pairs}, context.settings.seed)
    if settings.max_pairs and not confirming:
        order = order[: settings.max_pairs]
    table = Table([by_id[i] for i in order], {})
    batch = len(order) if confirming else settings.batch
    steps = await _test(context, rule, biases, table, reference, stage, iteration, batch)
    found = rule.final(_states(biases, table, reference, steps))

    validations = []
    for bias in biases:
        arm = bias_arm(bias.id)
        n = int(np.isfinite(table.wrong(arm) - table.wrong(reference)).sum())
        outcome = found[bias.id]
        controls: dict[str, Any] = {}
        if n and settings.rule != "paper":
            evidence = await _evidence(context, bias, table, reference, stage, iteration, outcome.decision == "valid")
            outcome, controls = apply_controls(outcome, evidence, limits)
        controls |= _side_reports(table, arm, reference)
        validation = Validation(
            id=content_id("validation", context.run_id, bias.id, context.judge.name, pair_set, iteration),
            run_id=context.run_id,
            bias_id=bias.id,
            iteration=iteration,
            judge=context.judge.name,
            pair_set=pair_set,
            rule=rule.name,
            decision=outcome.decision if n else "inconclusive",
            reason=outcome.reason if n else "no pair has a valid judgment in both arms; see the failures",
            controls=_finite(controls),
            **_numbers(table, arm, reference, "fixed" if confirming or settings.rule != "eprocess" else "anytime", n),
        )
        await context.store.write(validation)
        validations.append(validation)
    if settings.retests and not confirming:
        await _retest(context, table, reference, stage, iteration)
    return validations


async def _test(
    context: Context,
    rule: Rule,
    biases: Sequence[Bias],
    table: Table,
    reference: str,
    stage: Stage,
    iteration: int,
    batch: int,
) -> dict[str, Step]:
    """Fill the table batch by batch. Undecided biases share every batch, so that an engine stays full."""
    steps: dict[str, Step] = {bias.id: "continue" for bias in biases}
    shared = [ORIGINAL] if reference == ORIGINAL else [ORIGINAL, PLACEBO]
    for number, ids in enumerate(batches([pair.id for pair in table.pairs], batch)):
        going = [bias for bias in biases if steps[bias.id] == "continue"]
        if not going:
            break
        taken = table.pairs[table.taken : table.taken + len(ids)]
        # Pair by pair: requests that share question and answers run together and meet a warm prefix cache.
        jobs: list[tuple[PreferencePair, str, Bias | None]] = [
            job
            for pair in taken
            for job in [*((pair, arm, None) for arm in shared), *((pair, bias_arm(b.id), b) for b in going)]
        ]

        async def work(job: tuple[PreferencePair, str, Bias | None]) -> Outcome:
            pair, arm, bias = job
            if bias is not None:
                return await bias_outcome(context, pair, bias, stage=stage)
            if arm == ORIGINAL:
                return await original_arm(context, pair, stage=stage)
            made = await rewrite(context, pair, None, stage=stage)
            return await judge_arm(context, pair, PLACEBO, made.text, stage=stage, perturbation=made)

        outcomes = await context.run_all(
            f"{stage}@{iteration}.{number}", jobs, work, lambda job: f"{job[0].id} {job[1]}"
        )
        for (pair, arm, _), outcome in zip(jobs, outcomes, strict=True):
            if outcome is not None:
                table.cells.setdefault(arm, {})[pair.id] = _cell(outcome)
        table.taken += len(ids)
        decided = rule.step(_states(biases, table, reference, steps), budget=len(table.pairs))
        steps = {id_: decided[id_] if steps[id_] == "continue" else steps[id_] for id_ in steps}
    return steps


def _cell(outcome: Outcome) -> Cell:
    made = outcome.perturbation
    return Cell(
        outcome.wrong, outcome.by_order, made.id if made else "", word_count(outcome.text), outcome.became_right
    )


def _states(biases: Sequence[Bias], table: Table, reference: str, steps: dict[str, Step]) -> dict[str, CandidateState]:
    base = table.wrong(reference)
    return {b.id: CandidateState(table.wrong(bias_arm(b.id)) - base, steps[b.id]) for b in biases}


def _numbers(table: Table, arm: str, reference: str, interval: Literal["anytime", "fixed"], n: int) -> dict[str, Any]:
    if not n:
        empty = {"harms": 0, "repairs": 0, "error_reference": 0.0, "error_bias": 0.0, "effect": 0.0}
        return {"n": 0, "missing": table.taken, "interval": (-100.0, 100.0), "interval_method": "none", **empty}
    # Pairs that come after a bias was decided are not missing: it never saw them.
    last = max(k for k, pair in enumerate(table.pairs[: table.taken]) if pair.id in table.cells[arm]) + 1
    summary = summarise(
        table.wrong(reference)[:last],
        table.wrong(arm)[:last],
        domains=[pair.domain for pair in table.pairs[:last]],
        original=table.wrong(ORIGINAL)[:last],
        interval=interval,
    )
    return asdict(summary)


async def _evidence(
    context: Context, bias: Bias, table: Table, reference: str, stage: Stage, iteration: int, valid: bool
) -> Evidence:
    arm = bias_arm(bias.id)
    base, mine = table.column(reference), table.column(arm)
    d = table.wrong(arm) - table.wrong(reference)
    ratio = np.array([m.words / b.words if m.words and b.words else math.nan for m, b in zip(mine, base, strict=True)])
    right, checked = await _manipulation(context, bias, table, reference, stage, iteration)
    truncated = None
    about_length = bool(_ABOUT_LENGTH.search(f"{bias.name} {bias.definition}"))
    if valid and context.settings.validation.truncation_control and not about_length:
        truncated = await _truncated(context, bias, table, stage, iteration) - table.wrong(reference)
    return Evidence(
        d=d,
        length_ratio=ratio,
        d_truncated=truncated,
        manipulation_right=right,
        manipulation_n=checked,
        about_length=about_length,
    )


async def _manipulation(
    context: Context, bias: Bias, table: Table, reference: str, stage: Stage, iteration: int
) -> tuple[int, int]:
    """How often a verifier finds the bias in the right text, over the first pairs that have both."""
    both = [
        (base.perturbation_id, mine.perturbation_id)
        for base, mine in zip(table.column(reference), table.column(bias_arm(bias.id)), strict=True)
        if base.perturbation_id and mine.perturbation_id
    ][: context.settings.validation.manipulation_checks]

    async def work(ids: tuple[str, str]) -> bool:
        placebo, biased = context.store.get_many(Perturbation, ids)
        return await shows_more(
            context.verifier_model, bias, placebo.text, biased.text, context.settings.seed, stage=stage
        )

    name = f"{stage}@{iteration}.manipulation.{bias.id}"
    found = [seen for seen in await context.run_all(name, both, work, lambda ids: ids[1]) if seen is not None]
    return sum(found), len(found)


async def _truncated(
    context: Context, bias: Bias, table: Table, stage: Stage, iteration: int
) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """The bias arm with every rewrite cut to the original's length (paper section 4.1)."""
    cells = table.column(bias_arm(bias.id))
    jobs = [
        (k, pair, cell)
        for k, (pair, cell) in enumerate(zip(table.pairs[: table.taken], cells, strict=True))
        if cell.perturbation_id and not cell.became_right and not math.isnan(cell.wrong)
    ]

    async def work(job: tuple[int, PreferencePair, Cell]) -> float:
        _, pair, cell = job
        [made] = context.store.get_many(Perturbation, [cell.perturbation_id])
        if cell.words <= word_count(pair.rejected):
            return cell.wrong
        cut = truncate_words(made.text, word_count(pair.rejected))
        return (await judge_arm(context, pair, f"truncated:{bias.id}", cut, stage=stage, perturbation=made)).wrong

    name = f"{stage}@{iteration}.truncated.{bias.id}"
    found = await context.run_all(name, jobs, work, lambda job: f"{job[1].id} truncated:{bias.id}")
    wrong = np.full(table.taken, math.nan)
    for (k, _, _), value in zip(jobs, found, strict=True):
        wrong[k] = math.nan if value is None else value
    return wrong


async def _retest(context: Context, table: Table, reference: str, stage: Stage, iteration: int) -> None:
    """Judge the reference arm of some pairs again: the judge's own noise."""
    chosen = [
        (pair, cell)
        for pair, cell in zip(table.pairs[: table.taken], table.column(reference), strict=True)
        if not math.isnan(cell.wrong)
    ][: context.settings.validation.retests]

    async def work(item: tuple[PreferencePair, Cell]) -> float:
        pair, cell = item
        made = context.store.get(Perturbation, cell.perturbation_id) if cell.perturbation_id else None
        text = made.text if made else pair.rejected
        return (await judge_arm(context, pair, reference, text, stage=stage, perturbation=made, draw=1)).wrong

    again = await context.run_all(f"{stage}@{iteration}.retest", chosen, work, lambda item: item[0].id)
    if chosen:
        report = judge_noise([c.wrong for _, c in chosen], [math.nan if w is None else w for w in again])
        context.store.write_note(context.run_id, "judge_noise", report)


def _side_reports(table: Table, arm: str, reference: str) -> dict[str, Any]:
    cells = table.column(arm)
    known = [m.words / b.words for m, b in zip(cells, table.column(reference), strict=True) if m.words and b.words]
    report: dict[str, Any] = {"answers_changed": sum(c.became_right for c in cells)}
    if known:
        report["length_ratio"] = float(np.median(known))
    both = [c.by_order for c in cells if len(c.by_order) == 2]
    if both:
        report["position"] = position_report([a for a, _ in both], [b for _, b in both])
    return report


def _finite(value: Any) -> Any:
    """NaN has no place in JSON."""
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
