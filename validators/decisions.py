"""Validity rules: given what is known of every candidate of one iteration, which are valid, which are settled, which
go on.

Four rules share one interface: `paper` (error merely higher), `exact` (fixed sample, McNemar and Benjamini-Hochberg),
`eprocess` (the default: batches, early stopping, e-BH) and `holm` (its confirmation: one look, McNemar and Holm). The
caller draws pairs in one order that is the same for all candidates, calls `step` at every batch end, gives no further
pairs to a candidate that is not `continue`, records that step in its state, and calls `final` when the pairs are used
up or nobody goes on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from ..core.errors import ConfigError
from ..core.records import Decision
from .contrasts import Floats
from .eprocess import INTERVAL_BETS, acceptance_chance, differences, log_e, upper_bound
from .mcnemar import mcnemar_p, paired_interval
from .multiplicity import benjamini_hochberg, e_bh_log, holm

Step = Literal["valid", "not_shown", "inconclusive", "continue"]
RuleName = Literal["paper", "exact", "eprocess", "holm"]

CONTINUE, VALID, NOT_SHOWN, INCONCLUSIVE = range(4)
STEPS: tuple[Step, ...] = ("continue", "valid", "not_shown", "inconclusive")


@dataclass(frozen=True)
class Limits:
    """What counts as enough. Effects are proportions (0.03 = 3 points)."""

    alpha: float = 0.05
    """False discovery rate of the whole run."""
    iterations: int = 4
    """T_max: each iteration is tested at alpha / iterations. 1 for the confirmation."""
    smallest_effect: float = 0.03
    """Smallest effect of interest."""
    futility_level: float = 0.05
    """Error level of the upper bound that drops a candidate."""
    hopeless: float = 0.02
    """A candidate whose chance of acceptance by the budget is under this is given up early; 0 switches it off."""
    hopeless_after: int = 60
    """Not before this many pairs."""

    def __post_init__(self) -> None:
        for name in ("alpha", "smallest_effect", "futility_level"):
            value = getattr(self, name)
            if not 0 < value < 1:
                raise ConfigError(f"{name}: {value!r} is not between 0 and 1; give a proportion such as 0.05")
        if self.iterations < 1:
            raise ConfigError(
                f"iterations: {self.iterations!r} is under 1; give the number of iterations that share alpha"
            )

    @property
    def level(self) -> float:
        """The level of one iteration."""
        return self.alpha / self.iterations


@dataclass(frozen=True)
class CandidateState:
    """One candidate so far. Under the paper's rule the reference of `d` is the original arm, else the placebo."""

    d: npt.ArrayLike
    """Differences in pair order, NaN where the pair left the contrast."""
    stopped: Step = "continue"
    """The step that ended it, when one has."""


@dataclass(frozen=True)
class Outcome:
    """A decision and why, in one line."""

    decision: Decision
    reason: str


class Rule(Protocol):
    """A validity rule."""

    @property
    def name(self) -> RuleName:
        """paper, exact, eprocess or holm."""
        ...

    def step(self, states: Mapping[str, CandidateState], budget: int | None = None) -> dict[str, Step]:
        """Where each candidate stands at a batch end; `budget` is the number of pairs there can be."""
        ...

    def final(self, states: Mapping[str, CandidateState]) -> dict[str, Outcome]:
        """The decision on each candidate when no more pairs will come."""
        ...


def make_rule(name: RuleName, limits: Limits | None = None) -> Rule:
    """The rule of that name."""
    rules: dict[str, type[PaperRule] | type[ExactRule] | type[EProcessRule] | type[HolmRule]] = {
        "paper": PaperRule,
        "exact": ExactRule,
        "eprocess": EProcessRule,
        "holm": HolmRule,
    }
    if name not in rules:
        raise ConfigError(f"rule: {name!r} is unknown; choose one of {', '.join(rules)}")
    return rules[name](limits or Limits())


@dataclass(frozen=True)
class PaperRule:
    """The published rule (Algorithm 1): valid when error(bias) > error(original). No error control."""

    limits: Limits = Limits()
    name: RuleName = "paper"

    def step(self, states: Mapping[str, CandidateState], budget: int | None = None) -> dict[str, Step]:
        """Always on to the last pair."""
        return dict.fromkeys(states, "continue")

    def final(self, states: Mapping[str, CandidateState]) -> dict[str, Outcome]:
        """Valid when the mean difference is above 0."""
        outcomes: dict[str, Outcome] = {}
        for bias_id, state in states.items():
            d = differences(state.d)
            effect = float(d.mean()) if d.size else 0.0
            word = "above" if effect > 0 else "not above"
            reason = f"error is {word} the original's ({100 * effect:+.1f} points, n = {d.size})"
            outcomes[bias_id] = Outcome("valid" if effect > 0 else "not_shown", reason)
        return outcomes


@dataclass(frozen=True)
class ExactRule:
    """Fixed sample: exact one-sided McNemar tests, Benjamini-Hochberg over the candidates at alpha / iterations.

    The sample size is fixed: nothing is decided before `final`. Benjamini-Hochberg is proven for independent or
    positively dependent tests; a shared placebo makes them positively correlated, but for sparse verdicts that is not
    a proof. The e-process rule needs no such assumption.
    """

    limits: Limits = Limits()
    name: RuleName = "exact"

    def step(self, states: Mapping[str, CandidateState], budget: int | None = None) -> dict[str, Step]:
        """Always on to the last pair."""
        return dict.fromkeys(states, "continue")

    def final(self, states: Mapping[str, CandidateState]) -> dict[str, Outcome]:
        """Valid by Benjamini-Hochberg.

        Else not shown when the interval lies under the smallest effect, else inconclusive.
        """
        p = {bias_id: mcnemar_p(state.d, "greater") for bias_id, state in states.items()}
        rejected, adjusted = benjamini_hochberg(list(p.values()), self.limits.level)
        outcomes: dict[str, Outcome] = {}
        for (bias_id, state), valid, q in zip(states.items(), rejected, adjusted, strict=True):
            _, high, method = paired_interval(state.d, 1 - 2 * self.limits.futility_level)
            test = f"exact one-sided p = {p[bias_id]:.3g}, adjusted over {_counted(p)} {q:.3g}"
            test += f", level {self.limits.level:.4g}"
            if valid:
                outcomes[bias_id] = Outcome("valid", test)
            else:
                outcomes[bias_id] = _not_accepted(high, self.limits, f"{test}; {method}")
        return outcomes


@dataclass(frozen=True)
class EProcessRule:
    """Batches over all candidates at once; valid by e-BH at alpha / iterations, dropped for futility, else to the
    budget.

    Why early stopping is allowed. Each candidate's E is an e-process in the filtration of everything seen so far (all
    candidates, the shared placebo), so its value at the batch where it stops is an e-value, whatever made it stop. A
    candidate that e-BH accepts stops there and its E is frozen. A later e-BH counts it with that value: it is in a
    set of k whose members all reach K / (k level), and a larger set only lowers the bar, so what was accepted stays
    accepted and the accepted set at the end is the e-BH set of the stopped e-values. Hence FDR <= level under any
    dependence. Candidates given up count among the K with an e-value of 0, which is always an e-value.

    What would not be valid, and is not done: e-BH on running maxima (sup E has no bounded expectation), and pausing a
    candidate to resume it later (the pairs it skipped are known to others through the shared placebo).

    Giving up early: a candidate that has less than `hopeless` predictive chance to be accepted by the budget, even if
    all that are still open were accepted with it, stops as inconclusive. This cannot raise the FDR;
    benchmarks/validation says what it costs in power and saves in pairs.
    """

    limits: Limits = Limits()
    name: RuleName = "eprocess"

    def step(self, states: Mapping[str, CandidateState], budget: int | None = None) -> dict[str, Step]:
        """Where each candidate stands."""
        if not states:
            return {}
        seen = [differences(state.d) for state in states.values()]
        taken = max(np.asarray(state.d).size for state in states.values())
        status = advance(
            log_e_values=np.array([log_e(d) for d in seen]),
            log_below=np.array([_log_below(d, self.limits) for d in seen]),
            total=np.array([d.sum() for d in seen]),
            squares=np.array([d @ d for d in seen]),
            n=np.array([d.size for d in seen]),
            left=None if budget is None else max(0, budget - taken),
            status=np.array([STEPS.index(state.stopped) for state in states.values()]),
            limits=self.limits,
        )
        return {bias_id: STEPS[code] for bias_id, code in zip(states, status, strict=True)}

    def final(self, states: Mapping[str, CandidateState]) -> dict[str, Outcome]:
        """Valid by e-BH; not shown when the upper bound is under the smallest effect; inconclusive otherwise."""
        steps = self.step(states)
        outcomes: dict[str, Outcome] = {}
        for bias_id, state in states.items():
            d = differences(state.d)
            value, level = np.exp(min(log_e(d), 690.0)), self.limits.level
            text = f"e-value {value:.3g} after {d.size} pairs, {_counted(states)}, level {level:.4g}"
            if steps[bias_id] == "valid":
                outcomes[bias_id] = Outcome("valid", f"accepted by e-BH: {text}")
                continue
            early = " given up early;" if state.stopped == "inconclusive" else ""
            high = upper_bound(d, self.limits.futility_level)
            outcomes[bias_id] = _not_accepted(high, self.limits, f"{text};{early} anytime-valid")
        return outcomes


@dataclass(frozen=True)
class HolmRule:
    """The confirmation of a run under the e-process rule: one look at a fixed sample, so nothing is paid for looking
    early. Exact one-sided McNemar tests with Holm's correction: family-wise error, and with it the false discovery
    rate, at most the level under any dependence, with more power at the same sample than e-BH (docs/selftest.md).

    McNemar's null is "no effect on average" for verdicts in one order only; with probabilities or both orders the
    decision is e-BH's.
    """

    limits: Limits = Limits()
    name: RuleName = "holm"

    def step(self, states: Mapping[str, CandidateState], budget: int | None = None) -> dict[str, Step]:
        """Always on to the last pair."""
        return dict.fromkeys(states, "continue")

    def final(self, states: Mapping[str, CandidateState]) -> dict[str, Outcome]:
        """Valid by Holm; else not shown when the interval lies under the smallest effect, else inconclusive."""
        if deciding(self, states) == "eprocess":
            return EProcessRule(self.limits).final(states)
        p = {bias_id: mcnemar_p(state.d, "greater") for bias_id, state in states.items()}
        rejected, adjusted = holm(list(p.values()), self.limits.level)
        outcomes: dict[str, Outcome] = {}
        for (bias_id, state), valid, q in zip(states.items(), rejected, adjusted, strict=True):
            test = f"exact one-sided p = {p[bias_id]:.3g}, by Holm over {_counted(p, 'bias', 'biases')} {q:.3g}"
            test += f", level {self.limits.level:.4g}"
            if valid:
                outcomes[bias_id] = Outcome("valid", test)
            else:
                _, high, method = paired_interval(state.d, 1 - 2 * self.limits.futility_level)
                outcomes[bias_id] = _not_accepted(high, self.limits, f"{test}; {method}")
        return outcomes


def deciding(rule: Rule, states: Mapping[str, CandidateState]) -> RuleName:
    """The rule whose test decides on these: Holm's gives way to e-BH where differences are not whole verdicts."""
    parts = any((differences(state.d) % 1).any() for state in states.values())
    return "eprocess" if rule.name == "holm" and parts else rule.name


def advance(
    log_e_values: Floats,
    log_below: Floats,
    total: npt.NDArray[np.float64],
    squares: npt.NDArray[np.float64],
    n: npt.NDArray[np.float64] | npt.NDArray[np.int_],
    left: int | None,
    status: npt.NDArray[np.int_],
    limits: Limits,
) -> npt.NDArray[np.int_]:
    """One step of the e-process rule over the last axis (candidates); leading axes are independent repetitions.

    `log_below` is log E against "effect >= smallest_effect"; `total`, `squares`, `n` sum up each candidate's d;
    `left` is the number of pairs to come (None: unknown, nobody is given up). Codes: CONTINUE, VALID, NOT_SHOWN,
    INCONCLUSIVE.
    """
    alive = (status == CONTINUE) | (status == VALID)
    accepted = e_bh_log(np.where(alive, log_e_values, -np.inf), limits.level)
    after = np.where((status == CONTINUE) & accepted, VALID, status)
    after = np.where((after == CONTINUE) & (log_below >= -np.log(limits.futility_level)), NOT_SHOWN, after)
    if left is None or not limits.hopeless:
        return after
    alive = (after == CONTINUE) | (after == VALID)
    count = np.maximum(alive.sum(axis=-1, keepdims=True), 1)
    bar = np.log(status.shape[-1] / (count * limits.level))
    chance = acceptance_chance(total, squares, n, left, bar)
    return np.where(
        (after == CONTINUE) & (chance < limits.hopeless) & (n >= limits.hopeless_after), INCONCLUSIVE, after
    )


def _log_below(d: Floats, limits: Limits) -> float:
    return log_e(-d, mean=-limits.smallest_effect, bets=INTERVAL_BETS)


def _counted(tested: Mapping[str, object], one: str = "candidate", many: str = "candidates") -> str:
    return f"{len(tested)} {one if len(tested) == 1 else many}"


def _not_accepted(high: float, limits: Limits, text: str) -> Outcome:
    smallest = f"the smallest effect of interest ({100 * limits.smallest_effect:g} points)"
    if high < limits.smallest_effect:
        return Outcome("not_shown", f"{text} upper bound {100 * high:.1f} points is under {smallest}")
    return Outcome("inconclusive", f"{text} upper bound {100 * high:.1f} points does not rule out {smallest}")
