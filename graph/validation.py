"""Test biases on pairs: all of them side by side, batch by batch, until each is decided (METHOD section 3)."""

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, Literal

import numpy as np

from ..agents.arms import Outcome, bias_outcome, judge_arm, original_arm, rewrite
from ..agents.rules_teacher import LEFT_TO_MODELS
from ..core.calls import Stage
from ..core.ids import content_id
from ..core.records import ORIGINAL, PLACEBO, Bias, PairSet, PreferencePair, Validation, bias_arm
from ..core.words import word_count
from ..validators.controls import Evidence, apply_controls, not_injectable
from ..validators.decisions import CandidateState, Limits, Rule, Step, deciding, make_rule
from ..validators.split import batches, stratified_order
from ..validators.summaries import summarise
from .context import Context
from .controls import Trial, gather_evidence, manipulation, retest, side_reports
from .table import Cell, Table

ENOUGH_TO_GIVE_UP = 8
"""Pairs in the first batch, none of which took the bias, that end its test. Of a bias that the teacher writes into half
of the texts this ends one in 256."""

WITHOUT_EDIT = "without_edit"
"""The note of a run on biases that its teacher, the edits of the lexicon, cannot write: names by id."""
_NO_EDIT = f"no edit of the lexicon writes it: {LEFT_TO_MODELS}"
_NO_PAIR = "no pair has a valid judgment in both arms; see the failures"


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
    # One look at pairs nobody has seen: a test for a fixed sample finds more than one that may be stopped at any time.
    rule = make_rule("holm" if confirming and settings.rule == "eprocess" else settings.rule, limits)
    by_id = {pair.id: pair for pair in pairs}
    if reference == ORIGINAL:  # no placebo that a rewrite would have to match
        context = replace(context, teacher=context.writer)
    left = {bias.id: bias.name for bias in biases if not context.has_edit(bias)}
    if left:
        known = context.store.note(context.run_id, WITHOUT_EDIT) or {}
        context.store.write_note(context.run_id, WITHOUT_EDIT, {**known, **left})
    order = stratified_order({pair.id: pair.domain for pair in pairs}, context.settings.seed)
    if settings.max_pairs and not confirming:
        order = order[: settings.max_pairs]
    table = Table([by_id[i] for i in order], {})
    batch = len(order) if confirming else settings.batch
    going = [bias for bias in biases if bias.id not in left]
    steps = await _test(context, rule, going, table, reference, stage, iteration, batch)
    steps |= dict.fromkeys(left, "inconclusive")
    states = _states(biases, table, reference, steps)
    found = rule.final(states)

    counts = {b.id: int(np.isfinite(table.wrong(bias_arm(b.id)) - table.wrong(reference)).sum()) for b in biases}
    trial = Trial(table, reference, stage, iteration)
    evidence: dict[str, Evidence] = {}
    if settings.rule != "paper":
        accepted = frozenset(id_ for id_, outcome in found.items() if outcome.decision == "valid")
        evidence = await gather_evidence(context, [b for b in biases if counts[b.id]], trial, accepted)
    noise = await _noise(context, trial, confirming)

    validations = []
    for bias in biases:
        arm, n, outcome = bias_arm(bias.id), counts[bias.id], found[bias.id]
        controls: dict[str, Any] = {}
        if bias.id in evidence:
            outcome, controls = apply_controls(outcome, evidence[bias.id], limits)
        controls |= side_reports(table, arm, reference)
        if noise:
            controls["judge_noise"] = noise
        validation = Validation(
            id=content_id("validation", context.run_id, bias.id, context.judge.name, pair_set, iteration),
            run_id=context.run_id,
            bias_id=bias.id,
            iteration=iteration,
            judge=context.judge.name,
            pair_set=pair_set,
            rule=deciding(rule, states),
            decision=outcome.decision if n else "inconclusive",
            reason=outcome.reason if n else _NO_EDIT if bias.id in left else _NO_PAIR,
            controls=_finite(controls),
            **_numbers(table, arm, reference, "fixed" if confirming or settings.rule != "eprocess" else "anytime", n),
        )
        await context.store.write(validation)
        validations.append(validation)
    return validations


async def _noise(context: Context, trial: Trial, confirming: bool) -> dict[str, float]:
    """The judge's own noise, measured on search pairs; the confirmation quotes it and pays for no second measure."""
    if not context.settings.validation.retests:
        return {}
    if not confirming:
        report = await retest(context, trial)
        context.store.write_note(context.run_id, "judge_noise", _finite(report))
        return report
    return dict(context.store.note(context.run_id, "judge_noise") or {})


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
        if number == 0 and len(taken) >= ENOUGH_TO_GIVE_UP:
            # A bias that came into none of so many pairs will not come into the rest.
            steps |= {b.id: "inconclusive" for b in going if not table.cells.get(bias_arm(b.id))}
        if number == 0 and reference == PLACEBO and table.taken < len(table.pairs):
            # What the teacher cannot write in is not worth more pairs; the controls will say `not_injectable`.
            open_ = [b for b in biases if steps[b.id] == "continue"]
            seen = await manipulation(context, open_, Trial(table, reference, stage, iteration))
            steps |= {b.id: "inconclusive" for b in open_ if not_injectable(*seen[b.id])}
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
        exclude=table.changed(arm, reference)[:last],
        interval=interval,
    )
    return asdict(summary)


def _finite(value: Any) -> Any:
    """NaN has no place in JSON."""
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
