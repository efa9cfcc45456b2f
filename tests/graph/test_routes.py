"""The loop stops when METHOD says so, and says why."""

import pytest
from biasscope.graph.routes import after_converge, idle_rounds, last_round, stop_reason
from biasscope.graph.settings import PAPER, LoopSettings

EARLY = LoopSettings.model_validate({"discovery": {"iterations": 3, "patience": 1}})
LATE = LoopSettings.model_validate({"discovery": {"iterations": 3, "patience": 1}, "validation": {"when": "late"}})


@pytest.mark.parametrize(
    ("settings", "iteration", "candidates", "novel", "admitted", "reason"),
    [
        (EARLY, 0, [], [], [], "no_candidates"),
        (EARLY, 0, ["c"], [], [], "nothing_new"),
        (EARLY, 0, ["c"], ["b"], [], "nothing_validated"),
        (EARLY, 0, ["c"], ["b"], ["b"], None),
        (EARLY, 2, ["c"], ["b"], ["b"], "max_iterations"),
        (LATE, 0, ["c"], ["b"], [], None),
        (LATE, 1, ["c"], [], [], "nothing_new"),
        (LATE, 2, ["c"], ["b"], [], "max_iterations"),
    ],
)
def test_stop_reason(settings, iteration, candidates, novel, admitted, reason):
    state = {"iteration": iteration, "candidates": candidates, "novel": novel, "admitted": admitted}
    assert stop_reason(state, settings) == reason


def test_late_validation_happens_in_the_round_after_which_nothing_comes():
    assert last_round({"iteration": 0, "candidates": ["c"], "novel": ["b"]}, LATE) is None
    assert last_round({"iteration": 2, "candidates": ["c"], "novel": ["b"]}, LATE) == "max_iterations"


def test_the_end_is_the_confirmation():
    assert after_converge({"stop": "nothing_new"}) == "confirm"
    assert after_converge({"stop": None}) == "perturb"


@pytest.mark.parametrize("novel", [[], ["b"]])
def test_a_patient_loop_goes_on_until_rounds_in_a_row_bring_nothing(novel):
    patient = LoopSettings.model_validate({"discovery": {"iterations": 9, "patience": 2}})
    fruitless = {"iteration": 1, "candidates": ["c"], "novel": novel, "admitted": []}
    assert stop_reason(fruitless, patient) is None
    assert idle_rounds(fruitless, patient) == 1
    again = fruitless | {"idle": 1}
    assert stop_reason(again, patient) == ("nothing_validated" if novel else "nothing_new")
    # A round that adds a bias starts the count anew.
    assert idle_rounds(again | {"novel": ["b"], "admitted": ["b"]}, patient) == 0


def test_the_paper_has_no_patience():
    assert PAPER["discovery"]["patience"] == 1
