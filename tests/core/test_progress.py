"""Stages in words."""

import pytest
from biasscope.core.progress import stage_words


@pytest.mark.parametrize(
    ("stage", "iteration", "words"),
    [
        ("perturb@0", 0, "iteration 1, perturb"),
        ("validate@1.0", 1, "iteration 2, validate, batch 1"),
        ("validate@1.manipulation", 1, "iteration 2, validate, manipulation"),
        ("confirm@-1.0", 3, "confirm"),
        ("confirm@-1.truncated", 3, "confirm, truncated"),
        ("perturb", None, "perturb"),
        ("judge@2", None, "judge"),
        ("audit@length", None, "audit, length"),
        ("validate@0.12", None, "validate"),
        ("", None, ""),
    ],
)
def test_stages_in_words(stage, iteration, words):
    assert stage_words(stage, iteration) == words
