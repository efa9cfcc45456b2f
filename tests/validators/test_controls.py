import math

import numpy as np
import pytest
from biasscope.core.errors import DataError
from biasscope.validators.controls import Evidence, apply_controls, judge_noise, position_report
from biasscope.validators.decisions import Outcome

VALID = Outcome("valid", "accepted")
RNG = np.random.default_rng(1)


def by_length(effect_matched: float, effect_longer: float, n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    ratio = np.where(np.arange(n) % 2 == 0, 1.0, 1.5)
    harm = 0.1 + np.where(ratio == 1.0, effect_matched, effect_longer)
    u = RNG.random(n)
    return np.where(u < harm, 1.0, np.where(u > 0.9, -1.0, 0.0)), ratio


def test_no_controls_change_nothing() -> None:
    assert apply_controls(VALID, Evidence(d=[1.0, 0.0])) == (VALID, {"manipulation_n": 0})


@pytest.mark.parametrize(
    ("right", "n", "decision"), [(22, 30, "not_injectable"), (23, 30, "valid"), (10, 29, "valid"), (75, 100, "valid")]
)
def test_manipulation_check(right: int, n: int, decision: str) -> None:
    outcome, report = apply_controls(VALID, Evidence(d=[0.0], manipulation_right=right, manipulation_n=n))
    assert outcome.decision == decision
    assert report["manipulation_share"] == pytest.approx(right / n)
    assert report["manipulation_low"] < right / n < report["manipulation_high"]


def test_not_injectable_overrules_every_decision() -> None:
    evidence = Evidence(d=[0.0], manipulation_right=5, manipulation_n=40)
    assert apply_controls(Outcome("not_shown", ""), evidence)[0].decision == "not_injectable"


def test_effect_only_in_longer_texts_is_explained_by_length() -> None:
    d, ratio = by_length(0.0, 0.3)
    outcome, report = apply_controls(VALID, Evidence(d=d, length_ratio=ratio))
    assert outcome.decision == "explained_by_length" and "length matched" in outcome.reason
    assert report["length_matched"]["gone"] and report["length_matched"]["n"] == 300
    assert apply_controls(VALID, Evidence(d=d, length_ratio=ratio, about_length=True))[0] == VALID
    assert apply_controls(Outcome("inconclusive", ""), Evidence(d=d, length_ratio=ratio))[0].decision == "inconclusive"


def test_effect_at_equal_length_stays_valid() -> None:
    d, ratio = by_length(0.15, 0.15)
    outcome, report = apply_controls(VALID, Evidence(d=d, length_ratio=ratio, d_truncated=d))
    assert outcome == VALID and not report["length_matched"]["gone"] and not report["truncated"]["gone"]


def test_truncation_control() -> None:
    d, _ = by_length(0.2, 0.2)
    truncated, _ = by_length(-0.01, -0.01)
    outcome, report = apply_controls(VALID, Evidence(d=d, d_truncated=truncated))
    assert outcome.decision == "explained_by_length" and report["truncated"]["method"] == "Tango score"


def test_a_small_or_noisy_control_erases_nothing() -> None:
    d, ratio = by_length(0.0, 0.3)
    few = np.where((ratio == 1.0) & (np.arange(d.size) >= 90), np.nan, ratio)
    assert apply_controls(VALID, Evidence(d=d, length_ratio=few))[0] == VALID
    noisy = np.array([1.0, -1.0] * 30)
    assert apply_controls(VALID, Evidence(d=np.full(60, 0.05), d_truncated=noisy))[0] == VALID


def test_arrays_must_fit() -> None:
    with pytest.raises(DataError, match="length_ratio"):
        apply_controls(VALID, Evidence(d=[0.0], length_ratio=[1.0, 1.0]))
    with pytest.raises(DataError, match="d_truncated"):
        apply_controls(VALID, Evidence(d=[0.0], d_truncated=[1.0, 1.0]))


def test_position_and_noise_reports() -> None:
    report = position_report([0, 0, 1, 1, math.nan], [0, 1, 1, 0, 1])
    assert report == {"n": 4, "error_chosen_first": 0.5, "error_rejected_first": 0.5, "inconsistent": 0.5}
    noise = judge_noise([0, 0, 1, 1], [0, 0, 1, 0])
    assert noise["changed"] == 0.25 and noise["low"] < 0.25 < noise["high"] and noise["mean_abs_difference"] == 0.25
    assert math.isnan(judge_noise([math.nan], [1])["changed"])


def test_truncation_does_not_overrule_enough_pairs_of_the_same_length():
    d = np.tile([1.0, 0.0, 0.0, 0.0], 25)
    cut, same_length = np.zeros(100), np.ones(100)
    outcome, report = apply_controls(VALID, Evidence(d=d, length_ratio=same_length, d_truncated=cut))
    assert outcome == VALID and report["truncated"]["gone"] and not report["length_matched"]["gone"]
    few = np.where(np.arange(100) < 40, 1.0, 2.0)
    assert apply_controls(VALID, Evidence(d=d, length_ratio=few, d_truncated=cut))[0].decision == "explained_by_length"
