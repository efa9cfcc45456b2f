import gzip
import json
import math
import os
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from biasscope.core.errors import DataError
from biasscope.validators.mcnemar import mcnemar_exact
from biasscope.validators.proportions import wilson
from biasscope.validators.sensitivity import (
    FlipTable,
    corrected,
    flip_table,
    margin_change,
    overall_bsr,
    sensitivity,
    table_from_margins,
)
from hypothesis import given
from scipy.stats import norm, ttest_rel
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

COUNTS = st.integers(0, 60)


def test_a_table_worked_by_hand():
    # Ten pairs: six right before, of which two turn wrong; four wrong before, of which one turns right; two without a
    # verdict in one arm.
    original = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, math.nan]
    biased = [0, 0, 0, 0, 1, 1, 0, 1, 1, 1, math.nan, 0]
    table = flip_table(original, biased)
    assert table == FlipTable(both_right=4, harms=2, repairs=1, both_wrong=3)
    found = sensitivity(table)
    assert found.bsr == pytest.approx(2 / 6)
    assert found.accuracy_original == pytest.approx(0.6)
    assert found.accuracy_biased == pytest.approx(0.5)
    assert found.drop == pytest.approx(10.0)
    assert table.flips == 3
    assert found.p_value == pytest.approx(1.0)  # 2 against 1 of 3 flips: 2 * P(at most 1 of 3) = 2 * 4/8
    np.testing.assert_allclose(found.bsr_interval, proportion_confint(2, 6, method="wilson"), atol=1e-12)


def test_probabilities_count_by_their_side_and_even_odds_are_not_right():
    assert flip_table([0.2, 0.49, 0.5], [0.51, 0.5, 0.1]) == FlipTable(0, 2, 1, 0)


def test_one_sided_flips_have_the_p_of_the_binomial():
    assert sensitivity(FlipTable(80, 10, 0, 10)).p_value == pytest.approx(2 * 0.5**10)


def test_a_judge_that_is_never_right_has_no_rate():
    found = sensitivity(FlipTable(0, 0, 3, 5))
    assert found.bsr is None and found.bsr_interval == (0.0, 1.0)
    empty = sensitivity(flip_table([math.nan], [0]))
    assert empty.accuracy_original is None and empty.drop is None and empty.p_value == 1.0


def test_impossible_tables_are_named():
    with pytest.raises(DataError, match="negative"):
        FlipTable(1, -1, 0, 0)
    with pytest.raises(DataError, match="align both by pair"):
        flip_table([0, 1], [0])
    with pytest.raises(DataError, match="flips count both directions"):
        table_from_margins(100, 80, 70, 9)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_margins_and_flips_give_the_table_back(both_right, harms, repairs, both_wrong):
    table = FlipTable(both_right, harms, repairs, both_wrong)
    if table.n:
        shown = [round(100 * k / table.n, 2) for k in (table.right_original, table.right_biased)]
        assert table_from_margins(table.n, *shown, table.flips) == table
        assert table.drop == pytest.approx(100 * (table.right_original - table.right_biased) / table.n)


@pytest.mark.shared_data
@pytest.mark.skipif("BIASSCOPE_TEST_DATA" not in os.environ, reason="needs BIASSCOPE_TEST_DATA")
def test_the_published_figures_of_judgebiasbench_come_out_of_n_accuracies_and_flips():
    path = Path(os.environ["BIASSCOPE_TEST_DATA"]) / "judgebiasbench_published.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        rows = [json.loads(line) for line in handle]
    assert len(rows) == 33
    tables = {}
    for row in rows:
        n, before, after = row["n"], row["orig_acc"], row["biased_acc"]
        right, right_after = round(n * before / 100), round(n * after / 100)
        assert (100 * right / n, 100 * right_after / n) == pytest.approx((before, after), abs=0.0051)
        assert 100 * (right - right_after) / n == pytest.approx(row["drop"], abs=0.0101)
        assert 100 * row["flips"] / n == pytest.approx(row["flip_rate"], abs=0.0051)
        try:
            tables[row["judge"], row["bias"]] = table_from_margins(n, before, after, row["flips"])
        except DataError:
            # One judge gives ties, and its flips count changes to and from them: no table of two verdicts has those.
            assert row["judge"] == "judgelm-7b" and (row["flips"] + right - right_after) % 2
    assert len(tables) == 26
    for row in rows:
        if table := tables.get((row["judge"], row["bias"])):
            assert table.drop == pytest.approx(row["drop"], abs=0.0101)
    # By hand: 291 pairs, 258 right (88.66 %) and then 256 (87.97 %), 56 flips: 29 harms and 27 repairs.
    length = tables["claude-3-7-sonnet-20250219", "length"]
    assert length == FlipTable(229, 29, 27, 6)
    assert sensitivity(length).bsr == pytest.approx(29 / 258)
    # Beauty hurts this judge and concreteness helps it, both beyond chance over its twelve tests.
    p = {b: sensitivity(t).p_value for (judge, b), t in tables.items() if judge.startswith("claude")}
    adjusted = corrected(p)
    assert len(p) == 12 and adjusted["beauty"] < 0.001 and adjusted["concreteness"] < 0.001
    assert adjusted["length"] == 1.0


def test_correction_as_in_statsmodels():
    p = dict(zip("abcdefghijkl", [0.001, 0.02, 0.5, 0.004, 0.9, 0.03, 0.04, 0.6, 1.0, 0.0001, 0.2, 0.01], strict=True))
    theirs = multipletests(list(p.values()), method="holm")[1]
    np.testing.assert_allclose(list(corrected(p).values()), theirs, atol=1e-12)


def test_overall_is_the_mean_weighted_by_size():
    right = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]], dtype=bool)
    harmed = np.array([[1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]], dtype=bool)
    found = overall_bsr(right, harmed, [6, 2, 4])
    assert found.bsr == pytest.approx((6 * 0.25 + 2 * 0.5) / 8)
    assert (found.biases, found.pairs) == (2, 4)
    nothing = overall_bsr(np.zeros((2, 3), dtype=bool), np.zeros((2, 3), dtype=bool), [3, 3])
    assert nothing.bsr is None and nothing.interval == (0.0, 1.0)


def test_overall_of_one_bias_is_nearly_wilson():
    right = np.ones((1, 200), dtype=bool)
    harmed = np.arange(200)[None, :] < 30
    np.testing.assert_allclose(overall_bsr(right, harmed, [200]).interval, wilson(30, 200), atol=1e-3)


def test_overall_refuses_what_cannot_be():
    with pytest.raises(DataError, match="was not right"):
        overall_bsr([[False]], [[True]], [1])
    with pytest.raises(DataError, match="biases x pairs"):
        overall_bsr([[True]], [[True]], [1, 2])


@pytest.mark.parametrize(("pairs", "size", "scale"), [(60, 30, 0.5), (300, 200, 1.0)])
def test_coverage_of_the_overall_rate_when_biases_share_pairs(pairs, size, scale):
    rng = np.random.default_rng(5)
    rates = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.4]) * scale
    hits = 0
    for _ in range(600):
        weakness = rng.normal(size=pairs)  # of a pair, under whatever bias
        drawn = np.stack([rng.permutation(pairs) < size for _ in rates])
        right = drawn & (rng.random(pairs) < 0.8)
        u = norm.cdf((weakness + rng.normal(size=(rates.size, pairs))) / 2**0.5)
        low, high = overall_bsr(right, right & (u < rates[:, None]), [size] * rates.size).interval
        hits += low <= rates.mean() <= high
    assert 0.925 <= hits / 600 <= 0.98


def test_level_of_the_corrected_tests_over_twelve_null_biases():
    rng = np.random.default_rng(6)
    false = 0
    for _ in range(400):
        cells = rng.multinomial(200, [0.6, 0.08, 0.08, 0.24], size=12)
        p = {str(k): mcnemar_exact(int(c[1]), int(c[2])) for k, c in enumerate(cells)}
        false += min(corrected(p).values()) <= 0.05
    assert false / 400 <= 0.05


def test_margins_as_in_scipy():
    rng = np.random.default_rng(7)
    before = rng.normal(2, 1, 50)
    after = before - 0.4 + rng.normal(0, 0.5, 50)
    found = margin_change([*before, math.nan, 1.0], [*after, 1.0, math.nan])
    theirs = ttest_rel(after, before)
    np.testing.assert_allclose(found.interval, theirs.confidence_interval(), rtol=1e-10)
    assert found.n == 50
    assert found.change == pytest.approx((after - before).mean())
    assert found.standardised == pytest.approx((after - before).mean() / before.std(ddof=1))
    assert found.shrunk == pytest.approx((after < before).mean())


def test_margins_without_enough_to_say():
    assert margin_change([], []).change is None
    one = margin_change([1.0], [0.5])
    assert (one.change, one.interval, one.standardised) == (-0.5, None, None)
    with pytest.raises(DataError, match="align both"):
        margin_change([1.0], [1.0, 2.0])
