"""Verdict counts of a run, read one judgment at a time so that the texts never pile up in memory."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from ...core.records import ORIGINAL, PLACEBO, Judgment, Order, Perturbation, Verdict, bias_arm
from ...core.store import Store
from .model import ErrorRow, VerdictRow

Item = tuple[str, Order]
"""A pair and an order."""
DECIDED: frozenset[Verdict] = frozenset({"chosen", "rejected"})
"""The verdicts an error rate is taken over; ties and invalid ones are counted apart."""


@dataclass
class Tallies:
    """Verdicts by arm and item (first draw), and which answers changed under rewriting."""

    verdicts: dict[str, dict[Item, Verdict]] = field(default_factory=lambda: defaultdict(dict))
    judgment_ids: dict[str, dict[Item, str]] = field(default_factory=lambda: defaultdict(dict))
    repeats: dict[str, list[tuple[Item, Verdict]]] = field(default_factory=lambda: defaultdict(list))
    requests: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Request ids of rewrites and judgments by arm."""
    perturbations: dict[tuple[str, str], str] = field(default_factory=dict)
    """Id by arm and pair."""
    changed: set[tuple[str, str]] = field(default_factory=set)
    """Arm and pair where the rewritten answer is no longer wrong."""
    judges: set[str] = field(default_factory=set)
    teachers: set[str] = field(default_factory=set)

    def usable(self, arm: str, pairs: set[str]) -> dict[Item, Verdict]:
        """Decided verdicts of an arm on `pairs`, without those whose answer changed."""
        return {
            item: v
            for item, v in self.verdicts.get(arm, {}).items()
            if v in DECIDED and item[0] in pairs and (arm, item[0]) not in self.changed
        }


def read_tallies(store: Store, run_id: str, arms: Sequence[str] | None = None) -> Tallies:
    """One pass over the run's rewrites and judgments, or over those of some arms."""
    tallies = Tallies()
    some = {} if arms is None else {"arm": arms}
    for p in store.iterate(Perturbation, run_id=run_id, **some):
        tallies.perturbations.setdefault((p.arm, p.pair_id), p.id)
        tallies.requests[p.arm].append(p.request_id)
        tallies.teachers.add(p.teacher)
        if p.answer_change == "changed":
            tallies.changed.add((p.arm, p.pair_id))
    for j in store.iterate(Judgment, run_id=run_id, **some):
        item: Item = (j.pair_id, j.order)
        tallies.requests[j.arm].append(j.request_id)
        tallies.judges.add(j.judge)
        if j.draw:
            tallies.repeats[j.arm].append((item, j.verdict))
        else:
            tallies.verdicts[j.arm].setdefault(item, j.verdict)
            tallies.judgment_ids[j.arm].setdefault(item, j.id)
    return tallies


def error(verdicts: Iterable[Verdict]) -> float | None:
    """Wrong among decided verdicts, or None when there are none."""
    decided = [v for v in verdicts if v in DECIDED]
    return fmean(v == "rejected" for v in decided) if decided else None


def error_table(tallies: Tallies, domains: dict[str, str], valid: Iterable[str]) -> tuple[ErrorRow, ...]:
    """The form of the paper's Table 1: error original and biased by domain, then overall.

    `domains` gives the domain of each test pair, `valid` the bias ids. Each bias is compared with the original on the
    same items, and the figures are means over biases; without a valid bias, the original and placebo on all pairs.
    """
    ids = list(valid)
    rows = [
        _error_row(tallies, d, {p for p, own in domains.items() if own == d}, ids)
        for d in sorted(set(domains.values()))
    ]
    if len(rows) == 1:
        rows = []
    return (*rows, _error_row(tallies, "overall", set(domains), ids)) if domains else ()


def _error_row(tallies: Tallies, domain: str, pairs: set[str], ids: list[str]) -> ErrorRow:
    original, placebo = tallies.usable(ORIGINAL, pairs), tallies.usable(PLACEBO, pairs)
    paired = []
    for bias in ids:
        biased = tallies.usable(bias_arm(bias), pairs)
        both = [i for i in biased if i in original]
        neutral = [placebo[i] for i in biased if i in placebo]
        paired.append((error(original[i] for i in both), error(neutral), error(biased[i] for i in both)))
    plain = error(original.values()) if not ids else _mean(p[0] for p in paired)
    neutral_error = error(placebo.values()) if not ids else _mean(p[1] for p in paired)
    biased_error = _mean(p[2] for p in paired)
    gap = None if plain is None or biased_error is None else 100 * (biased_error - plain)
    return ErrorRow(
        domain=domain,
        pairs=len(pairs),
        error_original=plain,
        error_placebo=neutral_error,
        error_biased=biased_error,
        difference=gap,
    )


def _mean(values: Iterable[float | None]) -> float | None:
    there = [v for v in values if v is not None]
    return fmean(there) if there else None


def verdict_rows(tallies: Tallies, pairs: set[str]) -> tuple[VerdictRow, ...]:
    """Verdicts in the original, placebo and bias arms of the test pairs."""
    biased = sorted(a for a in tallies.verdicts if a.startswith("bias:"))
    arms: list[tuple[Literal["original", "placebo", "biased"], list[str]]]
    arms = [("original", [ORIGINAL]), ("placebo", [PLACEBO]), ("biased", biased)]
    rows = (_verdict_row(tallies, name, names, pairs) for name, names in arms)
    return tuple(row for row in rows if row.judged)


def _verdict_row(
    tallies: Tallies, name: Literal["original", "placebo", "biased"], arms: list[str], pairs: set[str]
) -> VerdictRow:
    found = [(arm, item, v) for arm in arms for item, v in tallies.verdicts.get(arm, {}).items() if item[0] in pairs]
    verdicts = [v for *_, v in found]
    in_both = list(_in_both_orders(tallies, arms, pairs))
    again = [
        v == tallies.verdicts[arm][item]
        for arm in arms
        for item, v in tallies.repeats.get(arm, [])
        if item in tallies.verdicts.get(arm, {}) and item[0] in pairs
    ]
    return VerdictRow(
        arm=name,
        judged=len(verdicts),
        right=verdicts.count("chosen"),
        wrong=verdicts.count("rejected"),
        ties=verdicts.count("tie"),
        invalid=verdicts.count("invalid"),
        error=error(verdicts),
        error_chosen_first=error(v for _, (_, order), v in found if order == "chosen_first"),
        error_rejected_first=error(v for _, (_, order), v in found if order == "rejected_first"),
        both_orders=len(in_both),
        consistent=fmean(in_both) if in_both else None,
        repeated=len(again),
        repeated_same=fmean(again) if again else None,
    )


def _in_both_orders(tallies: Tallies, arms: list[str], pairs: set[str]) -> Iterator[bool]:
    for arm in arms:
        verdicts = tallies.verdicts.get(arm, {})
        for (pair, order), first in verdicts.items():
            second = verdicts.get((pair, "rejected_first"))
            if order == "chosen_first" and second is not None and pair in pairs:
                yield first == second
