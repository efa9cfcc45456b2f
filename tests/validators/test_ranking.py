import numpy as np
import pytest
import statsmodels.api as sm
from biasscope.core.errors import DataError
from biasscope.validators.ranking import Flips, gate_flips, log_odds_shift, rank_flips, strengths
from scipy.special import expit, logit


def test_two_models_by_hand() -> None:
    # 30 wins of 40: log-odds log 3, halved around the mean.
    np.testing.assert_allclose(strengths([[0, 30], [10, 0]], ridge=1e-9), (np.log(3) / 2, -np.log(3) / 2), atol=1e-9)


def test_as_in_statsmodels() -> None:
    rng = np.random.default_rng(1)
    true = rng.normal(0, 1, 6)
    wins = np.zeros((6, 6))
    for i in range(6):
        for j in range(i):
            n = int(rng.integers(5, 60))
            wins[i, j] = rng.binomial(n, expit(true[i] - true[j]))
            wins[j, i] = n - wins[i, j]
    rows, design = [], []
    for i in range(6):
        for j in range(i):
            rows.append((wins[i, j], wins[j, i]))
            design.append([float(k == i) - float(k == j) for k in range(1, 6)])
    fit = sm.GLM(np.array(rows), np.array(design), family=sm.families.Binomial()).fit()
    theirs = np.array([0.0, *fit.params])
    np.testing.assert_allclose(strengths(wins, ridge=1e-9), theirs - theirs.mean(), atol=1e-6)


def test_a_model_that_has_won_everything_has_a_finite_strength() -> None:
    s = strengths([[0, 20, 20], [0, 0, 10], [0, 10, 0]])
    assert np.isfinite(s).all()
    assert s[0] > s[1] == pytest.approx(s[2])
    # And so have models that never met.
    assert np.isfinite(strengths([[0, 5, 0, 0], [3, 0, 0, 0], [0, 0, 0, 2], [0, 0, 4, 0]])).all()


def test_bad_tables() -> None:
    with pytest.raises(DataError, match="square table"):
        strengths([[0, 1]])
    with pytest.raises(DataError, match="square table"):
        strengths([[1, 1], [1, 0]])


def test_flips_by_hand() -> None:
    s = [1.0, 0.7, 0.0, -0.05]
    assert rank_flips(s, 0.1) == Flips(1, 1, 0)  # the last overtakes the third
    assert rank_flips(s, 0.5) == Flips(2, 2, 1)  # and the second the first
    assert rank_flips(s, 1.06) == Flips(6, 3, 3)
    assert rank_flips(s, -0.5) == Flips(0, 0, 0)  # a negative bias lifts nobody
    assert rank_flips([0.0, 0.0], 1.0) == Flips(0, 0, 0)


def test_gates_by_hand() -> None:
    # From 0.45 on, 0.2 log-odds are enough for 0.4987..., 0.21 for 0.5.
    assert gate_flips([0.45, 0.3, 0.52, 0.9], 0.5, 0.21) == (1, 1)
    assert gate_flips([0.45, 0.3, 0.52, 0.9], 0.5, 0.05) == (0, 0)
    assert gate_flips([0.0, 1.0], 0.5, 3.0) == (0, 0)


def shift(reference, bias, seed=0):
    return log_odds_shift(reference, bias, np.random.default_rng(seed))


def test_log_odds_by_hand() -> None:
    reference, bias = [0.0] * 79 + [1.0] * 20, [0.0] * 59 + [1.0] * 40
    found = shift(reference, bias)
    assert (found.n, found.value) == (99, pytest.approx(logit(40.5 / 100) - logit(20.5 / 100)))
    found = shift([0, np.nan, 1], [1, 1, np.nan])
    assert (found.n, found.value) == (1, pytest.approx(logit(0.75) - logit(0.25)))
    assert found.interval == (-np.inf, np.inf)
    assert np.isnan(shift([], []).value) and shift([], []).n == 0


def test_probabilities_and_the_plain_bootstrap_agree() -> None:
    """Against resampling row by row, without the pairs drawn together."""
    rng = np.random.default_rng(5)
    reference, bias = rng.beta(2, 5, 120), rng.beta(3, 4, 120)
    found = shift(reference, bias)
    drawn = rng.integers(0, 120, (4000, 120))
    before, after = ((a[drawn].sum(axis=1) + 0.5) / 121 for a in (reference, bias))
    theirs = np.quantile(logit(after) - logit(before), [0.0235, 0.9765])  # expanded for 120 pairs
    np.testing.assert_allclose(found.interval, theirs, atol=0.03)


def test_the_shift_is_found_again() -> None:
    """A bias of 0.8 log-odds on 20,000 pairs of one difficulty."""
    rng = np.random.default_rng(1)
    reference = rng.random(20_000) < 0.3
    bias = rng.random(20_000) < expit(logit(0.3) + 0.8)
    found = shift(reference, bias)
    assert found.value == pytest.approx(0.8, abs=0.06)
    assert found.interval[1] - found.interval[0] < 0.12


@pytest.mark.parametrize(("n", "before", "after"), [(60, 0.2, 0.4), (150, 0.1, 0.15), (150, 0.3, 0.3)])
def test_coverage_of_the_interval(n: int, before: float, after: float) -> None:
    """Paired verdicts with errors in common: what the reference gets wrong, the bias mostly gets wrong too."""
    rng = np.random.default_rng(3)
    true = logit(after) - logit(before)
    inside, repeats = 0, 1000
    for _ in range(repeats):
        hard = rng.random(n)
        own = np.where(rng.random(n) < 0.7, hard, rng.random(n))
        low, high = log_odds_shift(hard < before, own < after, rng, draws=400).interval
        inside += low <= true <= high
    assert inside / repeats >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / repeats)
