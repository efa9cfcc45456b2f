"""Every kind of judge goes through discovery, validation and a kill, over real HTTP."""

from biasscope.core.records import Explanation, Judgment
from biasscope.runs.jobs import open_store
from biasscope.simulation.judging import read
from biasscope.simulation.scripted import Reply
from world_runs import FaultyWorld, settings, start


def scorer(world):
    """The planted judge's own liking for one answer, for requests that end with the answer."""

    def reply(body, times):
        messages = body["messages"]
        if [m["role"] for m in messages] != ["user", "assistant"]:
            return None
        question, answer = (m["content"] for m in messages)
        return Reply(text=f"{read(world, question, answer, '').margin:.6f}")

    return reply


def rows(outcome, kind):
    store = open_store(outcome.folder)
    try:
        return store.select(kind, run_id=outcome.folder.run_id)
    finally:
        store.close()


def test_a_scorer_is_audited_without_position_and_in_other_words(easy, small_data, tmp_path):
    with FaultyWorld(easy, scorer(easy)) as server:
        outcome = start(settings(small_data, tmp_path, server.url, judge={"kind": "score"}, orders="both"))
        assert max(server.asked.values()) == 1
    assert outcome.state == "finished"
    judgments = rows(outcome, Judgment)
    assert {j.judge.rpartition("#")[2] for j in judgments} == {"score"}
    for judgment in judgments:
        margin = judgment.score_chosen - judgment.score_rejected
        assert judgment.verdict == ("chosen" if margin > 0 else "rejected" if margin < 0 else "tie")
    assert len({(j.pair_id, j.arm, j.perturbation_id) for j in judgments}) == len(judgments)
    assert any(j.verdict == "rejected" for j in judgments)
    assert rows(outcome, Explanation)
