"""Scores of judges on a benchmark, against values worked by hand."""

import math

import pytest
from biasscope.builders.benchmark.evaluate import source_pair
from biasscope.builders.benchmark.leaderboard import evaluation_markdown, leaderboard
from biasscope.builders.benchmark.scores import error_of, evaluation
from biasscope.core.records import PreferencePair
from biasscope.data.benchmark import make_row, public_name
from biasscope.validators.clusters import cluster_difference, cluster_rate


def row(pair, bias="length", domain="Math", judges="old", by="people"):
    source = PreferencePair(
        id=f"s{pair}", prompt=f"Q{pair}", chosen="right", rejected="wrong", domain=domain, source="d", source_id="x"
    )
    return make_row(
        source,
        f"wrong, {bias}",
        seed=0,
        bias=bias,
        bias_id=bias,
        bias_definition="d",
        perturbation_id="p",
        teacher="t",
        filter_judges=judges,
        filter_judges_before="",
        answers_differ_by=by,
    )


ROWS = [row(0), row(0, "tone"), row(1, domain="Code"), row(2, domain="Code")]
R, C = "rejected", "chosen"


def given(judge, *verdicts):
    items = {(judge, row.pair_id): v for row, v in zip(ROWS, verdicts, strict=True)}
    sources = {(judge, "s0"): (C, C), (judge, "s1"): (R, C), (judge, "s2"): (C, C)}
    return items, sources


def test_error_of_an_item():
    assert error_of((R, C)) == 0.5
    assert error_of((R, "tie")) == 1.0
    assert error_of((C, None)) == 0.0
    assert math.isnan(error_of(("tie", "invalid", None)))
    assert math.isnan(error_of(()))


def test_a_judge_by_hand():
    """Items 1, 0.5, 0, none: mean 0.5 over 3. Source of the same: 0, 0, 0.5. Differences 1, 0.5, -0.5: mean 1/3."""
    items, sources = given("new@http://h/v1#reasoning", (R, R), (R, C), (C, C), ("tie", None))
    [score] = evaluation("b", ROWS, items, sources).judges
    assert score.judge == "new#reasoning"
    groups = ["s0", "s0", "s1"]
    assert score.overall.error.value == pytest.approx(0.5)
    expected = cluster_rate([1, 0.5, 0], groups)
    assert (score.overall.error.low, score.overall.error.high) == (expected.low, expected.high)
    assert score.overall.difference.value == pytest.approx(1 / 3)
    assert score.overall.difference.low == cluster_difference([1, 0.5, -0.5], groups)[1]
    assert score.overall.source.value == pytest.approx((0 + 0 + 0.5 + 0) / 4)
    assert (score.wrong_in_both, score.inconsistent) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert score.verdicts == {"chosen": 3, "failed": 1, "rejected": 3, "tie": 1}
    assert {p.name: p.error.value for p in score.by_domain} == {"Code": 0.0, "Math": 0.75}
    assert {p.name: p.error.items for p in score.by_bias} == {"length": 2, "tone": 1}
    assert not score.chose_items


def test_a_judge_that_chose_the_items_is_marked_and_stands_last():
    a, b = given("old", *[(C, C)] * 4), given("new", *[(R, R)] * 4)
    found = evaluation("b", ROWS, a[0] | b[0], a[1] | b[1])
    assert [(s.judge, s.chose_items) for s in found.judges] == [("new", False), ("old", True)]
    text = leaderboard(found)
    assert "| old † | 0.0 |" in text and "| new | 100.0 |" in text
    assert "not comparable with the others" in text
    assert found.human_verified and found.pairs == 3


def test_names_without_addresses():
    assert public_name("openai:m@http://10.0.0.1:8000/v1#verdict") == "openai:m#verdict"
    assert public_name("local:smollm2#reasoning") == "local:smollm2#reasoning"


def test_hostile_names_stay_text():
    items, sources = given("<script>|x|", *[(R, C)] * 4)
    text = evaluation_markdown(evaluation("<b>|", ROWS, items, sources), "plots/x.svg")
    assert "<script>" not in text and "<b>" not in text
    assert all(line.count(" | ") in (8, 6) for line in text.split("\n") if line.startswith("| ") and "---" not in line)


def test_the_source_pair_of_an_item():
    pair = source_pair(ROWS[2])
    assert (pair.id, pair.chosen, pair.rejected, pair.domain) == ("s1", "right", "wrong", "Code")
