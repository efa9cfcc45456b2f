"""Whether the judge errs because answers grew longer (the form of the paper's Table 6)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ...bias_library.library import load_library
from ...core.errors import UserError
from ...core.records import ORIGINAL, PLACEBO, Bias, Perturbation, Validation, bias_arm
from ...core.store import Store
from ...core.words import word_count
from ...graph.context import Context
from ...graph.controls import about_length, judge_truncated, truncated_arm
from ...validators.rates import rate_over_pairs
from ...validators.text_controls import truncate_words
from ..folder import RunFolder
from ..jobs import Listener
from ..launch import attached
from .arms import Arms, read_arms, valid_ids

Dataset = Literal["original", "placebo", "length bias", "perturbed", "length bias (truncated)", "perturbed (truncated)"]


class LengthRow(BaseModel):
    """One arm, or several biases together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: Dataset
    biases: int
    pairs: int
    judged: int
    """Outcomes; a pair counts once for each bias."""
    error: float | None
    """0-1, pairs weighing the same; None where nothing is judged yet."""
    low: float
    high: float
    method: str
    words: float | None
    """Mean length of the rejected answers behind the error rate, in words."""
    missing: int = 0
    """Truncated answers that are not judged yet."""


class LengthTable(BaseModel):
    """Table 6 of one run, on its test pairs without those whose answer changed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    of: Literal["validated", "tested"]
    """Which biases are `perturbed`: the validated ones, or all tested where none was validated. Those about length
    are in the rows `length bias`, tested or validated."""
    rows: tuple[LengthRow, ...]


def length_table(store: Store, run_id: str) -> LengthTable:
    """From stored judgments; UserError when no bias has been tested."""
    arms = read_arms(store, run_id)
    length, others, of = _biases(store, run_id)
    cut = _cut_lengths(store, run_id, arms, [*length, *others])
    rows = [
        _row("original", arms, [ORIGINAL]),
        _row("placebo", arms, [PLACEBO]),
        _row("length bias", arms, [bias_arm(b.id) for b in length]),
        _row("perturbed", arms, [bias_arm(b.id) for b in others]),
        _truncated("length bias (truncated)", arms, length, cut),
        _truncated("perturbed (truncated)", arms, others, cut),
    ]
    return LengthTable(run_id=run_id, of=of, rows=tuple(rows))


async def judge_missing(folder: RunFolder, listener: Listener | None = None) -> int:
    """Judge the truncated answers that the table lacks, by the run's own judge and store; returns how many.

    Takes up where it was stopped: what is judged is not judged again. Raises BudgetReached at the run's budget.
    """
    async with attached(folder, listener) as context:
        arms = read_arms(context.store, folder.run_id)
        length, others, _ = _biases(context.store, folder.run_id)
        jobs = [
            (bias.id, pair_id, made_id)
            for bias in [*length, *others]
            for pair_id, (made_id, words) in _rewrites(context.store, folder.run_id, arms, bias).items()
            if words > arms.words[ORIGINAL][pair_id] and pair_id not in arms.of(truncated_arm(bias.id))
        ]
        await _judge(context, arms, jobs)
        return len(jobs)


async def _judge(context: Context, arms: Arms, jobs: Sequence[tuple[str, str, str]]) -> None:
    async def work(job: tuple[str, str, str]) -> None:
        bias_id, pair_id, made_id = job
        [made] = context.store.get_many(Perturbation, [made_id])
        await judge_truncated(context, arms.pairs[pair_id], bias_id, made, stage="audit")

    if jobs:
        await context.run_all("audit@length", jobs, work, lambda job: f"{job[1]} {truncated_arm(job[0])}")


def _biases(store: Store, run_id: str) -> tuple[list[Bias], list[Bias], Literal["validated", "tested"]]:
    """Tested biases about length, and the others that count."""
    validations = store.select(Validation, run_id=run_id)
    if not validations:
        raise UserError(f"run {run_id!r} has tested no bias yet; let it run first")
    tested = {v.bias_id for v in validations}
    valid = set(valid_ids(validations))
    biases = [entry.bias for entry in load_library(store, run_id) if entry.bias.id in tested]
    length = [b for b in biases if about_length(b)]
    others = [b for b in biases if not about_length(b)]
    accepted = [b for b in others if b.id in valid]
    return (length, accepted, "validated") if accepted else (length, others, "tested")


def _rewrites(store: Store, run_id: str, arms: Arms, bias: Bias) -> dict[str, tuple[str, int]]:
    """Pair -> rewrite and its words, where the bias arm has an outcome."""
    judged = arms.of(bias_arm(bias.id))
    found: dict[str, tuple[str, int]] = {}
    for made in store.iterate(Perturbation, run_id=run_id, arm=bias_arm(bias.id)):
        if made.pair_id in judged and judged[made.pair_id] == judged[made.pair_id]:
            found.setdefault(made.pair_id, (made.id, arms.words[made.arm][made.pair_id]))
    return found


def _cut_lengths(store: Store, run_id: str, arms: Arms, biases: Sequence[Bias]) -> dict[str, dict[str, int]]:
    """Bias -> pair -> words of the rewrite when cut to the original's length."""
    cut: dict[str, dict[str, int]] = {}
    for bias in biases:
        mine = cut.setdefault(bias.id, {})
        for made in store.iterate(Perturbation, run_id=run_id, arm=bias_arm(bias.id)):
            if made.pair_id in arms.pairs:
                text = truncate_words(made.text, arms.words[ORIGINAL][made.pair_id])
                mine.setdefault(made.pair_id, word_count(text))
    return cut


def _row(dataset: Dataset, arms: Arms, names: Sequence[str]) -> LengthRow:
    columns = [{i: (value, arms.words[arm][i]) for i, value in arms.of(arm).items()} for arm in names]
    return _counted(dataset, 0 if dataset in ("original", "placebo") else len(names), columns)


def _truncated(dataset: Dataset, arms: Arms, biases: Sequence[Bias], cut: dict[str, dict[str, int]]) -> LengthRow:
    """An answer that is not longer than the original is not cut, and keeps its outcome.

    A bias counts from its first truncated judgment on: its uncut answers alone would be a selection.
    """
    columns, missing = [], 0
    for bias in biases:
        judged, own = arms.of(truncated_arm(bias.id)), {}
        mine, words = arms.of(bias_arm(bias.id)), arms.words.get(bias_arm(bias.id), {})
        longer = {i for i, value in mine.items() if value == value and words[i] > arms.words[ORIGINAL][i]}
        missing += len(longer - judged.keys())
        if longer and not longer & judged.keys():
            continue
        for pair_id, value in mine.items():
            if pair_id not in longer or pair_id in judged:
                own[pair_id] = (judged.get(pair_id, value), cut[bias.id][pair_id])
        columns.append(own)
    return _counted(dataset, len(columns), columns, missing)


def _counted(
    dataset: Dataset, biases: int, columns: Sequence[Mapping[str, tuple[float, int]]], missing: int = 0
) -> LengthRow:
    by_pair: dict[str, list[float]] = defaultdict(list)
    lengths: dict[str, list[int]] = defaultdict(list)
    for column in columns:
        for pair_id, (value, words) in column.items():
            if value == value:
                by_pair[pair_id].append(value)
                lengths[pair_id].append(words)
    rate = rate_over_pairs(by_pair.values())
    return LengthRow(
        dataset=dataset,
        biases=biases,
        pairs=rate.pairs,
        judged=rate.n,
        error=rate.rate if rate.n else None,
        low=rate.low,
        high=rate.high,
        method=rate.method,
        words=fmean(fmean(words) for words in lengths.values()) if lengths else None,
        missing=missing,
    )
