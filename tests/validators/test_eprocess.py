import math

import numpy as np
import pytest
from biasscope.core.errors import DataError
from biasscope.validators.eprocess import (
    BETS,
    INTERVAL_BETS,
    acceptance_chance,
    anytime_p,
    confidence_sequence,
    e_value,
    log_e,
    log_e_counts,
    log_e_path,
    log_mean_exp,
    lower_bound,
    surely_below,
    upper_bound,
)
from hypothesis import given
from hypothesis import strategies as st

differences = st.lists(st.floats(-1, 1), max_size=60)


def test_worked_by_hand() -> None:
    d = [1, -1, 0, 0.5]
    expected = (1.2 * 0.8 * 1.1 + 1.4 * 0.6 * 1.2) / 2
    assert math.exp(log_e(d, bets=(0.2, 0.4))) == pytest.approx(expected)
    assert e_value(d, bets=(0.2, 0.4)) == pytest.approx(expected)
    path = np.exp(log_e_path([1, math.nan, -1], bets=(0.5,)))
    np.testing.assert_allclose(path, [1.5, 1.5, 0.75])
    assert anytime_p([1, -1], bets=(0.5,)) == pytest.approx(1 / 1.5)
    assert anytime_p([-1], bets=(0.5,)) == 1.0
    # Against E[d] <= 0.5 the bet is on (d - 0.5) / 1.5.
    assert math.exp(log_e([1, 0], mean=0.5, bets=(0.6,))) == pytest.approx((1 + 0.6 / 3) * (1 - 0.6 / 3))


@given(differences)
def test_the_path_ends_at_the_value_and_order_does_not_matter(d: list[float]) -> None:
    if d:
        assert log_e_path(d)[-1] == pytest.approx(log_e(d), abs=1e-9)
    assert log_e(d) == pytest.approx(log_e(d[::-1]), abs=1e-9)
    assert log_e([*d, math.nan]) == pytest.approx(log_e(d), abs=1e-9)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300), st.floats(-0.5, 0.5))
def test_counts_agree_with_arrays(harms: int, repairs: int, same: int, mean: float) -> None:
    d = [1.0] * harms + [-1.0] * repairs + [0.0] * same
    assert float(log_e_counts(harms, repairs, same, mean)) == pytest.approx(log_e(d, mean), abs=1e-8)


def test_extreme_evidence_does_not_overflow() -> None:
    assert log_e([1.0] * 20_000) > 5_000
    assert e_value([1.0] * 20_000) == pytest.approx(math.exp(690))
    assert e_value([-1.0] * 20_000) < 1e-300
    assert log_e([]) == 0.0


def test_expectation_under_the_null_is_one() -> None:
    rng = np.random.default_rng(1)
    counts = rng.multinomial(40, [0.15, 0.15, 0.7], size=200_000)
    e = np.exp(log_e_counts(counts[:, 0], counts[:, 1], bets=(0.1, 0.2, 0.3)))
    assert e.mean() == pytest.approx(1.0, abs=4 * e.std() / math.sqrt(e.size))


@pytest.mark.parametrize("discordant", [0.15, 0.30])
def test_level_at_any_stopping_time_for_verdicts(discordant: float) -> None:
    draws = np.random.default_rng(2).random((2000, 620))
    harms = np.cumsum(draws < discordant / 2, axis=1)
    repairs = np.cumsum(draws > 1 - discordant / 2, axis=1)
    assert (log_e_counts(harms, repairs).max(axis=1) >= math.log(20)).mean() <= 0.05


def test_level_at_any_stopping_time_for_skewed_probabilities() -> None:
    # Mean 0, but nearly always a little positive: a t-test looks significant early on, and fails here.
    rng = np.random.default_rng(3)
    d = np.where(rng.random((1000, 300)) < 1 / 11, -1.0, 0.1)
    steps = np.cumsum(np.log1p(d[..., None] * np.asarray(BETS)), axis=1)
    assert (log_mean_exp(steps).max(axis=1) >= math.log(20)).mean() <= 0.05


def test_level_with_domains_in_proportion_at_batch_ends() -> None:
    # Half the pairs from a domain with effect +0.2, half from one with -0.2, in alternation.
    rng = np.random.default_rng(4)
    harm = np.tile([0.35, 0.15], 310)
    draws = rng.random((2000, 620))
    harms, repairs = np.cumsum(draws < harm, axis=1)[:, 19::20], np.cumsum(draws > harm + 0.5, axis=1)[:, 19::20]
    assert (log_e_counts(harms, repairs).max(axis=1) >= math.log(20)).mean() <= 0.05


def test_power_and_pairs_of_the_yardstick() -> None:
    draws = np.random.default_rng(5).random((2000, 620))
    over = log_e_counts(np.cumsum(draws < 0.175, axis=1), np.cumsum(draws > 0.925, axis=1)) >= math.log(20)
    hit = over.any(axis=1)
    wald = math.log(20) / (0.25 * (0.7 * math.log(1.4) + 0.3 * math.log(0.6)))
    assert hit.mean() >= 0.95
    assert (over.argmax(axis=1) + 1)[hit].mean() <= 1.5 * wald


@pytest.mark.parametrize(("harm", "repair"), [(0.075, 0.075), (0.15, 0.15), (0.175, 0.075), (0.02, 0.3)])
def test_coverage_of_the_confidence_sequence_at_all_times(harm: float, repair: float) -> None:
    truth = harm - repair
    draws = np.random.default_rng(6).random((1000, 620))
    harms, repairs = np.cumsum(draws < harm, axis=1), np.cumsum(draws > 1 - repair, axis=1)
    same = np.arange(1, 621) - harms - repairs
    above = log_e_counts(harms, repairs, same, truth, INTERVAL_BETS).max(axis=1) >= math.log(40)
    below = log_e_counts(repairs, harms, same, -truth, INTERVAL_BETS).max(axis=1) >= math.log(40)
    assert (above | below).mean() <= 0.05


@given(differences, st.sampled_from([0.025, 0.05, 0.2]))
def test_bounds_are_where_the_capital_reaches_the_level(d: list[float], level: float) -> None:
    low, high = lower_bound(d, level), upper_bound(d, level)
    assert -1 <= low <= high <= 1
    mean = float(np.mean(d)) if d else 0.0
    assert low <= mean + 1e-6 and high >= mean - 1e-6
    if low > -1:
        assert log_e(d, low, INTERVAL_BETS) == pytest.approx(math.log(1 / level), abs=1e-2)
    if abs(high - 0.03) > 1e-4:
        assert surely_below(d, 0.03, level) == (high < 0.03)


def test_interval_mirrors_and_narrows() -> None:
    d = np.random.default_rng(7).normal(0.05, 0.3, 5000).clip(-1, 1)
    low, high = confidence_sequence(d)
    np.testing.assert_allclose(confidence_sequence(-d), (-high, -low), atol=1e-6)
    assert high - low < 4 * 1.96 * d.std() / math.sqrt(d.size) < confidence_sequence(d[:500])[1] - low + 1
    wide = confidence_sequence(d[:200])
    assert high - low < (wide[1] - wide[0]) / 3
    assert confidence_sequence([]) == (-1.0, 1.0)
    assert confidence_sequence([1.0] * 50)[1] == pytest.approx(1.0)


def test_chance_of_acceptance_is_close_to_simulation() -> None:
    # 100 pairs with 14 harms and 10 repairs; what follows is drawn from the flat-prior predictive.
    rng = np.random.default_rng(8)
    bar = math.log(200)
    estimate = float(acceptance_chance(4.0, 24.0, 100, 520, bar))
    mean = rng.normal(0.04, math.sqrt(0.25) / 10, 20_000)
    harm, repair = np.clip((0.25 + mean) / 2, 0.001, 0.4), np.clip((0.25 - mean) / 2, 0.001, 0.4)
    harms = 14 + rng.binomial(520, harm)
    repairs = 10 + rng.binomial(520, repair)
    simulated = (log_e_counts(harms, repairs) >= bar).mean()
    assert estimate == pytest.approx(simulated, abs=0.05)
    assert float(acceptance_chance(-20.0, 60.0, 300, 320, bar)) < 0.001
    assert float(acceptance_chance(200.0, 250.0, 400, 0, bar)) == 1.0


def test_values_out_of_range_are_named() -> None:
    for call in (log_e, log_e_path, confidence_sequence):
        with pytest.raises(DataError, match=r"d\[1\]: 1.5"):
            call([0.0, 1.5])
