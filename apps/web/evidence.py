"""The pairs behind a bias's figures, one at a time: the answer in each arm with its changed words, every verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from ...core.records import ORIGINAL, PLACEBO, Explanation, Judgment, Order, Perturbation, PreferencePair, bias_arm
from ...core.store import Store
from ...runs.report.diff import cut, marked
from ...runs.report.examples import reference_verdicts
from ...runs.report.model import Text
from ...runs.report.tallies import read_tallies
from .site import OpenRun

Show = Literal["harms", "repairs", "both wrong", "both right", "unclear", "all"]
SHOWS: tuple[Show, ...] = get_args(Show)
ORDERS: tuple[Order, ...] = get_args(Order)
_LONG = 20_000
"""Characters of a text that a page shows; the whole is a link away."""


@dataclass(frozen=True)
class Case:
    """A pair on which the bias was tested."""

    pair_id: str
    kind: Show
    """Of the order in which most happened: a harm or a repair in either order makes the pair one."""


@dataclass(frozen=True)
class Said:
    """One verdict and what the judge said about it."""

    arm: str
    order: Order
    judgment: Judgment
    reasoning: Text
    explanation: Text | None


@dataclass(frozen=True)
class Answer:
    """The rejected answer in one arm."""

    arm: str
    text: Text
    changed: str
    """Whether the final answer changed: same, changed or unknown; empty for the original."""
    source: str
    """What the whole text is asked for by."""


@dataclass(frozen=True)
class PairView:
    """Everything about one pair under one bias."""

    pair: PreferencePair
    prompt: Text
    chosen: Text
    answers: tuple[Answer, ...]
    verdicts: Mapping[tuple[str, Order], Said]
    orders: tuple[Order, ...]
    arms: tuple[str, ...]


def cases(run: OpenRun, bias_id: str) -> list[Case]:
    """The tested pairs in the run's order, each with what the bias did there."""
    version = run.counts(Judgment)
    return run.kept(("cases", bias_id), version, lambda: _cases(run.store, run.run_id, bias_id))


def _cases(store: Store, run_id: str, bias_id: str) -> list[Case]:
    arm = bias_arm(bias_id)
    tallies = read_tallies(store, run_id, (ORIGINAL, PLACEBO, arm))
    tested = [i for part in ("search", "confirm") for i in store.pair_ids(run_id, part)]
    pairs = set(tested)
    reference = reference_verdicts(tallies, tallies.usable(arm, pairs), pairs)
    by_pair: dict[str, set[Show]] = {}
    for (pair_id, order), verdict in tallies.verdicts.get(arm, {}).items():
        if pair_id in pairs:
            before = reference.get((pair_id, order))
            usable = (arm, pair_id) not in tallies.changed
            by_pair.setdefault(pair_id, set()).add(_kind(before, verdict) if usable else "unclear")
    return [Case(i, next(kind for kind in SHOWS if kind in by_pair[i])) for i in tested if i in by_pair]


def _kind(before: str | None, after: str) -> Show:
    match before, after:
        case "chosen", "rejected":
            return "harms"
        case "rejected", "chosen":
            return "repairs"
        case "rejected", "rejected":
            return "both wrong"
        case "chosen", "chosen":
            return "both right"
    return "unclear"


def pair_view(run: OpenRun, bias_id: str, pair_id: str) -> PairView | None:
    """One pair; None when it is not in the store."""
    store, run_id = run.store, run.run_id
    pair = store.get(PreferencePair, pair_id)
    if pair is None:
        return None
    arms = {"original": ORIGINAL, "placebo": PLACEBO, "biased": bias_arm(bias_id)}
    names = {arm: name for name, arm in arms.items()}
    rows = list(arms.values())
    made = {p.arm: p for p in store.select(Perturbation, run_id=run_id, arm=rows, pair_id=pair_id)}
    judged = [j for j in store.select(Judgment, run_id=run_id, arm=rows, pair_id=pair_id) if not j.draw]
    verdicts: dict[tuple[str, Order], Said] = {}
    for judgment in judged:
        verdicts.setdefault((names[judgment.arm], judgment.order), _said(store, run_id, names[judgment.arm], judgment))
    answers = [Answer("original", cut(pair.rejected, _LONG), "", "rejected")]
    for name in ("placebo", "biased"):
        if (rewrite := made.get(arms[name])) is not None:
            text = marked(pair.rejected, rewrite.text, _LONG)
            answers.append(Answer(name, text, rewrite.answer_change, rewrite.id))
    return PairView(
        pair=pair,
        prompt=cut(pair.prompt, _LONG),
        chosen=cut(pair.chosen, _LONG),
        answers=tuple(answers),
        verdicts=verdicts,
        orders=tuple(o for o in ORDERS if any(order == o for _, order in verdicts)),
        arms=tuple(name for name in arms if any(arm == name for arm, _ in verdicts)),
    )


def _said(store: Store, run_id: str, arm: str, judgment: Judgment) -> Said:
    found = store.select(Explanation, judgment_id=judgment.id, run_id=run_id)
    explanation = cut(found[0].text, _LONG) if found else None
    return Said(arm, judgment.order, judgment, cut(judgment.reasoning, _LONG), explanation)


def whole_text(run: OpenRun, pair_id: str, source: str) -> str | None:
    """A text of a pair in full: `prompt`, `chosen`, `rejected`, or the id of a rewrite or of a judgment of this run."""
    pair = run.store.get(PreferencePair, pair_id)
    if pair is None:
        return None
    if source in ("prompt", "chosen", "rejected"):
        return {"prompt": pair.prompt, "chosen": pair.chosen, "rejected": pair.rejected}[source]
    rewrite = run.store.get(Perturbation, source)
    if rewrite and (rewrite.run_id, rewrite.pair_id) == (run.run_id, pair_id):
        return rewrite.text
    judgment = run.store.get(Judgment, source)
    if judgment and (judgment.run_id, judgment.pair_id) == (run.run_id, pair_id):
        told = run.store.select(Explanation, judgment_id=judgment.id, run_id=run.run_id)
        return "\n\n".join([judgment.reasoning, *(e.text for e in told)])
    return None


def tally(found: Sequence[Case]) -> dict[Show, int]:
    """Pairs of each kind."""
    return {kind: n for kind in SHOWS if (n := len(found) if kind == "all" else sum(c.kind == kind for c in found))}
