"""Rates over groups: coverage by Monte Carlo, values worked by hand, agreement with statsmodels."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from biasscope.core.errors import DataError
from biasscope.validators.clusters import cluster_difference, cluster_rate
from biasscope.validators.mcnemar import tango
from biasscope.validators.proportions import wilson


def test_single_items_are_wilsons_interval():
    found = cluster_rate([1, 0, 1, 1], list("abcd"))
    assert (found.rate, found.low, found.high) == (0.75, *wilson(3, 4))
    assert found.method == "Wilson"


def test_a_value_worked_by_hand():
    """Groups (1, 1), (0), (0, 1): p = 3/5; sums of x - p: 0.8, -0.6, -0.2; v = 3/2 * 1.04 / 25 = 0.0624."""
    mean, low, high, method = cluster_difference([1, 1, 0, 0, 1], list("aabcc"))
    half = 4.302652729911275 * math.sqrt(0.0624)  # t, 2 degrees of freedom
    assert mean == 0.6
    assert (low, high) == (pytest.approx(0.6 - half), 1.0)
    assert method == "t over groups"


def test_variance_is_that_of_a_regression_with_clustered_errors():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), rng.integers(1, 8, 40))
    d = rng.choice([-1.0, 0.0, 1.0], groups.size)
    fit = sm.OLS(d, np.ones((d.size, 1))).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": True}, use_t=True
    )
    _, low, high, _ = cluster_difference(d, list(groups))
    half = (fit.conf_int()[0, 1] - fit.conf_int()[0, 0]) / 2
    assert (high - low) / 2 == pytest.approx(half)


def test_single_differences_are_tangos_interval():
    d = [1, 1, -1, 0, 0, 0, float("nan")]
    mean, low, high, method = cluster_difference(d, list(range(7)))
    assert (mean, low, high) == (pytest.approx(1 / 6), *tango(2, 1, 6))
    assert method == "Tango score"


def test_equal_differences_count_once_a_group():
    assert cluster_difference([0, 0, 0, 0, 0], list("aabbc"))[1:3] == tango(0, 0, 3)
    assert cluster_difference([1, 1, 1], list("aab"))[1:3] == tango(2, 0, 2)
    assert cluster_difference([0.5, 0.5, 0.5], list("aab"))[1:3] == (-1.0, 1.0)


def test_nothing_and_nonsense():
    assert cluster_rate([], []).method == "none"
    assert cluster_rate([1.0, 1.0], ["a", "a"]).low == 0.0
    assert math.isnan(cluster_difference([float("nan")], ["a"])[0])
    with pytest.raises(DataError, match="groups: 1 for 2 values"):
        cluster_rate([1, 0], ["a"])
    with pytest.raises(DataError, match=r"values\[1\]: 2.0"):
        cluster_rate([1, 2], ["a", "b"])


def draws(rng, groups, rate, spread):
    """Items of groups with a rate of their own (beta), so that items of one group are alike."""
    sizes = rng.integers(1, 11, groups)
    own = rng.beta(rate * spread, (1 - rate) * spread, groups)
    codes = np.repeat(np.arange(groups), sizes)
    return (rng.random(codes.size) < own[codes]).astype(float), codes


@pytest.mark.parametrize(
    ("groups", "rate", "spread"), [(20, 0.5, 1.0), (60, 0.5, 1.0), (60, 0.9, 2.0), (200, 0.3, 5.0)]
)
def test_coverage_of_the_rate_when_groups_are_alike(groups, rate, spread):
    rng = np.random.default_rng(7)
    inside, naive = 0, 0
    for _ in range(1500):
        x, codes = draws(rng, groups, rate, spread)
        found = cluster_rate(x, list(codes))
        inside += found.low <= rate <= found.high
        low, high = wilson(int(x.sum()), x.size)
        naive += low <= rate <= high
    assert inside / 1500 > 0.93
    assert naive < inside


def test_coverage_of_the_difference():
    rng = np.random.default_rng(8)
    inside = 0
    for _ in range(1500):
        one, codes = draws(rng, 60, 0.6, 1.0)
        two = (rng.random(codes.size) < 0.4).astype(float)
        _, low, high, _ = cluster_difference(one - two, list(codes))
        inside += low <= 0.2 <= high
    assert 0.93 < inside / 1500 < 0.97
