"""Every preset reads real judge outputs as people read them, or marks them unreadable; never a wrong side."""

import gzip
import json
import os
from pathlib import Path

import pytest
from biasscope.agents.judges.presets import PRESETS
from biasscope.core.calls import Completion

PAIRWISE = [name for name, preset in PRESETS.items() if "pairwise" in preset.readers]
OWN = {
    "mtbench_pair_ABC": ("mtbench", "pairwise"),
    "llmbar_cot": ("llmbar-cot", "pairwise"),
    "llmbar_label": ("llmbar", "pairwise"),
    "mtbench_single_rating": ("mtbench-single", "pointwise"),
    "llmbar_rating": ("llmbar-rating", "pointwise"),
}


def read(name, kind, text):
    return PRESETS[name].readers[kind](Completion(request_id="r", text=text), ("one answer", "another")).value


@pytest.fixture(scope="module")
def real_verdicts():
    folder = os.environ.get("BIASSCOPE_TEST_DATA")
    if not folder:
        pytest.skip("BIASSCOPE_TEST_DATA is not set")
    with gzip.open(Path(folder) / "verdicts.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.shared_data
def test_outputs_of_a_presets_own_convention_are_read(real_verdicts):
    hits = 0
    for row in real_verdicts:
        name, kind = OWN[row["format"]]
        truth = row["true_verdict"]
        if row["format"] == "llmbar_rating":
            one, other = (read(name, kind, row[field]) for field in ("text", "text_b"))
            value = None
            if one is not None and other is not None:
                value = "tie" if one == other else "first" if one > other else "second"
        else:
            value = read(name, kind, row["text"])
        wanted = None if truth == "unparseable" else truth
        assert value in (None, wanted), (row["id"], value)
        hits += value is not None
    assert hits >= 190


@pytest.mark.shared_data
@pytest.mark.parametrize("name", PAIRWISE)
def test_no_output_of_any_convention_is_read_as_the_wrong_side(real_verdicts, name):
    for row in real_verdicts:
        if row["format"] in ("mtbench_pair_ABC", "llmbar_cot", "llmbar_label"):
            assert read(name, "pairwise", row["text"]) in (None, row["true_verdict"]), row["id"]


@pytest.mark.parametrize(
    ("name", "kind", "text", "value"),
    [
        ("arena-hard", "pairwise", "My final verdict: [[A>>B]]", "first"),
        ("arena-hard", "pairwise", "So [[A=B]]", "tie"),
        ("arena-hard", "pairwise", "[[A>C]]", None),
        ("alpacaeval", "pairwise", "M", "second"),
        ("prometheus", "pointwise", "Feedback: fine [RESULT] 4", 4.0),
        ("prometheus", "pointwise", "Feedback: fine [RESULT] 9", None),
        ("prometheus-relative", "pairwise", "Feedback: so [RESULT] B", "second"),
        ("judgelm", "pairwise", "8 6\nThe first is better.", "first"),
        ("judgelm", "pairwise", "I give 8 and 6", None),
        ("geval", "pointwise", "4", 4.0),
        ("llm-rubric", "pass_fail", '{"reason": "ok", "score": 0.9, "pass": true}', "pass"),
        ("llm-rubric", "pointwise", '{"reason": "ok", "score": 3, "pass": true}', None),
    ],
)
def test_conventions_without_real_outputs_here(name, kind, text, value):
    assert read(name, kind, text) == value
