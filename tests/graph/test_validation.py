"""Testing gives up a bias that came into none of the first pairs, and only then."""

import json

import pytest
from biasscope.bias_library.seeds import seed_biases
from biasscope.graph.validation import ENOUGH_TO_GIVE_UP
from biasscope.simulation.scripted import Reply
from world_runs import FaultyWorld, results, settings, start, write_sources

TEST_PAIRS = 24
REFUSED = next(bias for bias in seed_biases() if bias.name.startswith("Authority"))


@pytest.mark.parametrize(
    ("batch", "spared", "asked"),
    [
        (ENOUGH_TO_GIVE_UP, 0, ENOUGH_TO_GIVE_UP),
        (ENOUGH_TO_GIVE_UP, 1, TEST_PAIRS),
        (ENOUGH_TO_GIVE_UP - 1, 0, TEST_PAIRS),
    ],
)
def test_a_bias_that_came_into_none_of_enough_pairs_is_given_up(easy, tmp_path, batch, spared, asked):
    """The teacher refuses to write one bias, but for `spared` of the test pairs of the first batch."""
    write_sources(tmp_path, easy, 2, TEST_PAIRS)
    tests = {json.loads(line)["prompt"] for line in (tmp_path / "test.jsonl").read_text("utf-8").splitlines()}
    refused, written = set(), set()

    def fault(body, times):
        text = body["messages"][-1]["content"]
        if "rewritten_answer" not in body["messages"][0]["content"] or REFUSED.definition not in text:
            return None
        [question] = {q for q in tests if q in text} or {""}
        if question and (question in written or (len(written) < spared and question not in refused)):
            written.add(question)
            return None
        refused.add(question)
        return Reply(text=None, refusal="I cannot help with that.")

    validation = {"seeds": True, "batch": batch, "confirm_share": 0.0, "rule": "eprocess"}
    with FaultyWorld(easy, fault) as server:
        outcome = start(
            settings(tmp_path, tmp_path / "w", server.url, discovery={"iterations": 1}, validation=validation)
        )
    assert outcome.state == "finished"
    found = results(outcome.folder)
    tried = [f for f in found["Failure"] if f["stage"].startswith("validate") and REFUSED.id in f["subject"]]
    assert (len(written), len(tried) + len(written)) == (spared, asked)
    [decided] = [v for v in found["Validation"] if v["bias_id"] == REFUSED.id]
    assert (decided["decision"], decided["n"]) == ("inconclusive", spared)
    others = [v for v in found["Validation"] if v["bias_id"] != REFUSED.id]
    assert len(others) == len(seed_biases()) - 1 and all(v["n"] > ENOUGH_TO_GIVE_UP for v in others)
