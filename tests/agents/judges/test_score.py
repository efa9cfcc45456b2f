"""A judge on a scorer: two numbers compared, as calls like any other."""

import pytest
from biasscope.agents.judges.protocol import Judge
from biasscope.agents.judges.score import ScoreJudge, compare_scores
from biasscope.core.errors import CallFailed


async def judged(judge, pair, **more):
    given = {"arm": "original", "rejected_text": pair.rejected, "order": "rejected_first", "stage": "validate", **more}
    return await judge.judge(pair, **given)


@pytest.mark.parametrize(
    ("chosen", "rejected", "tie_within", "verdict"),
    [
        (1.5, -2.0, 0.0, "chosen"),
        (-2.0, 1.5, 0.0, "rejected"),
        (0.25, 0.25, 0.0, "tie"),
        (1.0, 1.5, 0.5, "tie"),
        (1.0, 1.75, 0.5, "rejected"),
    ],
)
def test_the_higher_score_is_preferred(chosen, rejected, tie_within, verdict):
    ruling = compare_scores(chosen, rejected, tie_within)
    assert (ruling.verdict, ruling.score_chosen, ruling.score_rejected) == (verdict, chosen, rejected)
    assert ruling.p_rejected is None


async def test_each_answer_is_scored_alone(queue_model, pair):
    model = queue_model("0.5", "1e1")
    judgment = await judged(ScoreJudge(model, "run"), pair, draw=2)
    assert (judgment.verdict, judgment.score_chosen, judgment.score_rejected) == ("rejected", 0.5, 10.0)
    assert (judgment.judge, judgment.reasoning, judgment.draw) == ("queue#score", "", 2)
    asked = [[(m.role, m.content) for m in r.messages] for r in model.history]
    assert asked == [
        [("user", pair.prompt), ("assistant", pair.chosen)],
        [("user", pair.prompt), ("assistant", pair.rejected)],
    ]
    assert {(r.role, r.stage, r.draw) for r in model.history} == {("judge", "validate", 2)}
    assert judgment.request_id == model.history[1].id


def test_what_a_score_judge_has_and_has_not(queue_model):
    judge: Judge = ScoreJudge(queue_model(), "run", tie_within=0.25)
    assert judge.gives_scores and not (judge.has_position or judge.gives_reasons or judge.gives_probabilities)
    assert judge.name == "queue#score+tie-0.25"


@pytest.mark.parametrize("text", ["", "high", "nan", "inf", "-inf", "0.5 of 1"])
async def test_what_is_no_number_is_a_failed_call(queue_model, pair, text):
    with pytest.raises(CallFailed) as caught:
        await judged(ScoreJudge(queue_model("1", text), "run"), pair)
    assert caught.value.kind == "unparsable" and caught.value.raw == text
