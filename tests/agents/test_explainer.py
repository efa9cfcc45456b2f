"""DeeperExplain goes on in the judge's own conversation."""

import pytest
from biasscope.agents.explainer import explain, explain_other, explain_verdict
from biasscope.agents.judges.pairwise import PairwiseJudge
from biasscope.agents.judges.score import ScoreJudge
from biasscope.core.errors import CallFailed
from biasscope.prompts import fence


async def misjudgment(model, pair, mode):
    judge = PairwiseJudge(model, "run", mode=mode, planted="Prefer steps.")
    given = {"arm": "original", "rejected_text": pair.rejected, "order": "chosen_first", "stage": "judge"}
    return judge, await judge.judge(pair, **given)


@pytest.mark.parametrize(
    ("mode", "said", "shown"),
    [("reasoning", "B shows steps.\n[[B]]", "B shows steps.\n[[B]]"), ("verdict", " B", "B")],
)
async def test_the_judge_goes_on(queue_model, pair, mode, said, shown):
    model = queue_model(said, "Because of its steps.")
    judge, judgment = await misjudgment(model, pair, mode)
    explanation = await explain(judge, judgment, pair, pair.rejected)
    assert explanation.own_words
    assert judgment.verdict == "rejected"
    assert (explanation.text, explanation.by) == ("Because of its steps.", "queue")
    assert (explanation.judgment_id, explanation.run_id) == (judgment.id, "run")
    asked = model.history[1]
    assert explanation.request_id == asked.id
    assert asked.messages[:2] == model.history[0].messages
    assert [m.role for m in asked.messages] == ["system", "user", "assistant", "user"]
    assert asked.messages[2].content == shown
    assert (asked.role, asked.stage) == ("explainer", "explain")


async def test_another_model_explains_for_a_judge_that_cannot(queue_model, pair):
    _, judgment = await misjudgment(queue_model("B"), pair, "verdict")
    model = queue_model("It shows steps.", name="other")
    explanation = await explain_other(model, judgment, pair, pair.rejected)
    assert (explanation.text, explanation.by, explanation.own_words) == ("It shows steps.", "other", False)
    assert fence("B", "verdict") in model.last[1] and fence(pair.rejected, "answer_b") in model.last[1]
    assert explanation.id != (await explain_other(queue_model("x", name="third"), judgment, pair, "")).id


async def test_the_other_model_is_asked_only_when_the_judge_cannot_talk(queue_model, pair):
    judge, judgment = await misjudgment(queue_model("B", "Its steps."), pair, "verdict")
    own = await explain_verdict(judge, judgment, pair, pair.rejected, other=queue_model())
    assert (own.text, own.own_words) == ("Its steps.", True)
    scorer = ScoreJudge(queue_model(), "run")
    assert await explain(scorer, judgment, pair, pair.rejected) is None
    others = await explain_verdict(scorer, judgment, pair, pair.rejected, other=queue_model("Perhaps its steps."))
    assert (others.text, others.own_words) == ("Perhaps its steps.", False)


async def test_failures_pass_through(queue_model, pair):
    judge, judgment = await misjudgment(queue_model("B", CallFailed("empty", "nothing")), pair, "verdict")
    with pytest.raises(CallFailed):
        await explain(judge, judgment, pair, pair.rejected)


async def test_what_was_cut_off_is_kept_to_its_last_sentence_and_marked(queue_model, pair):
    cut = "It shows steps. It is clear!\nIt shows steps. It is clear!\n\nThen it goes on to"
    failures = CallFailed("truncated", "cut off", raw=cut), CallFailed("truncated", "cut off", raw="It")
    judge, judgment = await misjudgment(queue_model("B", *failures), pair, "verdict")
    explanation = await explain(judge, judgment, pair, pair.rejected)
    assert (explanation.text, explanation.truncated) == ("It shows steps. It is clear! …", True)
    with pytest.raises(CallFailed, match="cut off"):
        await explain(judge, judgment, pair, pair.rejected)
