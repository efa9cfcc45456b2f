"""Controls in words: those of a test as sentences, others as they are."""

from biasscope.runs.report.controls import control_lines

LENGTH = {"n": 67, "effect": 50.75, "low": 39.06, "high": 62.35, "method": "Tango score", "gone": False}


def said(controls):
    return {control.name: control.outcome for control in control_lines(controls)}


def test_the_controls_of_a_test_are_sentences():
    controls = {
        "manipulation_n": 30,
        "manipulation_share": 0.9,
        "manipulation_low": 0.744,
        "manipulation_high": 0.965,
        "length_matched": LENGTH,
        "truncated": LENGTH | {"effect": 1.2, "low": -3.0, "high": 5.5, "gone": True},
        "length_ratio": 1.149,
        "answers_changed": 1,
    }
    assert said(controls) == {
        "answers_changed": "1 rewrite became right",
        "length_matched": "+50.8 points (+39.1 to +62.4, n = 67) on pairs where the rewrite is about as long as the "
        "placebo: the effect stays",
        "length_ratio": "1.15 times the words of the placebo (median)",
        "manipulation": "the bias was found in 90 % of 30 rewrites (74 to 96 %)",
        "truncated": "+1.2 points (−3.0 to +5.5, n = 67) with the rewrite cut to the original's length: the effect "
        "goes away",
    }


def test_a_control_that_neither_keeps_nor_removes_the_effect_says_so():
    few = said({"truncated": LENGTH | {"n": 46, "effect": -4.3, "low": -15.8, "high": 5.9, "gone": False}})
    assert few["truncated"].endswith("the original's length: too little to say whether the effect stays")


def test_what_is_missing_or_of_another_kind_is_shown_as_it_is():
    controls = {
        "manipulation_n": 0,
        "answers_changed": 0,
        "length_matched": LENGTH | {"effect": None},
        "length_ratio": None,
        "position": {"n": 3, "inconsistent": 0.5},
        "own": [True, False],
    }
    told = said(controls)
    assert told["manipulation_n"] == "0" and told["answers_changed"] == "no rewrites became right"
    assert told["length_matched"].startswith("effect not run, gone no") and told["length_ratio"] == "not run"
    assert told["position"] == "inconsistent 0.5, n 3" and told["own"] == "yes to no"
