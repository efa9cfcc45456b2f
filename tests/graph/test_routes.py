"""The loop stops when METHOD says so, and says why."""

import pytest
from biasscope.graph.routes import after_converge, last_round, stop_reason
from biasscope.graph.settings import LoopSettings

EARLY = LoopSettings.model_validate({"discovery": {"iterations": 3}})
LATE = LoopSettings.model_validate({"discovery": {"iterations": 3}, "validation": {"when": "late"}})


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
