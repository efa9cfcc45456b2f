"""Build the controlled suite: for each bias its pairs, the injection, the checks (JudgeBiasBench, section 3.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ...agents.injection import Injected, Injector
from ...agents.verifier import prefers_chosen
from ...bias_library.taxonomy import TaxonomyBias
from ...core.calls import Model
from ...core.errors import CallFailed, DataError
from ...core.job import Job
from ...core.pool import failure
from ...core.records import PreferencePair
from ...core.store import Store
from ...data.order import draw_order
from ...validators.answers import answer_change, compare_answers
from ...validators.split import stratified_order
from ...validators.text_controls import length_ratio
from .by_rule import consistent
from .cues import cue_entry, swap_entry
from .entries import Entry, injected
from .settings import TaxonomySettings

Verifier = Model | Literal["rules"]
"""Who filters: a model, or rules that need none (`by_rule`)."""
_NOTE = "suite"


class SuiteCount(BaseModel):
    """How the test set of one bias came about."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bias: str
    eligible: int
    """Pairs of the source within the bias's length ratio."""
    drawn: int
    failed: int = 0
    """The injection failed; reasons are among the run's failures."""
    answer_changed: int = 0
    """Left out: a final answer is another one than before."""
    discarded: int = 0
    """Left out: the verifier no longer prefers the chosen answer, or the rules found more changed than was asked."""
    unchecked: int = 0
    """Left out: the verifier gave no usable answer."""
    kept: int = 0


@dataclass(frozen=True)
class Suite:
    """The entries of all biases, in order, and how they came about."""

    entries: tuple[Entry, ...]
    counts: tuple[SuiteCount, ...]


def sampled(
    pairs: Sequence[PreferencePair], bias: TaxonomyBias, most: int, seed: int
) -> tuple[list[PreferencePair], int]:
    """The pairs for a bias, and how many were eligible.

    A stratified seeded order that all biases share, so that they share originals too; for all biases but length the
    rejected answer may be `ratio` times as long as the chosen one.
    """
    by_id = {pair.id: pair for pair in pairs}
    order = stratified_order({pair.id: pair.domain for pair in pairs}, seed)
    limit = float("inf") if bias.ratio is None else bias.ratio
    eligible = [i for i in order if length_ratio(by_id[i].rejected, by_id[i].chosen) <= limit]
    return [by_id[i] for i in eligible[:most]], len(eligible)


async def build_suite(
    job: Job,
    injector: Injector,
    verifier: Verifier | None,
    pairs: Sequence[PreferencePair],
    biases: Sequence[TaxonomyBias],
    settings: TaxonomySettings,
) -> Suite:
    """Draw, inject and check; store the suite. A build that was killed is done again, and pays for nothing twice.

    Without a verifier nothing is discarded for its preference; final answers are compared in any case where they can be
    extracted. Raises DataError when a bias is left without any pair.
    """
    if (known := load_suite(job.store, job.run_id)) is not None:
        return known
    entries: list[Entry] = []
    counts: list[SuiteCount] = []
    for bias in biases:
        drawn, eligible = sampled(pairs, bias, settings.pairs, job.seed)
        made, count = await _of_bias(job, injector, verifier, drawn, bias, settings)
        entries += made
        counts.append(count.model_copy(update={"eligible": eligible}))
        job.progress.count(pairs=len(entries))
    return store_suite(job.store, job.run_id, Suite(tuple(entries), tuple(counts)))


def store_suite(store: Store, run_id: str, suite: Suite) -> Suite:
    """Keep a suite with its run. Raises DataError when it is empty."""
    if not suite.entries:
        said = "; ".join(f"{c.bias}: {c.eligible} eligible, {c.failed} failed" for c in suite.counts)
        raise DataError(f"no pair is left for any bias ({said}); give more data, or another teacher or verifier")
    bases = {entry.base.id: entry.base for entry in suite.entries}
    store.write_pairs(run_id, "base", bases.values())
    store.write_pairs(run_id, "suite", [entry.pair for entry in suite.entries])
    store.write_pairs(run_id, "control", [entry.control for entry in suite.entries if entry.control])
    store.write_note(run_id, _NOTE, [count.model_dump() for count in suite.counts])
    return suite


def load_suite(store: Store, run_id: str) -> Suite | None:
    """The suite of a run; None when it was not built to its end."""
    if (counts := store.note(run_id, _NOTE)) is None:
        return None
    bases = {pair.id: pair for pair in store.pairs(run_id, "base")}
    controls = {_key(pair): pair for pair in store.pairs(run_id, "control")}
    entries = [Entry(bases[p.meta["base"]], p, controls.get(_key(p))) for p in store.pairs(run_id, "suite")]
    return Suite(tuple(entries), tuple(SuiteCount.model_validate(count) for count in counts))


def _key(pair: PreferencePair) -> tuple[str, str]:
    return pair.meta["bias"], pair.meta["base"]


async def _of_bias(
    job: Job,
    injector: Injector,
    verifier: Verifier | None,
    drawn: Sequence[PreferencePair],
    bias: TaxonomyBias,
    settings: TaxonomySettings,
) -> tuple[list[Entry], SuiteCount]:
    count = SuiteCount(bias=bias.name, eligible=0, drawn=len(drawn))
    if bias.how != "rewrite":
        made = [_untouched(job, base, bias, rank, settings.controls != "off") for rank, base in enumerate(drawn)]
    else:
        made = await _rewritten(job, injector, drawn, bias, settings.controls == "all")
    same = [entry for entry in made if _same_answers(entry)]
    kept, unchecked = same, 0
    if verifier is not None and (bias.how == "rewrite" or bias.dimension == "diversity"):
        if verifier == "rules":
            kept = [entry for entry in same if consistent(entry)]
        else:
            kept, unchecked = await _consistent(job, verifier, same, bias)
    return kept, count.model_copy(
        update={
            "failed": len(drawn) - len(made),
            "answer_changed": len(made) - len(same),
            "discarded": len(same) - len(kept) - unchecked,
            "unchecked": unchecked,
            "kept": len(kept),
        }
    )


def _untouched(job: Job, base: PreferencePair, bias: TaxonomyBias, rank: int, control: bool) -> Entry:
    order = draw_order(base.id, job.seed)
    if bias.how == "swap":
        return swap_entry(base, bias, order)
    return cue_entry(base, bias, rank, order, control=control)


async def _rewritten(
    job: Job, injector: Injector, drawn: Sequence[PreferencePair], bias: TaxonomyBias, control: bool
) -> list[Entry]:
    stage, made = f"inject:{bias.name}", {"made_by": injector.name}

    async def work(base: PreferencePair) -> Entry:
        texts = await injector.inject(base, bias, stage="audit")
        neutral: Injected | None = None
        if control:
            try:
                neutral = await injector.control(base, stage="audit")
            except CallFailed as failed:
                await job.store.write(failure(job.run_id, stage, f"{base.id} control", failed))
        return Entry(
            base,
            injected(base, bias, *texts, made),
            injected(base, bias, *neutral, made, control=True) if neutral else None,
        )

    found = await job.run_all(stage, drawn, work, lambda base: base.id)
    return [entry for entry in found if entry is not None]


def _same_answers(entry: Entry) -> bool:
    """Whether both answers still say what they said, as far as final answers can be extracted."""
    base, made = entry.base, entry.pair
    return (
        compare_answers(base.chosen, made.chosen) != "different"
        and answer_change(base.rejected, base.chosen, made.rejected) != "changed"
    )


async def _consistent(
    job: Job, verifier: Model, entries: Sequence[Entry], bias: TaxonomyBias
) -> tuple[list[Entry], int]:
    async def work(entry: Entry) -> bool:
        return await prefers_chosen(verifier, entry.pair, job.seed)

    found = await job.run_all(f"verify:{bias.name}", entries, work, lambda entry: entry.pair.id)
    kept = [entry for entry, prefers in zip(entries, found, strict=True) if prefers]
    return kept, sum(prefers is None for prefers in found)
