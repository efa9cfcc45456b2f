import math

import numpy as np
import pytest
from biasscope.core.errors import ConfigError
from biasscope.validators.decisions import (
    STEPS,
    VALID,
    CandidateState,
    EProcessRule,
    HolmRule,
    Limits,
    PaperRule,
    Step,
    advance,
    deciding,
    make_rule,
)
from biasscope.validators.eprocess import INTERVAL_BETS, e_value, log_e_counts
from biasscope.validators.multiplicity import e_bh
from hypothesis import given, settings
from hypothesis import strategies as st


def draw(rng: np.random.Generator, harm: float, repair: float, n: int) -> np.ndarray:
    return rng.choice([1.0, -1.0, 0.0], p=[harm, repair, 1 - harm - repair], size=n)


def play(rule: EProcessRule, d: dict[str, np.ndarray], batch: int = 20) -> dict[str, CandidateState]:
    """Run the rule as a caller does: decided candidates get no more pairs."""
    total = max(x.size for x in d.values())
    stopped: dict[str, Step] = dict.fromkeys(d, "continue")
    seen = dict.fromkeys(d, 0)
    accepted: set[str] = set()
    for end in range(batch, total + batch, batch):
        for name in d:
            if stopped[name] == "continue":
                seen[name] = min(end, total)
        steps = rule.step({name: CandidateState(d[name][: seen[name]], stopped[name]) for name in d}, budget=total)
        for name in d:
            assert stopped[name] in ("continue", steps[name]), "a decision is never taken back"
        stopped = steps
        accepted |= {name for name, step in steps.items() if step == "valid"}
        if "continue" not in steps.values():
            break
    states = {name: CandidateState(d[name][: seen[name]], stopped[name]) for name in d}
    values = [e_value(s.d) if s.stopped in ("valid", "continue") else 0.0 for s in states.values()]
    assert accepted == {name for name, r in zip(states, e_bh(values, rule.limits.level), strict=True) if r}
    return states


def test_paper_rule_is_the_published_one() -> None:
    states = {
        "up": CandidateState([1, 0, 0, math.nan]),
        "even": CandidateState([1, -1, 0]),
        "down": CandidateState([-1, 0]),
        "empty": CandidateState([math.nan]),
    }
    rule = make_rule("paper")
    assert set(rule.step(states, 3).values()) == {"continue"}
    decisions = {name: outcome.decision for name, outcome in rule.final(states).items()}
    assert decisions == {"up": "valid", "even": "not_shown", "down": "not_shown", "empty": "not_shown"}
    assert "+33.3 points" in rule.final(states)["up"].reason


def test_published_rule_accepts_half_of_the_null_biases() -> None:
    rng = np.random.default_rng(1)
    states = {str(i): CandidateState(draw(rng, 0.075, 0.075, 620)) for i in range(1000)}
    share = np.mean([outcome.decision == "valid" for outcome in PaperRule().final(states).values()])
    assert 0.43 <= share <= 0.53


def test_exact_rule_uses_benjamini_hochberg_over_all_candidates() -> None:
    rng = np.random.default_rng(2)
    states = {f"null {i}": CandidateState(draw(rng, 0.1, 0.1, 620)) for i in range(8)}
    states["strong"] = CandidateState(draw(rng, 0.2, 0.06, 620))
    states["harmless"] = CandidateState(draw(rng, 0.01, 0.03, 620))
    rule = make_rule("exact", Limits(alpha=0.05, iterations=4))
    assert set(rule.step(states, 620).values()) == {"continue"}
    outcomes = rule.final(states)
    assert outcomes["strong"].decision == "valid" and "level 0.0125" in outcomes["strong"].reason
    assert outcomes["harmless"].decision == "not_shown"
    assert all(outcomes[f"null {i}"].decision in ("inconclusive", "not_shown") for i in range(8))
    assert rule.final({}) == {} and make_rule("eprocess").step({}) == {}


def test_eprocess_rule_accepts_early_drops_and_gives_up() -> None:
    rng = np.random.default_rng(3)
    d = {f"null {i}": draw(rng, 0.125, 0.125, 620) for i in range(3)}
    d["strong"] = draw(rng, 0.25, 0.05, 620)
    d["harmless"] = draw(rng, 0.0, 0.2, 620)
    rule = EProcessRule()
    states = play(rule, d)
    assert states["strong"].stopped == "valid" and np.size(states["strong"].d) < 300
    assert states["harmless"].stopped in ("not_shown", "inconclusive") and np.size(states["harmless"].d) < 200
    assert all(np.size(states[f"null {i}"].d) < 620 for i in range(3)), "hopeless ones are given up"
    outcomes = rule.final(states)
    assert outcomes["strong"].decision == "valid" and "accepted by e-BH" in outcomes["strong"].reason
    assert {outcomes[f"null {i}"].decision for i in range(3)} <= {"inconclusive", "not_shown"}


def test_futility_drops_when_the_upper_bound_is_under_the_smallest_effect() -> None:
    rng = np.random.default_rng(4)
    d = {"null": draw(rng, 0.02, 0.02, 5000)}
    rule = EProcessRule(Limits(hopeless=0))
    states = play(rule, d, batch=50)
    assert states["null"].stopped == "not_shown" and np.size(states["null"].d) < 2500
    outcome = rule.final(states)["null"]
    assert outcome.decision == "not_shown" and "is under the smallest effect of interest (3 points)" in outcome.reason
    short = {"null": CandidateState(d["null"][:40])}
    assert rule.step(short) == {"null": "continue"}
    assert rule.final(short)["null"].decision == "inconclusive"


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 8))
def test_accepted_stays_accepted_and_is_the_e_bh_set_of_stopped_values(seed: int, candidates: int) -> None:
    rng = np.random.default_rng(seed)
    placebo = rng.random(300) < 0.3
    d = {}
    for i in range(candidates):
        arm = np.where(rng.random(300) < 0.3, rng.random(300) < 0.3 + 0.5 * rng.random(), placebo)
        d[str(i)] = np.where(rng.random(300) < 0.05, np.nan, arm * 1.0 - placebo)
    play(EProcessRule(Limits(alpha=0.2, iterations=1, hopeless_after=20)), d)


def test_the_bar_falls_with_the_number_that_reaches_it_and_the_given_up_still_count() -> None:
    # K = 2 at 0.04: two that reach 25 are both accepted, one alone needs 50.
    rule = EProcessRule(Limits(alpha=0.04, iterations=1))
    reached = CandidateState([1.0] * 10)
    assert 25 < e_value(reached.d) < 50
    assert rule.step({"a": reached, "b": reached}) == {"a": "valid", "b": "valid"}
    assert rule.step({"a": reached, "b": CandidateState([-1.0] * 2)})["a"] == "continue"
    assert rule.step({"a": reached, "b": CandidateState(reached.d, "inconclusive")})["a"] == "continue"
    frozen = CandidateState(reached.d, "valid")
    assert rule.step({"a": reached, "b": frozen}) == {"a": "valid", "b": "valid"}
    assert rule.step({"a": reached}) == {"a": "valid"}


def simulate(rng: np.random.Generator, reps: int, harm: np.ndarray, repair: np.ndarray, limits: Limits) -> np.ndarray:
    status, used, harms, repairs = np.zeros((4, reps, harm.size), dtype=int)
    for done in range(20, 621, 20):
        going = status == 0
        h = rng.binomial(20, harm, size=status.shape)
        r = rng.binomial(20 - h, repair / (1 - harm))
        harms, repairs, used = harms + h * going, repairs + r * going, used + 20 * going
        below = log_e_counts(repairs, harms, used - harms - repairs, -limits.smallest_effect, INTERVAL_BETS)
        status = advance(
            log_e_counts(harms, repairs), below, harms - repairs, harms + repairs, used, 620 - done, status, limits
        )
    return status


def test_level_and_power_with_thirty_candidates() -> None:
    real = np.arange(30) < 10
    status = simulate(
        np.random.default_rng(5), 300, np.where(real, 0.175, 0.125), np.where(real, 0.075, 0.125), Limits()
    )
    valid = status == VALID
    assert valid[:, real].mean() >= 0.9
    assert (valid[:, ~real].sum(axis=1) / np.maximum(valid.sum(axis=1), 1)).mean() <= 0.0125


def test_vectorised_step_agrees_with_the_rule() -> None:
    rng = np.random.default_rng(6)
    d = np.stack([draw(rng, 0.14, 0.08, 200) for _ in range(6)] + [draw(rng, 0.0, 0.3, 200)])
    limits = Limits(alpha=0.2)
    harms, repairs = (d > 0).sum(axis=1), (d < 0).sum(axis=1)
    below = log_e_counts(repairs, harms, 200 - harms - repairs, -0.03, INTERVAL_BETS)
    n = np.full(7, 200)
    together = advance(
        log_e_counts(harms, repairs), below, harms - repairs, harms + repairs, n, 400, np.zeros(7, int), limits
    )
    states = {str(i): CandidateState(x) for i, x in enumerate(d)}
    assert list(EProcessRule(limits).step(states, budget=600).values()) == [STEPS[code] for code in together]
    assert len(set(together.tolist())) > 1


def test_settings_are_checked() -> None:
    assert Limits().level == pytest.approx(0.0125)
    with pytest.raises(ConfigError, match="alpha: 5 "):
        Limits(alpha=5)
    with pytest.raises(ConfigError, match="iterations"):
        Limits(iterations=0)
    with pytest.raises(ConfigError, match="rule: 'bayes'"):
        make_rule("bayes")  # type: ignore[arg-type]
    assert [make_rule(name).name for name in ("paper", "exact", "eprocess")] == ["paper", "exact", "eprocess"]


def flips(harms: int, repairs: int, n: int) -> CandidateState:
    return CandidateState(np.array([1.0] * harms + [-1.0] * repairs + [0.0] * (n - harms - repairs)))


def test_holm_decides_once_and_step_down():
    # One-sided exact p: 12 to 2 is 0.0065, 10 to 3 is 0.0461, 8 to 8 is 0.598.
    rule = make_rule("holm", Limits(alpha=0.05, iterations=1))
    states = {"a": flips(12, 2, 150), "b": flips(10, 3, 150), "c": flips(8, 8, 150)}
    assert rule.step(states, budget=0) == dict.fromkeys(states, "continue")
    found = rule.final(states)
    assert {name: outcome.decision == "valid" for name, outcome in found.items()} == {"a": True, "b": False, "c": False}
    assert "0.00647, by Holm over 3 biases 0.0194" in found["a"].reason
    # Without the null beside them the second is the last of its family and needs no correction.
    pair = rule.final({"a": states["a"], "b": states["b"]})
    assert pair["b"].decision == "valid"


def test_holm_keeps_the_family_wise_level_with_a_shared_placebo():
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(400):
        base = rng.random(150) < 0.15
        states = {str(k): CandidateState((rng.random(150) < 0.15).astype(float) - base) for k in range(6)}
        outcomes = HolmRule(Limits(alpha=0.05, iterations=1)).final(states)
        wrong += any(o.decision == "valid" for o in outcomes.values())
    assert wrong / 400 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 400)


def test_holm_leaves_probabilities_to_the_e_process():
    d = {"a": CandidateState(np.full(60, 0.4)), "b": CandidateState(np.zeros(60))}
    limits = Limits(alpha=0.05, iterations=1)
    assert HolmRule(limits).final(d) == EProcessRule(limits).final(d)
    assert deciding(HolmRule(limits), d) == "eprocess"
    assert deciding(HolmRule(limits), {"a": flips(3, 1, 60)}) == "holm"
    assert deciding(PaperRule(limits), d) == "paper"
