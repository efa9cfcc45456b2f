import dataclasses
import math

import numpy as np
import pytest
from biasscope.core.errors import DataError
from biasscope.core.records import Validation
from biasscope.validators.eprocess import confidence_sequence, e_value
from biasscope.validators.mcnemar import mcnemar_exact, tango
from biasscope.validators.summaries import summarise

REFERENCE = [0, 0, 0, 1, 1, 0, math.nan, 0]
BIAS = [1, 1, 0, 0, 1, 1, 1, 0]
DOMAINS = ["math", "math", "math", "code", "code", "code", "code", "law"]


def test_the_numbers_of_a_validation_row() -> None:
    summary = summarise(REFERENCE, BIAS, domains=DOMAINS, original=[0, 0, 0, 0, 1, 1, 0, 0], interval="fixed")
    assert (summary.n, summary.missing, summary.harms, summary.repairs) == (7, 1, 3, 1)
    assert summary.effect == pytest.approx(100 * 2 / 7)
    assert summary.interval == pytest.approx(tuple(100 * x for x in tango(3, 1, 7)))
    assert summary.interval_method == "Tango score"
    assert summary.p_value == pytest.approx(mcnemar_exact(3, 1))
    assert summary.e_value == pytest.approx(e_value([1, 1, 1, -1]))
    assert summary.error_original == pytest.approx(2 / 8)
    assert summary.effect_vs_original == pytest.approx(100 * 3 / 8)
    assert summary.by_domain["math"]["n"] == 3 and summary.by_domain["math"]["effect"] == pytest.approx(200 / 3)
    assert summary.by_domain["code"]["n"] == 3 and summary.by_domain["code"]["effect"] == pytest.approx(0)
    assert summary.by_domain["law"]["low"] < 0 < summary.by_domain["law"]["high"]
    row = Validation(
        id="x",
        run_id="r",
        bias_id="b",
        iteration=0,
        judge="j",
        pair_set="search",
        rule="exact",
        decision="valid",
        **dataclasses.asdict(summary),
    )
    assert row.effect == summary.effect


def test_anytime_interval_and_exclusions() -> None:
    summary = summarise(REFERENCE, BIAS, exclude=[True] + [False] * 7)
    d = np.array(BIAS, float)[1:] - np.array(REFERENCE, float)[1:]
    assert summary.interval == pytest.approx(tuple(100 * x for x in confidence_sequence(d)))
    assert summary.interval_method == "anytime-valid betting"
    assert (summary.n, summary.missing, summary.by_domain, summary.error_original) == (6, 2, {}, None)


def test_probabilities_and_both_orders() -> None:
    summary = summarise([0.2, 0.4, 0.1, 0.6], [0.6, 0.5, 0.1, 0.7], interval="fixed")
    assert summary.interval_method == "paired t" and summary.effect == pytest.approx(15)
    assert summary.harms == 2


def test_nothing_to_compare() -> None:
    with pytest.raises(DataError, match="none of 2 pairs"):
        summarise([math.nan, 0], [0, math.nan])
    with pytest.raises(DataError, match="domains: 1 for 2"):
        summarise([0, 0], [0, 1], domains=["a"])
