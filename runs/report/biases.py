"""The biases of a run as they stand: name, definition, status, evidence and support."""

from collections import defaultdict

from ...bias_library.library import load_library
from ...core.calls import Usage
from ...core.records import Bias, Candidate, MergeDecision, Status, Validation, bias_arm
from ...core.store import Store
from ..analyses.same_effect import groups_of
from .controls import control_lines
from .model import BiasEntry, DomainEffect, Evidence
from .tallies import Tallies

_RANK: dict[str, int] = {"confirmed": 0, "valid": 1, "inconclusive": 2, "rejected": 3}


def current_biases(store: Store, run_id: str) -> dict[str, tuple[Bias, Status]]:
    """Each bias of the run's library as it is worded now, with its status."""
    return {entry.bias.id: (entry.bias, entry.status) for entry in load_library(store, run_id)}


def bias_entries(store: Store, run_id: str, tallies: Tallies) -> tuple[list[BiasEntry], list[str]]:
    """Tested and candidate biases, the strongest first, without examples; and names of untested seeds."""
    biases = current_biases(store, run_id)
    validations: dict[str, list[Validation]] = defaultdict(list)
    for v in store.iterate(Validation, run_id=run_id):
        validations[v.bias_id].append(v)
    merges: dict[str, list[MergeDecision]] = defaultdict(list)
    for m in store.iterate(MergeDecision, run_id=run_id):
        merges[m.into].append(m)
    same = {id_: group for group in groups_of(store, run_id) for id_ in group}
    candidates = {c.id: c for c in store.iterate(Candidate, run_id=run_id)}
    entries, seeds = [], []
    for bias, status in biases.values():
        if bias.origin == "seed" and not validations[bias.id]:
            seeds.append(bias.name)
            continue
        support = [candidates[c] for m in merges[bias.id] for c in m.candidate_ids if c in candidates]
        tests = sorted(validations[bias.id], key=lambda v: (v.iteration, v.id))
        search = [v for v in tests if v.iteration >= 0]
        confirm = [v for v in tests if v.iteration < 0]
        born = [m.iteration for m in merges[bias.id] if m.novel] + [v.iteration for v in search]
        arm = bias_arm(bias.id)
        names = {p.id: p.name for p in store.get_many(Bias, bias.parents)}
        entries.append(
            BiasEntry(
                id=bias.id,
                name=bias.name,
                definition=bias.definition,
                manifestation=bias.manifestation,
                origin=bias.origin,
                status=status,
                parents=tuple(names.get(p, p) for p in bias.parents),
                iteration=min(born, default=None),
                support=sum(c.contrast.support if c.contrast else 1 for c in support),
                support_pairs=_pairs(support),
                support_sources=len({c.source_bias for c in support if c.source_bias}),
                search=evidence_of(search[-1]) if search else None,
                confirmation=evidence_of(confirm[-1]) if confirm else None,
                usage=_usage(store, run_id, tallies.requests.get(arm, [])),
                examples=(),
                discoveries=(),
                same_effect=tuple(biases[o][0].name for o in same.get(bias.id, ()) if o != bias.id and o in biases),
            )
        )
    return sorted(entries, key=_strength), sorted(seeds)


def _pairs(support: list[Candidate]) -> int:
    """Pairs whose misjudgments speak for a bias; those of contrasts are counted and not named, so the most counts."""
    named = len({c.pair_id for c in support if c.contrast is None})
    return max([named, *(c.contrast.support_pairs for c in support if c.contrast)])


def _strength(entry: BiasEntry) -> tuple[int, float, str, str]:
    shown = entry.shown
    return (_RANK.get(entry.status, 9), -shown.effect if shown else 0.0, entry.name, entry.id)


def _usage(store: Store, run_id: str, request_ids: list[str]) -> Usage:
    return rounded(store.usage_of(run_id, sorted({r for r in request_ids if r})))


def rounded(usage: Usage) -> Usage:
    """Cost to a millionth: sums of floats depend on the order of the rows."""
    return usage if usage.cost is None else usage.model_copy(update={"cost": round(usage.cost, 6)})


def evidence_of(v: Validation) -> Evidence:
    """A validation as it is shown."""
    return Evidence(
        part="confirmation" if v.iteration < 0 else "search",
        by_domain=tuple(_domain(name, v.by_domain[name]) for name in sorted(v.by_domain)),
        controls=control_lines(v.controls),
        **v.model_dump(
            include={
                "rule",
                "n",
                "missing",
                "harms",
                "repairs",
                "error_reference",
                "error_bias",
                "error_original",
                "effect",
                "interval",
                "interval_method",
                "effect_vs_original",
                "e_value",
                "p_value",
                "decision",
                "reason",
            }
        ),
    )


def _domain(name: str, figures: dict[str, float]) -> DomainEffect:
    n, effect, low, high = (figures.get(k) for k in ("n", "effect", "low", "high"))
    return DomainEffect(
        domain=name,
        n=None if n is None else int(n),
        effect=effect,
        interval=None if low is None or high is None else (low, high),
    )
