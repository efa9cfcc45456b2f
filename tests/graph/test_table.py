import math

import numpy as np
import pytest
from biasscope.core.records import PreferencePair
from biasscope.graph.controls import side_reports
from biasscope.graph.table import Cell, Table
from biasscope.graph.validation import _numbers


@pytest.fixture
def table():
    """Four pairs; the placebo of the second and the rewrite of the third have become right."""
    pairs = [PreferencePair(id=str(k), prompt="q", chosen="a", rejected="b") for k in range(4)]

    def arm(wrongs, changed=()):
        return {str(k): Cell(w, (w, 1 - w), f"p{k}", 10 + k, k in changed) for k, w in enumerate(wrongs)}

    cells = {
        "original": arm([0.0, 1.0, 1.0, 0.0]),
        "placebo": arm([0.0, 1.0, 0.0, 0.0], {1}),
        "bias:x": arm([1.0, 0.0, 0.0, 0.0], {2}),
    }
    return Table(pairs, cells, 4)


def test_a_changed_answer_takes_the_pair_out_of_all_arms(table):
    numbers = _numbers(table, "bias:x", "placebo", "fixed", 2)
    assert (numbers["n"], numbers["missing"], numbers["harms"]) == (2, 2, 1)
    assert numbers["error_original"] == 0.0 and numbers["effect_vs_original"] == 50.0
    assert side_reports(table, "bias:x", "placebo")["position"]["n"] == 2


def test_changed_names_the_pairs_of_any_of_the_arms(table):
    assert table.changed("bias:x", "placebo").tolist() == [False, True, True, False]
    assert table.changed("original").tolist() == [False] * 4
    assert np.isnan(table.wrong("placebo")[1]) and not math.isnan(table.wrong("bias:x")[1])
