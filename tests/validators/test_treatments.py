import numpy as np
import pytest
from biasscope.core.errors import DataError
from biasscope.validators.mcnemar import tango
from biasscope.validators.treatments import change, sensitivity

NAN = float("nan")


def test_change_by_hand():
    # 6 pairs with both: before 1 1 0 .5 0 1 (mean 3.5 / 6), after 0 1 0 0 1 0 (mean 2 / 6); a seventh has no verdict.
    before = [1, 1, 0, 0.5, 0, 1, NAN]
    after = [0, 1, 0, 0, 1, 0, 1]
    found = change(before, after, "abcdefg")
    assert (found.items, found.pairs, found.missing) == (6, 6, 1)
    assert found.before == pytest.approx(3.5 / 6)
    assert found.after == pytest.approx(2 / 6)
    assert found.difference == pytest.approx(-1.5 / 6)
    assert (found.ties_before, found.ties_after) == (pytest.approx(1 / 6), 0)
    assert found.low < found.difference < found.high
    assert not found.worse
    assert not found.better


def test_verdicts_have_the_score_interval():
    before, after = [1] * 12 + [0] * 30, [0] * 10 + [1] * 2 + [0] * 27 + [1] * 3
    found = change(before, after, list(range(42)))
    assert (found.low, found.high) == pytest.approx(tango(3, 10, 42))
    assert found.difference == pytest.approx(-7 / 42)


def test_items_of_one_pair_count_as_one():
    """The same pair many times is no evidence that the treatment helps."""
    few = change([1, 1, 0, 0], [0, 1, 0, 1], [1, 2, 3, 4])
    many = change([1, 1, 0, 0] * 50, [0, 1, 0, 1] * 50, [1, 2, 3, 4] * 50)
    assert many.difference == few.difference == 0
    assert many.high - many.low > 0.5


def test_nothing_to_compare():
    found = change([NAN, 1], [1, NAN], ["a", "b"])
    assert (found.items, found.missing, found.low, found.high) == (0, 2, -1.0, 1.0)
    assert np.isnan(found.before)
    with pytest.raises(DataError, match="align both by item"):
        change([1], [1, 0], ["a"])


def test_coverage_with_several_texts_of_a_pair():
    """95 % intervals hold the true change, items correlated within pairs; 3 standard errors of 400 repetitions."""
    generator = np.random.default_rng(5)
    truth, hits, repetitions = -0.15, 0, 400
    for _ in range(repetitions):
        level = generator.beta(1.2, 1.2, 60)[:, None]  # pairs differ in how hard they are
        before = generator.random((60, 4)) < 0.2 + 0.75 * level
        after = generator.random((60, 4)) < 0.05 + 0.75 * level
        pairs = np.repeat(np.arange(60), 4)
        found = change(before.astype(float).ravel(), after.astype(float).ravel(), list(pairs))
        hits += found.low <= truth <= found.high
    assert abs(hits / repetitions - 0.95) < 3 * np.sqrt(0.95 * 0.05 / repetitions)


def test_sensitivity_by_hand():
    # Right as they were: a, b, d; of these a is wrong with the bias, b a tie, d right: (1 + 0.5 + 0) / 3.
    found = sensitivity([0, 0, 1, 0, NAN, 0.5], [1, 0.5, 1, 0, 1, 1], "abcdef")
    assert (found.pairs, found.n) == (3, 3)
    assert found.rate == pytest.approx(0.5)
    assert 0 <= found.low < 0.5 < found.high <= 1
    with pytest.raises(DataError, match="align both by item"):
        sensitivity([0], [0, 1], "ab")
