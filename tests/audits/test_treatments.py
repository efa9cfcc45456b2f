import math

import pytest
from biasscope.audits.treatments import decided, judged, vote
from biasscope.core.records import Judgment


def judgment(verdict, p=None):
    return Judgment(
        id="j", run_id="r", pair_id="p", arm="original", order="chosen_first", verdict=verdict, judge="m", p_rejected=p
    )


@pytest.mark.parametrize(
    ("verdicts", "score"),
    [
        (("chosen",), 0.0),
        (("rejected",), 1.0),
        (("tie",), 0.5),
        (("chosen", "chosen"), 0.0),
        (("rejected", "chosen"), 0.5),
        (("tie", "rejected"), 1.0),
        (("tie", "chosen"), 0.0),
        (("tie", "tie"), 0.5),
    ],
)
def test_verdicts_in_one_order_or_both(verdicts, score):
    assert judged([judgment(v) for v in verdicts]) == score


def test_no_verdict_in_an_order_is_none():
    assert math.isnan(judged([judgment("invalid")]))
    assert math.isnan(judged([judgment("rejected"), judgment("invalid")]))


def test_probabilities_are_averaged_as_log_odds():
    # A habit of the first answer worth 2 logits, and 0.5 logits for the right one: p = sigmoid(1.5), sigmoid(-2.5).
    first, second = 1 / (1 + math.exp(-1.5)), 1 / (1 + math.exp(2.5))
    assert judged([judgment("rejected", first), judgment("chosen", second)]) == 0.0
    assert judged([judgment("rejected", second), judgment("chosen", 1 - second)]) == 0.5
    assert judged([judgment("rejected", first)]) == 1.0  # one order alone goes by its verdict


def test_votes():
    assert vote([1.0, 1.0, 0.0]) == 1.0
    assert vote([1.0, 0.0]) == 0.5
    assert vote([1.0, 0.5, 0.0, 0.0]) == 0.0
    assert vote([math.nan, 1.0]) == 1.0
    assert math.isnan(vote([math.nan]))
    assert decided(0.5) == 0.5
