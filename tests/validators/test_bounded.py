import itertools
import math

import numpy as np
import pytest
from biasscope.core.errors import DataError
from biasscope.validators.bounded import _z, bounds, p_above, p_below
from biasscope.validators.mcnemar import tango
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm


def verdicts(harms: int, repairs: int, n: int) -> np.ndarray:
    return np.array([1.0] * harms + [-1.0] * repairs + [0.0] * (n - harms - repairs))


def test_a_value_worked_by_hand() -> None:
    # 2 harms, 1 repair, 100 pairs against 5 points: mean 0.01, square 0.03; share at +1 = 0.04 / 0.99;
    # V = (1 - 0.0404) * 0.03 + 0.0404 - 0.0025; z = -0.04 / sqrt(V / 100).
    share = 0.04 / 0.99
    z = 0.04 / math.sqrt(((1 - share) * 0.03 + share - 0.0025) / 100)
    assert p_below(verdicts(2, 1, 100), 0.05) == pytest.approx(norm.sf(z), rel=1e-12)
    assert p_above(verdicts(1, 2, 100), -0.05) == pytest.approx(norm.sf(z), rel=1e-12)


@pytest.mark.parametrize(("harms", "n"), [(0, 60), (1, 100), (3, 200), (9, 400)])
def test_without_repairs_it_is_tangos_upper_bound(harms: int, n: int) -> None:
    assert bounds(verdicts(harms, 0, n), 0.975)[1] == pytest.approx(tango(harms, 0, n)[1], abs=1e-6)


@pytest.mark.parametrize(("harms", "repairs", "n"), [(20, 8, 200), (30, 30, 300), (60, 20, 620), (5, 12, 150)])
def test_near_tango_and_never_much_wider(harms: int, repairs: int, n: int) -> None:
    low, high = bounds(verdicts(harms, repairs, n), 0.975)
    theirs = tango(harms, repairs, n)
    assert 0.99 <= (high - low) / (theirs[1] - theirs[0]) <= 1.15
    assert low <= theirs[0] + 1e-3 and high >= theirs[1] - 1e-3


@given(
    st.lists(st.floats(-1, 1) | st.just(math.nan), max_size=60),
    st.floats(-0.99, 0.99),
    st.sampled_from([0.8, 0.95, 0.995]),
)
def test_the_bound_and_the_test_give_one_answer(d: list[float], margin: float, level: float) -> None:
    low, high = bounds(d, level)
    assert -1 <= low <= high <= 1
    if abs(margin - low) > 1e-6 and low > -1:
        assert (p_above(d, margin) < 1 - level) == (low > margin)
    if abs(margin - high) > 1e-6 and high < 1:
        assert (p_below(d, margin) < 1 - level) == (high < margin)


def test_no_data_and_bad_margins() -> None:
    assert bounds([]) == (-1.0, 1.0)
    assert p_above([], 0.05) == p_below([math.nan], 0.05) == 1.0
    with pytest.raises(DataError, match=r"margin: 5 is not in \[-1, 1\]"):
        p_above([0.0, 1.0], 5)


def rejections(n: int, margin: float, repair: float, alpha: float, above: bool) -> float:
    """Exact: the chance that the test rejects when E[d] is the margin, over every table of verdicts."""
    harm = repair + margin
    harms, repairs = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    there = harms + repairs <= n
    harms, repairs = harms[there], repairs[there]
    chance = np.exp(binom.logpmf(harms, n, harm) + binom.logpmf(repairs, n - harms, min(1.0, repair / (1 - harm))))
    mean, square = (harms - repairs) / n, (harms + repairs) / n
    sign = 1.0 if above else -1.0
    lead, limit = sign * (mean - margin), sign * margin
    share = np.clip(lead / (1 + sign * mean + 1e-300), 0, 1)
    z = lead / np.sqrt(np.maximum((1 - share) * square + share - limit * limit, 1e-15) / n)
    return float(chance[z >= norm.isf(alpha) - 1e-12].sum())


def test_the_enumeration_uses_the_same_statistic() -> None:
    d = verdicts(13, 5, 120)
    assert _z(d.mean(), d @ d / 120, 120, 0.03) == pytest.approx(norm.isf(p_above(d, 0.03)), rel=1e-9)


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("n", [30, 100, 200, 400])
def test_exact_level_for_verdicts(n: int, above: bool) -> None:
    for alpha, margin, repair in itertools.product((0.05, 0.005), (0.0, 0.03, 0.05, 0.1), (0, 0.01, 0.05, 0.4)):
        assert rejections(n, margin, repair, alpha, above) <= 1.21 * alpha, (alpha, margin, repair)


def both_orders(rng: np.random.Generator, size: tuple[int, int], effect: float) -> np.ndarray:
    """Means of two verdicts that mostly move together, so that halves are there but rare."""
    one = rng.choice([1.0, -1.0, 0.0], size, p=[0.05 + effect, 0.05, 0.9 - effect])
    fresh = rng.choice([1.0, -1.0, 0.0], size, p=[0.05 + effect, 0.05, 0.9 - effect])
    return (one + np.where(rng.random(size) < 0.6, one, fresh)) / 2


def probabilities(rng: np.random.Generator, size: tuple[int, int], effect: float) -> np.ndarray:
    """Mostly near 0 with a heavy tail to the right, as shifts of a confident judge are."""
    moved = rng.random(size) < 0.15
    return np.where(moved, rng.beta(2, 2, size) * (effect / 0.15) * 2, rng.normal(0, 0.004, size).clip(-0.1, 0.1))


def changes(rng: np.random.Generator, size: tuple[int, int], effect: float) -> np.ndarray:
    """Half the change of an effect between two times; few pairs change at all."""
    twice = 2 * effect
    return rng.choice([1.0, 0.5, -0.5, 0.0], size, p=[0.01, 0.02 + twice, 0.04, 0.93 - twice])


@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize(
    ("draw", "effect"), [(both_orders, 0.05), (probabilities, 0.05), (changes, 0.0), (changes, 0.025)]
)
def test_level_for_other_outcomes(draw, effect: float, n: int) -> None:
    """5,000 repetitions at the margin itself; 6 % with three standard errors of simulation."""
    d = draw(np.random.default_rng(n), (5000, n), effect)
    assert d.mean() == pytest.approx(effect, abs=0.001)
    for test in (p_above, p_below):
        assert np.mean([test(row, effect) < 0.05 for row in d]) <= 0.06 + 3 * math.sqrt(0.06 / 5000)


def test_power_is_near_that_of_tango_and_far_from_none() -> None:
    """True effect 0 with 15 % discordant pairs must be shown to lie under 5 points in most runs of 400 pairs."""
    rng = np.random.default_rng(5)
    counts = rng.multinomial(400, [0.075, 0.075, 0.85], 2000)
    ours = np.mean([p_below(verdicts(h, r, 400), 0.05) < 0.05 for h, r, _ in counts])
    theirs = np.mean([tango(h, r, 400, 0.9)[1] < 0.05 for h, r, _ in counts])
    assert ours > 0.75
    assert ours > theirs - 0.05
