"""From judgments to the result of a taxonomy audit. Reads the store, asks nobody."""

import math
import statistics
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ...bias_library.taxonomy import taxonomy
from ...core.job import Job
from ...core.records import ORIGINAL
from ...data.order import judged_orders
from ...validators.contrasts import Floats, contrast
from ...validators.mcnemar import mcnemar_p, paired_interval
from ...validators.proportions import wilson
from ...validators.sensitivity import corrected, flip_table, margin_change, overall_bsr, sensitivity
from ...validators.text_controls import length_ratio
from .entries import Entry
from .judging import judgments_by_pair
from .outcomes import Outcomes, outcomes_of, seen
from .result import Against, BiasResult, CueResult, Margin, OverallResult, Rate, TaxonomyResult
from .settings import judge_kind
from .suite import Suite, SuiteCount

_CORE = frozenset(entry.name for entry in taxonomy())


def measure(
    job: Job,
    suite: Suite,
    *,
    has_position: bool,
    both_orders: bool,
    filtered: bool,
    by_rule: bool = False,
    left_out: Mapping[str, str],
) -> TaxonomyResult:
    """Everything that the judgments of a suite say."""
    both = both_orders and has_position
    judgments = judgments_by_pair(job)
    outcomes = {
        count.bias: outcomes_of([e for e in suite.entries if e.bias.name == count.bias], judgments, job.seed, both)
        for count in suite.counts
        if count.kept
    }
    results = [_bias(outcomes[c.bias], c) for c in suite.counts if c.kept]
    adjusted = corrected({r.name: r.p_value for r in results})
    results = [r.model_copy(update={"p_corrected": adjusted[r.name]}) for r in results]
    core = [r for r in results if r.core]
    bases = {entry.base.id: entry.base for entry in suite.entries}.values()
    originals = seen([(b.id, ORIGINAL, judged_orders(b.id, job.seed, both)) for b in bases], judgments)
    right, n = int((originals.wrong < 0.5).sum()), int((~np.isnan(originals.wrong)).sum())
    return TaxonomyResult(
        kind=judge_kind(has_position),
        both_orders=both,
        filtered=filtered,
        by_rule=by_rule,
        biases=tuple(results),
        left_out=dict(left_out),
        overall=_overall("overall", core, outcomes),
        dimensions=tuple(
            _overall(name, [r for r in core if r.dimension == name], outcomes)
            for name in dict.fromkeys(r.dimension for r in core)
        ),
        accuracy_original=Rate(value=right / n if n else None, interval=wilson(right, n)),
        original=originals.verdicts(),
    )


def _bias(outcomes: Outcomes, count: SuiteCount) -> BiasResult:
    bias = outcomes.entries[0].bias
    original, biased, control = (arm.wrong for arm in (outcomes.original, outcomes.biased, outcomes.control))
    table = flip_table(original, biased)
    found = sensitivity(table)
    has_control = any(entry.control for entry in outcomes.entries)
    return BiasResult(
        name=bias.name,
        dimension=bias.dimension,
        core=bias.name in _CORE,
        definition=bias.definition,
        written_by=_written_by(outcomes.entries),
        suite=count,
        n=table.n,
        right_original=table.right_original,
        harms=table.harms,
        repairs=table.repairs,
        bsr=Rate(value=found.bsr, interval=found.bsr_interval),
        accuracy_original=found.accuracy_original,
        accuracy_biased=found.accuracy_biased,
        drop=found.drop,
        drop_interval=found.drop_interval,
        p_value=found.p_value,
        p_corrected=found.p_value,
        original=outcomes.original.verdicts(),
        biased=outcomes.biased.verdicts(),
        margin=_margin(outcomes),
        control=_against(original, control) if has_control else None,
        against_control=_against(control, biased) if has_control else None,
        length_ratio=_ratio(outcomes.entries) if bias.how == "rewrite" else None,
        cues=_cues(outcomes, bias.cues, has_control),
    )


def _against(reference: Floats, arm: Floats) -> Against:
    found = contrast(reference, arm)
    low, high, _ = paired_interval(found.d)
    return Against(
        n=found.n,
        effect=100 * found.effect if found.n else None,
        interval=(100 * low, 100 * high),
        harms=found.harms,
        repairs=found.repairs,
        p_value=mcnemar_p(found.d),
    )


def _cues(outcomes: Outcomes, cues: Sequence[str], has_control: bool) -> tuple[CueResult, ...]:
    rows = []
    for cue in cues:
        keep = np.array([entry.cue == cue for entry in outcomes.entries])
        if keep.any():
            rows.append(_cue(outcomes, cue, keep, has_control))
    for name in ("against_original", "against_control"):
        tests = {r.cue: against.p_value for r in rows if (against := getattr(r, name)) is not None}
        adjusted = corrected(tests) if tests else {}
        rows = [
            r.model_copy(update={name: getattr(r, name).model_copy(update={"p_corrected": adjusted[r.cue]})})
            if r.cue in adjusted
            else r
            for r in rows
        ]
    return tuple(rows)


def _cue(outcomes: Outcomes, cue: str, keep: npt.NDArray[np.bool_], has_control: bool) -> CueResult:
    original, biased = outcomes.original.wrong, outcomes.biased.wrong
    at_chosen = np.array([entry.side == "chosen" for entry in outcomes.entries])
    whole = flip_table(original[keep], biased[keep])
    to_chosen = flip_table(original[keep & at_chosen], biased[keep & at_chosen])
    to_rejected = flip_table(original[keep & ~at_chosen], biased[keep & ~at_chosen])
    return CueResult(
        cue=cue,
        n=whole.n,
        right_original=whole.right_original,
        harms=whole.harms,
        repairs=whole.repairs,
        toward=to_chosen.repairs + to_rejected.harms,
        away=to_chosen.harms + to_rejected.repairs,
        against_original=_against(original[keep], biased[keep]),
        against_control=_against(outcomes.control.wrong[keep], biased[keep]) if has_control else None,
    )


def _overall(name: str, results: Sequence[BiasResult], outcomes: Mapping[str, Outcomes]) -> OverallResult:
    bases = dict.fromkeys(entry.base.id for r in results for entry in outcomes[r.name].entries)
    column = {base: k for k, base in enumerate(bases)}
    right = np.zeros((len(results), max(1, len(column))), dtype=np.bool_)
    harmed = np.zeros_like(right)
    for row, result in enumerate(results):
        of_bias = outcomes[result.name]
        for entry, before, after in zip(of_bias.entries, of_bias.original.wrong, of_bias.biased.wrong, strict=True):
            if before < 0.5 and not math.isnan(after):
                right[row, column[entry.base.id]] = True
                harmed[row, column[entry.base.id]] = after >= 0.5
    found = overall_bsr(right, harmed, [r.n for r in results])
    return OverallResult(
        name=name, bsr=Rate(value=found.bsr, interval=found.interval), biases=found.biases, pairs=found.pairs
    )


def _margin(outcomes: Outcomes) -> Margin | None:
    found = margin_change(outcomes.original.margins(), outcomes.biased.margins())
    if not found.n:
        return None
    scored = any(j.score_chosen is not None for js in outcomes.original.judgments for j in js)
    return Margin(
        unit="score" if scored else "log-odds",
        n=found.n,
        before=found.before,
        after=found.after,
        change=found.change,
        interval=found.interval,
        standardised=found.standardised,
        shrunk=found.shrunk,
    )


def _written_by(entries: Sequence[Entry]) -> str:
    """Who rewrote; for other injections what was changed."""
    by = sorted({entry.pair.meta.get("made_by", "the suite") for entry in entries})
    return {"rewrite": ", ".join(by), "cue": "line", "swap": "order"}[entries[0].bias.how]


def _ratio(entries: Sequence[Entry]) -> float | None:
    ratios = [length_ratio(e.pair.rejected, e.base.rejected) for e in entries]
    there = [r for r in ratios if not math.isnan(r)]
    return statistics.median(there) if there else None
