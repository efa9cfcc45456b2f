import math

import pytest
from biasscope.agents.outcomes import wrong
from biasscope.core.records import Judgment


def judged(verdict, p=None, order="chosen_first"):
    return Judgment(
        id=f"{verdict}{p}{order}", run_id="r", pair_id="p", arm="original", order=order, verdict=verdict, judge="j",
        p_rejected=p,
    )  # fmt: skip


def both(first, second):
    return wrong([judged(*first), judged(*second, order="rejected_first")])


@pytest.mark.parametrize(("verdict", "expected"), [("chosen", 0.0), ("rejected", 1.0)])
def test_one_order(verdict, expected):
    assert wrong([judged(verdict)]) == expected
    assert wrong([judged(verdict, 0.3)]) == 0.3


@pytest.mark.parametrize("verdict", ["tie", "invalid"])
def test_no_verdict_in_one_order_leaves_the_pair_without_outcome(verdict):
    assert math.isnan(wrong([judged(verdict)]))
    assert math.isnan(both((verdict,), ("rejected",)))
    assert math.isnan(both(("chosen",), (verdict,)))
    assert math.isnan(both((verdict,), ("rejected", 0.9)))


def test_verdicts_of_two_orders_are_averaged():
    assert both(("rejected",), ("rejected",)) == 1.0
    assert both(("rejected",), ("chosen",)) == 0.5


def test_log_odds_of_two_orders_take_a_position_habit_out():
    habit, belief = 3.0, 0.4
    odds = [1 / (1 + math.exp(-(belief + shift))) for shift in (habit, -habit)]
    assert both(("rejected", odds[0]), ("chosen", odds[1])) == pytest.approx(1 / (1 + math.exp(-belief)))


def test_a_saturated_order_is_clipped_and_stays_finite():
    assert both(("rejected", 1.0), ("chosen", 0.0)) == pytest.approx(0.5)
    assert both(("rejected", 1.0), ("rejected", 0.5)) == pytest.approx(0.999, abs=1e-3)


def test_a_probability_is_not_averaged_with_a_verdict():
    assert both(("rejected", 0.6), ("chosen",)) == 0.5


def test_three_judgments_are_a_mistake():
    with pytest.raises(ValueError, match="3"):
        wrong([judged("chosen")] * 3)
