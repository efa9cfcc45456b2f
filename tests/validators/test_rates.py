import math

import numpy as np
import pytest
from biasscope.validators.proportions import wilson
from biasscope.validators.rates import rate_over_pairs
from scipy.stats import t


def test_single_verdicts_get_wilsons_interval():
    rate = rate_over_pairs([[1.0], [0.0], [float("nan")], [0.0], [1.0, 1.0]])
    assert (rate.pairs, rate.n, rate.rate, rate.method) == (4, 5, 0.5, "Wilson")
    assert (rate.low, rate.high) == wilson(2, 4)


def test_pairs_are_the_units_where_they_count_several_times():
    values = [[1.0, 0.0], [0.0, 0.0], [1.0, 1.0, 0.0], [0.0]]
    means = np.array([0.5, 0.0, 2 / 3, 0.0])
    rate = rate_over_pairs(values)
    half = t.ppf(0.975, 3) * means.std(ddof=1) / 2
    assert rate.n == 8 and rate.rate == pytest.approx(means.mean())
    assert rate.low == 0.0 and rate.high == pytest.approx(means.mean() + half)


def test_nothing_to_count_says_nothing():
    rate = rate_over_pairs([[float("nan")], []])
    assert (rate.pairs, rate.low, rate.high) == (0, 0.0, 1.0) and math.isnan(rate.rate)


def test_coverage_with_many_items_per_pair():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        p = rng.beta(1, 2, 60)
        rate = rate_over_pairs([rng.random(4) < q for q in p])
        hits += rate.low <= 1 / 3 <= rate.high
    assert 0.92 <= hits / 400 <= 0.98
