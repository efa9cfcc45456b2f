"""The arms of a run as numbers: one outcome per arm and pair, from stored judgments."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...agents.outcomes import wrong
from ...core.errors import UserError
from ...core.records import ORIGINAL, PLACEBO, Judgment, Order, Perturbation, PreferencePair, Validation, bias_arm
from ...core.store import Store
from ...core.words import word_count


@dataclass(frozen=True)
class Arms:
    """Outcomes on the test pairs. A pair whose rewrite has become right has none in that arm."""

    pairs: dict[str, PreferencePair]
    """Test pairs by id, in the run's order: the search part, then the confirmation part."""
    confirm: frozenset[str]
    """Those of the confirmation part."""
    outcomes: dict[str, dict[str, float]]
    """Arm -> pair -> wrong (1, 0, a probability, or NaN without a verdict)."""
    words: dict[str, dict[str, int]]
    """Arm -> pair -> words of the rejected answer as rewritten; the arm `original` has the answers themselves."""
    changed: frozenset[tuple[str, str]]
    """Arm and pair where the rewrite has become right."""

    def of(self, arm: str) -> dict[str, float]:
        """The arm's outcomes by pair."""
        return self.outcomes.get(arm, {})

    def vector(self, arm: str, pair_ids: Iterable[str]) -> npt.NDArray[np.float64]:
        """The arm's outcomes on these pairs, NaN where there is none."""
        found = self.of(arm)
        return np.array([found.get(i, np.nan) for i in pair_ids], dtype=np.float64)


def read_arms(store: Store, run_id: str, only: Sequence[str] | None = None, lengths: bool = True) -> Arms:
    """One pass over the run's rewrites and judgments, or over those of some arms; texts do not pile up. Without
    `lengths` no words are counted, which takes half as long.

    UserError for an unknown run.
    """
    pairs = {p.id: p for part in ("search", "confirm") for p in store.pairs(run_id, part)}
    if not pairs:
        known = ", ".join(repr(r) for r in store.run_ids()) or "none"
        raise UserError(f"run {run_id!r} has no test pairs in this store (runs here: {known}); let it run first")
    words: dict[str, dict[str, int]] = defaultdict(dict)
    if lengths:
        words[ORIGINAL] = {i: word_count(p.rejected) for i, p in pairs.items()}
    changed = set()
    some = {} if only is None else {"arm": only}
    for made in store.iterate(Perturbation, run_id=run_id, **some):
        if made.pair_id in pairs:
            if lengths:
                words[made.arm].setdefault(made.pair_id, word_count(made.text))
            if made.answer_change == "changed":
                changed.add((made.arm, made.pair_id))
    found: dict[tuple[str, str], dict[Order, Judgment]] = defaultdict(dict)
    for judgment in store.iterate(Judgment, run_id=run_id, **some):
        if judgment.pair_id in pairs and not judgment.draw:
            slim = judgment.model_copy(update={"reasoning": ""})
            found[judgment.arm, judgment.pair_id].setdefault(judgment.order, slim)
    twice = {arm for (arm, _), by_order in found.items() if len(by_order) == 2}
    outcomes: dict[str, dict[str, float]] = defaultdict(dict)
    for (arm, pair_id), by_order in found.items():
        source = arm.replace("truncated:", "bias:", 1) if arm.startswith("truncated:") else arm
        if (source, pair_id) in changed:
            continue
        if arm in twice and len(by_order) < 2:
            outcomes[arm][pair_id] = float("nan")
        else:
            outcomes[arm][pair_id] = wrong([by_order[order] for order in sorted(by_order)])
    return Arms(pairs, frozenset(store.pair_ids(run_id, "confirm")), dict(outcomes), dict(words), frozenset(changed))


def reference_arm(validations: Iterable[Validation]) -> str:
    """What biases were compared with: the original answers under the paper's rule, else the placebo."""
    return ORIGINAL if any(v.rule == "paper" for v in validations) else PLACEBO


def valid_ids(validations: Iterable[Validation]) -> list[str]:
    """Biases that the search found valid, in the order of their ids."""
    return sorted({v.bias_id for v in validations if v.iteration >= 0 and v.decision == "valid"})


def differences(arms: Arms, bias_ids: Iterable[str], reference: str) -> dict[str, npt.NDArray[np.float64]]:
    """d = wrong(bias) - wrong(reference) over all test pairs, NaN where an arm has no outcome."""
    order = list(arms.pairs)
    base = arms.vector(reference, order)
    return {id_: arms.vector(bias_arm(id_), order) - base for id_ in bias_ids}
