"""Whether rewriting turns wrong answers into right ones (the form of the paper's Table 5)."""

from collections import defaultdict
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ...core.errors import UserError
from ...core.records import ORIGINAL, PLACEBO, Perturbation, PreferencePair
from ...core.store import Store
from ...validators.answers import answer_change, compare_answers
from ...validators.rates import rate_over_pairs

Equality = Literal["same", "different", "unknown"]


class AnswerRow(BaseModel):
    """One kind of rejected answer against the chosen one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: Literal["original", "placebo", "perturbed"]
    pairs: int
    total: int
    """Answers; a pair counts once for each bias that it was rewritten with."""
    equal: int
    different: int
    unknown: int
    """No final answer could be read and no verifier was sure."""
    by_verifier: int
    """Of the equal and different ones, those that a verifier decided."""
    rate: float | None
    """Equal among equal and different, 0-1, pairs weighing the same."""
    low: float
    high: float
    method: str


class AnswerTable(BaseModel):
    """Table 5 of one run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    rows: tuple[AnswerRow, ...]


def equality(pair: PreferencePair, text: str, stored: Literal["same", "changed", "unknown"]) -> tuple[Equality, bool]:
    """Whether chosen answer and `text` end in the same final answer, and whether a verifier said so.

    Exact extraction goes first. `stored` is Perturbation.answer_change; it is a verifier's word only where exact
    extraction had nothing to say when it was stored.
    """
    exact = compare_answers(pair.chosen, text)
    if exact != "unknown" or stored == "unknown" or answer_change(pair.rejected, pair.chosen, text) != "unknown":
        return exact, False
    return ("same" if stored == "changed" else "different"), True


def answer_table(store: Store, run_id: str) -> AnswerTable:
    """The run's rewritten answers, target and test pairs alike; `original` are the same pairs before rewriting."""
    parts = ("target", "search", "confirm")
    pairs = {p.id: p for part in parts for p in store.pairs(run_id, part)}
    found: dict[str, dict[str, list[tuple[Equality, bool]]]] = {
        name: defaultdict(list) for name in (ORIGINAL, PLACEBO, "perturbed")
    }
    for made in store.iterate(Perturbation, run_id=run_id):
        pair = pairs.get(made.pair_id)
        if pair is not None:
            kind = PLACEBO if made.arm == PLACEBO else "perturbed"
            found[kind][pair.id].append(equality(pair, made.text, made.answer_change))
            if pair.id not in found[ORIGINAL]:
                found[ORIGINAL][pair.id].append(equality(pair, pair.rejected, "unknown"))
    if not found[ORIGINAL]:
        raise UserError(f"run {run_id!r} has no rewritten answers yet; let it run first")
    datasets: tuple[Literal["original", "placebo", "perturbed"], ...] = ("original", "placebo", "perturbed")
    return AnswerTable(run_id=run_id, rows=tuple(_row(name, found[name]) for name in datasets if found[name]))


def _row(
    dataset: Literal["original", "placebo", "perturbed"], by_pair: dict[str, list[tuple[Equality, bool]]]
) -> AnswerRow:
    flat = [item for items in by_pair.values() for item in items]
    values = {"same": 1.0, "different": 0.0, "unknown": float("nan")}
    rate = rate_over_pairs([[values[e] for e, _ in items] for items in by_pair.values()])
    said = [e for e, _ in flat]
    return AnswerRow(
        dataset=dataset,
        pairs=len(by_pair),
        total=len(flat),
        equal=said.count("same"),
        different=said.count("different"),
        unknown=said.count("unknown"),
        by_verifier=sum(verified for _, verified in flat),
        rate=rate.rate if rate.n else None,
        low=rate.low,
        high=rate.high,
        method=rate.method,
    )
