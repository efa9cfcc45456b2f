"""Contrasts in the loop: gather what the judge has said of the target pairs, regress, and keep what comes of it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from ..agents.arms import original_arm
from ..agents.contrasts import Finding, Findings, Seen, as_candidate, between, find, response_kind, within
from ..bias_library.events import first_seq
from ..bias_library.features import feature_bias
from ..bias_library.library import load_library
from ..core.ids import seed_from
from ..core.records import Judgment, Perturbation, Record
from ..core.store import Store
from .context import Context
from .state import State

GIVEN = "candidates:given"
"""Note with the ids of candidates that the run started from, such as those of a log."""
_WRITTEN = ("bias:", "mixed:")
_CHUNK = 500
R = TypeVar("R", bound=Record)


def note_name(source: str) -> str:
    """The note in which the contrasts of a round, or of a log, are kept."""
    return f"contrasts:{source}"


def given_candidates(store: Store, run_id: str) -> list[str]:
    """Candidates that the run started from."""
    return list(store.note(run_id, GIVEN) or [])


def found_before(context: Context, iteration: int) -> list[str]:
    """Features that contrasts have found in earlier rounds of this run."""
    notes = (context.store.note(context.run_id, note_name(str(t))) or {} for t in range(iteration))
    return [line["feature"] for note in notes for line in note.get("found", ())]


async def contrast_candidates(context: Context, state: State) -> list[str]:
    """Candidates of this round, stored, and the note on how they were found.

    All rounds so far are regressed on, without the share of what they have found. With screening (see `perturb`) the
    comparisons are within pairs only: the edits carry every feature, and pairs as they are would mix in their quality.
    """
    iteration = state["iteration"]
    seen, rewrites = await _gather(context, iteration)
    originals = {item.pair.id: item for item in seen}
    profiles = context.profiles
    response = response_kind([*seen, *rewrites])
    kinds = [within(rewrites, originals, profiles, response)]
    if not any(j.arm.startswith("mixed:") for item in rewrites for j in item.judgments):
        kinds.append(between(seen, profiles, response))
    settings = context.settings.discovery.contrasts
    findings = find(
        kinds,
        context.features,
        np.random.default_rng(seed_from("contrasts", context.settings.seed, iteration)),
        response=response,
        known=found_before(context, iteration),
        false_selections=settings.false_selections,
        min_rows=settings.min_rows,
    )
    return await keep_findings(context, findings, iteration, source=str(iteration))


async def keep_findings(context: Context, findings: Findings, iteration: int, *, source: str) -> list[str]:
    """Store findings as candidates of an iteration, and the note `contrasts:<source>` on all; returns the ids."""
    library = load_library(context.store, context.run_id, before=first_seq("merge", iteration))
    # A seed that is not to be tested must not swallow what was found of it.
    kept_apart = {"merged"} if context.settings.validation.seeds else {"merged", "seed"}
    known = [entry.bias for entry in library if entry.status not in kept_apart]
    named = [f for f in findings.found if _can_be_written(context, f)]
    candidates = [
        as_candidate(f, known, context.features, run_id=context.run_id, iteration=iteration, source=source)
        for f in named
    ]
    await context.store.write(*candidates)
    context.store.write_note(context.run_id, note_name(source), summary(findings, named))
    return [candidate.id for candidate in candidates]


def summary(findings: Findings, named: Sequence[Finding]) -> dict[str, Any]:
    """The findings as JSON. `named` are those that became candidates: no edit takes a feature out of an answer, so a
    feature that the judge dislikes can be tested with a model as teacher only."""
    made = findings.stability
    candidates = {f.feature.name for f in named}
    return {
        "response": findings.response,
        "rows": made.n,
        "features": int(made.considered.sum()),
        "per_half": made.per_half,
        "threshold": made.threshold,
        "false_bound": made.false_bound,
        "found": [
            {**f.evidence.model_dump(), "title": f.feature.title, "candidate": f.feature.name in candidates}
            for f in findings.found
        ],
    }


def _can_be_written(context: Context, finding: Finding) -> bool:
    return context.has_edit(feature_bias(finding.feature, finding.evidence.direction))


async def _gather(context: Context, iteration: int) -> tuple[list[Seen], list[Seen]]:
    """The target pairs as they are, judged now where they were not, and all their rewrites judged so far."""
    pairs = context.store.pairs(context.run_id, "target")
    judged = await context.run_all(
        f"contrast@{iteration}", pairs, lambda pair: original_arm(context, pair, stage="judge"), lambda pair: pair.id
    )
    seen = [Seen(outcome.pair, outcome.text, outcome.judgments) for outcome in judged if outcome is not None]
    by_id = {pair.id: pair for pair in pairs}
    made = {
        p.id: p
        for p in _rows(context, Perturbation, list(by_id))
        if p.arm.startswith(_WRITTEN) and p.answer_change != "changed"
    }
    verdicts: dict[str, list[Judgment]] = defaultdict(list)
    for judgment in _rows(context, Judgment, list(by_id)):
        if judgment.perturbation_id in made and judgment.arm.startswith(_WRITTEN) and not judgment.draw:
            verdicts[judgment.perturbation_id].append(judgment)
    rewrites = [
        Seen(by_id[made[id_].pair_id], made[id_].text, tuple(sorted(found, key=lambda j: j.order)))
        for id_, found in sorted(verdicts.items())
    ]
    return seen, rewrites


def _rows(context: Context, kind: type[R], pair_ids: Sequence[str]) -> Iterator[R]:
    for start in range(0, len(pair_ids), _CHUNK):
        yield from context.store.iterate(kind, run_id=context.run_id, pair_id=pair_ids[start : start + _CHUNK])
