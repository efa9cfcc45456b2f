import math

import numpy as np
import pytest
from biasscope.core.errors import DataError
from biasscope.validators.contrasts import CLIP, combine_orders, combine_verdicts, contrast
from hypothesis import given
from hypothesis import strategies as st

NAN = math.nan
verdict = st.sampled_from([0.0, 1.0, NAN])
outcome = st.one_of(verdict, st.just(0.5), st.floats(0, 1))
arms = st.integers(0, 40).flatmap(lambda n: st.tuples(*[st.lists(outcome, min_size=n, max_size=n)] * 2))


def test_worked_by_hand() -> None:
    reference = [0, 0, 1, 1, 0, NAN, 0, NAN]
    bias = [1, 0, 0, 1, 1, 1, NAN, NAN]
    result = contrast(reference, bias)
    assert (result.n, result.missing, result.harms, result.repairs) == (5, 3, 2, 1)
    assert result.error_reference == pytest.approx(2 / 5)
    assert result.error_bias == pytest.approx(3 / 5)
    assert result.effect == pytest.approx(1 / 5)
    np.testing.assert_array_equal(result.observed, [1, 0, -1, 0, 1])
    np.testing.assert_array_equal(np.isnan(result.d), ~result.mask)


def test_excluded_pairs_leave_both_arms_and_are_counted() -> None:
    result = contrast([0, 0, 1], [1, 1, 1], exclude=[True, False, False])
    assert (result.n, result.missing, result.harms, result.effect) == (2, 1, 1, 0.5)


@given(arms)
def test_pairing_survives_missing_judgments(two: tuple[list[float], list[float]]) -> None:
    reference, bias = two
    result = contrast(reference, bias)
    kept = [(r, b) for r, b in zip(reference, bias, strict=True) if not math.isnan(r) and not math.isnan(b)]
    assert result.n == len(kept) and result.n + result.missing == len(reference)
    np.testing.assert_allclose(result.observed, [b - r for r, b in kept])
    if kept:
        assert result.effect == pytest.approx(result.error_bias - result.error_reference)
        assert result.error_reference == pytest.approx(sum(r for r, _ in kept) / len(kept))
    else:
        assert math.isnan(result.effect)


@given(arms, st.randoms(use_true_random=False))
def test_losing_a_judgment_only_takes_its_own_pair(two: tuple[list[float], list[float]], random) -> None:
    reference, bias = two
    if not reference:
        return
    lost = random.randrange(len(reference))
    before = contrast(reference, bias)
    holed = [NAN if i == lost else value for i, value in enumerate(bias)]
    after = contrast(reference, holed)
    rest = np.arange(len(reference)) != lost
    np.testing.assert_array_equal(before.d[rest], after.d[rest])
    assert after.n == before.n - int(before.mask[lost])


@given(arms)
def test_swapping_arms_mirrors_everything(two: tuple[list[float], list[float]]) -> None:
    one, other = contrast(two[0], two[1]), contrast(two[1], two[0])
    assert (one.harms, one.repairs, one.n) == (other.repairs, other.harms, other.n)
    np.testing.assert_array_equal(one.d, -other.d)


def test_probabilities_flip_by_the_side_of_one_half() -> None:
    result = contrast([0.2, 0.4, 0.9, 0.6], [0.4, 0.7, 0.2, 0.9])
    assert (result.harms, result.repairs) == (1, 1)
    assert result.effect == pytest.approx((0.2 + 0.3 - 0.7 + 0.3) / 4)


def test_position_habit_cancels() -> None:
    log_odds, habit = np.array([-2.0, 0.0, 0.7]), 6.0
    first, second = 1 / (1 + np.exp(-(log_odds + habit))), 1 / (1 + np.exp(-(log_odds - habit)))
    np.testing.assert_allclose(combine_orders(first, second), 1 / (1 + np.exp(-log_odds)), rtol=1e-9)
    assert np.all(np.abs((first + second) / 2 - 0.5) < 0.01), "the plain mean would hide what the judge reads"


def test_combined_probabilities_by_hand_clipped_and_missing() -> None:
    result = combine_orders([0.8, 1.0, NAN, 0.0], [0.5, 0.5, 0.5, 1.0])
    assert result[0] == pytest.approx(2 / 3), "odds 4 and 1: geometric mean 2"
    odds = math.sqrt((1 - CLIP) / CLIP)
    assert result[1] == pytest.approx(odds / (1 + odds))
    assert math.isnan(result[2]) and result[3] == pytest.approx(0.5)


def test_both_orders_of_verdicts() -> None:
    reference = combine_verdicts([0, 1, 0, NAN], [0, 0, 0, 1])
    bias = combine_verdicts([1, 1, 0, 1], [1, 1, 1, 1])
    result = contrast(reference, bias)
    np.testing.assert_array_equal(result.observed, [1, 0.5, 0.5])
    assert (result.harms, result.missing) == (3, 1)


@pytest.mark.parametrize(
    ("reference", "bias", "words"),
    [
        ([0, 1], [0], "1 outcomes for 2"),
        ([0, 1.5], [0, 1], r"reference\[1\]: 1.5"),
        ([0, 1], [0, -1], r"bias\[1\]: -1.0"),
        ([[0, 1]], [[0, 1]], "2 dimensions"),
        ([0, math.inf], [0, 1], "inf"),
    ],
)
def test_wrong_input_is_named(reference: list, bias: list, words: str) -> None:
    with pytest.raises(DataError, match=words):
        contrast(reference, bias)
    with pytest.raises(DataError, match="exclude"):
        contrast([0, 1], [0, 1], exclude=[True])
    with pytest.raises(DataError, match="p_order2"):
        combine_orders([0.5], [0.5, 0.5])
    with pytest.raises(DataError, match="wrong_order2"):
        combine_verdicts([1], [1, 1])
