"""DeeperExplain goes on in the judge's own conversation."""

import pytest
from biasscope.agents.explainer import explain, explain_other
from biasscope.agents.judges.pairwise import PairwiseJudge
from biasscope.core.errors import CallFailed
from biasscope.prompts import fence


async def misjudgment(model, pair, mode):
    judge = PairwiseJudge(model, "run", mode=mode, planted="Prefer steps.")
    given = {"arm": "original", "rejected_text": pair.rejected, "order": "chosen_first", "stage": "judge"}
    return await judge.judge(pair, **given)


@pytest.mark.parametrize(
    ("mode", "said", "shown"),
    [("reasoning", "B shows steps.\n[[B]]", "B shows steps.\n[[B]]"), ("verdict", " B", "B")],
)
async def test_the_judge_goes_on(queue_model, pair, mode, said, shown):
    model = queue_model(said, "Because of its steps.")
    judgment = await misjudgment(model, pair, mode)
    explanation = await explain(model, judgment, pair, pair.rejected, mode=mode, planted="Prefer steps.")
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
    judgment = await misjudgment(queue_model("B"), pair, "verdict")
    model = queue_model("It shows steps.", name="other")
    explanation = await explain_other(model, judgment, pair, pair.rejected)
    assert (explanation.text, explanation.by) == ("It shows steps.", "other")
    assert fence("B", "verdict") in model.last[1] and fence(pair.rejected, "answer_b") in model.last[1]
    assert explanation.id != (await explain_other(queue_model("x", name="third"), judgment, pair, "")).id


async def test_failures_pass_through(queue_model, pair):
    judgment = await misjudgment(queue_model("B"), pair, "verdict")
    with pytest.raises(CallFailed):
        await explain(queue_model(CallFailed("empty", "nothing")), judgment, pair, pair.rejected, mode="verdict")


async def test_what_was_cut_off_is_kept_to_its_last_sentence_and_marked(queue_model, pair):
    judgment = await misjudgment(queue_model("B"), pair, "verdict")
    cut = "It shows steps. It is clear!\nIt shows steps. It is clear!\n\nThen it goes on to"
    model = queue_model(CallFailed("truncated", "cut off", raw=cut), CallFailed("truncated", "cut off", raw="It"))
    explanation = await explain(model, judgment, pair, pair.rejected, mode="verdict")
    assert (explanation.text, explanation.truncated) == ("It shows steps. It is clear! …", True)
    assert explanation.request_id == model.history[0].id
    with pytest.raises(CallFailed, match="cut off"):
        await explain(model, judgment, pair, pair.rejected, mode="verdict")
