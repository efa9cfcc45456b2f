import math

import numpy as np
import pytest
from biasscope.core.errors import DataError
from biasscope.validators.resampling import cluster_mean, cluster_ratio
from biasscope.validators.self_preference import (
    agreement,
    beyond_baseline,
    discriminability,
    equal_quality,
    mitigation,
    panel_agreement,
    panel_view,
    propensity,
    threshold_curve,
    unequal_quality,
)
from scipy.special import expit
from scipy.stats import norm


def rng(seed=0):
    return np.random.default_rng(seed)


def test_panel_by_hand():
    nan = math.nan
    own = [[8.0, 7.0, 6.0], [8.0, 7.0, nan], [5.0, 5.0, 5.0], [nan, nan, nan], [6.0, nan, nan]]
    other = [[7.75, 7.0, 6.0], [7.5, 6.5, 9.0], [5.25, 5.25, 4.5], [5.0, 5.0, 5.0], [6.0, 1.0, 1.0]]
    panel = panel_view(own, other)
    np.testing.assert_allclose(panel.dq, [0.25 / 3, 0.5, 0.0, nan, 0.0], atol=1e-12)
    assert panel.members.tolist() == [3, 2, 3, 0, 1]
    assert panel.majority.tolist() == [0, 1, -1, 0, 0]
    # The second is too far apart; the third has a majority for the other answer; the fourth was not scored.
    assert equal_quality(panel, 0.25).tolist() == [True, False, False, False, True]
    assert unequal_quality(panel, 0.25).tolist() == [False, True, True, False, False]


def test_panel_agreement_is_the_mean_correlation():
    own = np.array([[1.0, 1.0, 3.0], [2.0, 2.0, 2.0], [3.0, 3.5, 1.0]] * 4)
    other = np.zeros_like(own)
    expected = np.corrcoef(own.T)[np.triu_indices(3, 1)].mean()
    assert panel_agreement(own, other) == pytest.approx(expected)
    assert panel_agreement(own[:3], other[:3]) is None
    assert panel_agreement(np.ones((12, 2)), np.zeros((12, 2))) is None


def test_agreement_by_hand():
    found = agreement([0.9, 0.2, 0.5, 0.9, math.nan], [1.0, 1.0, -2.0, 0.0, 1.0])
    np.testing.assert_allclose(found, [1.0, 0.0, 0.5, math.nan, math.nan])
    among = np.ones(5, dtype=bool)
    estimate = discriminability([0.9, 0.2, 0.5, 0.9, math.nan], [1.0, 1.0, -2.0, 0.0, 1.0], among, list("abcde"), rng())
    assert (estimate.value, estimate.n, estimate.clusters) == (0.5, 3, 3)


def test_cluster_mean_by_hand_and_its_interval_as_student_where_each_cluster_has_one():
    values = rng(1).normal(0.3, 1, 60)
    found = cluster_mean([*values, math.nan], [*range(60), 60], rng(2), draws=40_000)
    half = 2.0010 * values.std(ddof=1) / 60**0.5
    assert found.value == pytest.approx(values.mean()) and (found.n, found.clusters) == (60, 60)
    np.testing.assert_allclose(found.interval, (values.mean() - half, values.mean() + half), atol=0.02)
    assert cluster_mean([1.0, 2.0], ["a", "a"], rng()).interval is None
    assert cluster_mean([math.nan], ["a"], rng()).value is None
    with pytest.raises(DataError, match="one per value"):
        cluster_mean([1.0], ["a", "b"], rng())


def test_the_same_seed_gives_the_same_interval():
    values = rng(1).random(30)
    again = [cluster_mean(values, np.arange(30) // 3, rng(9)) for _ in range(2)]
    assert again[0] == again[1]


def correlated(generator, p, prompts, per, shared=0.4):
    z = shared**0.5 * generator.normal(size=(prompts, 1)) + (1 - shared) ** 0.5 * generator.normal(size=(prompts, per))
    return (norm.cdf(z) < p).astype(float).ravel()


@pytest.mark.parametrize(("prompts", "per", "p"), [(15, 3, 0.5), (40, 4, 0.7), (60, 2, 0.5)])
def test_coverage_of_the_propensity(prompts, per, p):
    generator, hits = rng(3), 0
    labels = np.repeat(np.arange(prompts), per)
    for _ in range(500):
        own = correlated(generator, p, prompts, per)
        found = cluster_mean(own - 0.5, labels, generator, draws=500)
        hits += found.interval[0] <= p - 0.5 <= found.interval[1]
    assert 0.92 <= hits / 500 <= 0.98


def test_what_every_judge_prefers_is_no_self_preference():
    generator = rng(4)
    prompts = np.repeat(np.arange(60), 4)
    hidden = generator.normal(0.8, 0.5, 240)  # quality that the scores missed
    judge = expit(1.5 * hidden)
    panel = np.mean([expit(1.5 * hidden + generator.normal(0, 0.2, 240)) for _ in range(3)], axis=0)
    among = np.ones(240, dtype=bool)
    assert propensity(judge, among, prompts, rng(5)).interval[0] > 0.1
    low, high = beyond_baseline(judge, panel, among, prompts, rng(5)).interval
    assert low <= 0.0 <= high and high - low < 0.05
    assert beyond_baseline(expit(1.5 * hidden + 1), panel, among, prompts, rng(5)).interval[0] > 0.05


def test_the_curve_takes_in_more_pairs_as_the_threshold_grows():
    generator = rng(6)
    own_scores = np.round(generator.normal(7, 1, (200, 2)) * 4) / 4
    other_scores = np.round(generator.normal(7, 1, (200, 2)) * 4) / 4
    panel = panel_view(own_scores, other_scores)
    curve = threshold_curve(expit(panel.dq + 0.4), panel, np.arange(200) // 2, seed=7)
    sizes = [point.estimate.n for point in curve]
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1]
    at = next(point for point in curve if point.delta == 0.25)
    direct = propensity(expit(panel.dq + 0.4), equal_quality(panel, 0.25), np.arange(200) // 2, rng(7))
    assert at.estimate == direct


def test_mitigation_by_hand():
    prompts = np.arange(40)
    before, after = np.full(40, 0.75), np.full(40, 0.65)
    before[::2], after[::2] = 0.85, 0.6
    among = np.ones(40, dtype=bool)
    among[5] = False
    after[6] = math.nan
    found = mitigation(before, after, among, prompts, seed=1)
    assert found.before.n == found.after.n == 38
    kept = [k for k in range(40) if k not in (5, 6)]
    assert found.before.value == pytest.approx(np.mean(before[kept]) - 0.5)
    assert found.reduction.value == pytest.approx(np.mean(before[kept] - after[kept]))
    assert found.relative.value == pytest.approx(1 - (np.mean(after[kept]) - 0.5) / (np.mean(before[kept]) - 0.5))
    assert found.relative.interval[0] < found.relative.value < found.relative.interval[1]


def test_nothing_to_reduce_has_no_relative_reduction():
    own = np.where(np.arange(40) % 2, 0.9, 0.1)
    found = mitigation(own, np.full(40, 0.5), np.ones(40, dtype=bool), np.arange(40), seed=1)
    assert found.relative is None and found.reduction.value == pytest.approx(0.0)


def test_coverage_of_the_relative_reduction():
    generator, hits = rng(8), 0
    labels = np.repeat(np.arange(60), 3)
    for _ in range(400):
        own = correlated(generator, 0.8, 60, 3)
        milder = np.where(generator.random(180) < 0.5, own, correlated(generator, 0.5, 60, 3))
        found = cluster_ratio(own - milder, own - 0.5, labels, generator, draws=500)
        hits += found.interval[0] <= 0.5 <= found.interval[1]
    assert 0.92 <= hits / 400 <= 0.98


def test_a_ratio_of_nothing_is_none():
    assert cluster_ratio([1.0, -1.0], [1.0, -1.0], [1, 2], rng()).value is None
    assert cluster_ratio([math.nan], [1.0], [1], rng()).n == 0
