"""Pairs that show a bias at work, and misjudgments from which it was named."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ...core.records import (
    ORIGINAL,
    PLACEBO,
    Bias,
    Candidate,
    Explanation,
    Judgment,
    MergeDecision,
    Perturbation,
    PreferencePair,
    bias_arm,
)
from ...core.store import Store
from .contrasts import contrast_line
from .diff import cut, marked
from .model import ArmVerdict, BiasEntry, Discovery, Example, Text
from .tallies import Item, Tallies

_LONG = 6000
"""Characters; pairs with longer rewrites are shown only when there is nothing shorter."""


def with_examples(
    store: Store,
    run_id: str,
    entry: BiasEntry,
    tallies: Tallies,
    domains: dict[str, str],
    candidates: Sequence[str],
    most: int = 3,
) -> BiasEntry:
    """`entry` with up to `most` flipped pairs and up to two discoveries. `domains`: test pairs in their order;
    `candidates`: what the bias was named from."""
    flips = _flips(store, entry, tallies, domains, most)
    examples = [_example(store, run_id, entry.id, item, tallies) for item in flips]
    return entry.model_copy(
        update={
            "examples": tuple(e for e in examples if e is not None),
            "discoveries": tuple(discoveries(store, run_id, candidates)),
        }
    )


def _flips(store: Store, entry: BiasEntry, tallies: Tallies, domains: dict[str, str], most: int) -> list[Item]:
    """Right in the reference arm and wrong in the bias arm: one per domain in turn, short ones first."""
    arm, pairs = bias_arm(entry.id), set(domains)
    biased = tallies.usable(arm, pairs)
    reference = reference_verdicts(tallies, biased, pairs)
    harmed = [i for i, v in biased.items() if v == "rejected" and reference.get(i) == "chosen"]
    place = {pair: k for k, pair in enumerate(domains)}
    harmed.sort(key=lambda i: (place[i[0]], i[1]))
    nth: dict[str, int] = {}
    seen: set[str] = set()
    turns = []
    for item in harmed:
        if item[0] not in seen:
            seen.add(item[0])
            domain = domains[item[0]]
            nth[domain] = nth.get(domain, 0) + 1
            turns.append((nth[domain], place[item[0]], item))
    first = [item for _, _, item in sorted(turns)][: 8 * most]
    texts = store.get_many(Perturbation, [tallies.perturbations.get((arm, pair), "") for pair, _ in first])
    long = {p.pair_id for p in texts if len(p.text) > _LONG}
    return sorted(first, key=lambda i: i[0] in long)[:most]


def reference_verdicts(tallies: Tallies, biased: Mapping[Item, object], pairs: set[str]) -> dict[Item, str]:
    """What a bias arm is compared with: the placebo where these items have one, else the original (paper's rule)."""
    placebo = tallies.usable(PLACEBO, pairs)
    return dict(placebo if any(i in placebo for i in biased) else tallies.usable(ORIGINAL, pairs))


def _example(store: Store, run_id: str, bias_id: str, item: Item, tallies: Tallies) -> Example | None:
    pair = store.get(PreferencePair, item[0])
    texts = {arm: _rewrite(store, tallies, arm, item[0]) for arm in (PLACEBO, bias_arm(bias_id))}
    biased = texts[bias_arm(bias_id)]
    judgments = {
        name: store.get(Judgment, tallies.judgment_ids[arm].get(item, ""))
        for name, arm in (("original", ORIGINAL), ("placebo", PLACEBO), ("biased", bias_arm(bias_id)))
        if arm in tallies.judgment_ids
    }
    wrong = judgments.get("biased")
    if pair is None or biased is None or wrong is None:
        return None
    placebo = texts[PLACEBO]
    return Example(
        pair_id=pair.id,
        domain=pair.domain,
        source=pair.source,
        order=item[1],
        prompt=cut(pair.prompt),
        chosen=cut(pair.chosen),
        original=cut(pair.rejected),
        placebo=None if placebo is None else marked(pair.rejected, placebo),
        biased=marked(pair.rejected, biased),
        verdicts=tuple(
            ArmVerdict(arm=name, order=j.order, verdict=j.verdict, p_rejected=j.p_rejected)
            for name in ("original", "placebo", "biased")
            if (j := judgments.get(name)) is not None
        ),
        reasoning=cut(wrong.reasoning),
        explanation=_explanation(store, run_id, wrong.id),
    )


def _rewrite(store: Store, tallies: Tallies, arm: str, pair_id: str) -> str | None:
    found = store.get(Perturbation, tallies.perturbations.get((arm, pair_id), ""))
    return found.text if found else None


def _explanation(store: Store, run_id: str, judgment_id: str) -> Text | None:
    found = store.select(Explanation, judgment_id=judgment_id, run_id=run_id)
    return cut(found[0].text) if found else None


def named_from(store: Store, run_id: str) -> dict[str, list[str]]:
    """The candidates that merging put into each bias, in the order of the merges; read once for all biases."""
    found: dict[str, list[str]] = defaultdict(list)
    for merge in sorted(store.iterate(MergeDecision, run_id=run_id), key=lambda m: (m.iteration, m.id)):
        found[merge.into].extend(merge.candidate_ids)
    return dict(found)


def discoveries(store: Store, run_id: str, candidates: Sequence[str], most: int = 2) -> Sequence[Discovery]:
    """Up to `most` of the misjudgments from which these candidates were named; what contrasts have to say is first."""
    by_contrast = [c.id for c in store.get_many(Candidate, candidates) if c.contrast]
    first = sorted(candidates, key=lambda id_: id_ not in by_contrast[:1])
    shown = []
    for candidate in store.get_many(Candidate, first[:most]):
        judgment = store.get(Judgment, candidate.judgment_id)
        source = store.get(Bias, candidate.source_bias)
        shown.append(
            Discovery(
                pair_id=candidate.pair_id,
                named=candidate.name,
                definition=candidate.definition,
                source_bias=source.name if source else candidate.source_bias,
                reasoning=cut(judgment.reasoning if judgment else "", 800),
                explanation=_explanation(store, run_id, candidate.judgment_id),
                contrast=contrast_line(candidate.contrast) if candidate.contrast else None,
            )
        )
    return shown
