"""Grades on five aspects, answers to prompts, and choices by aspect."""

import pytest
from biasscope.agents.judges.dimensions import DimensionsJudge
from biasscope.agents.panel import grade, write_answer
from biasscope.core.errors import CallFailed
from biasscope.prompts import fence

ASPECTS = ("relevance", "accuracy", "depth", "logic", "clarity")


async def test_grades_are_on_the_grid(queue_model):
    model = queue_model(dict(zip(ASPECTS, (8, 7.3, 6.1, 10, 0), strict=True)))
    grades, request_id = await grade(model, "Q?", "An answer.")
    assert grades.model_dump() == dict(zip(ASPECTS, (8.0, 7.25, 6.0, 10.0, 0.0), strict=True))
    assert grades.mean == pytest.approx(6.25) and request_id == model.history[0].id
    assert fence("An answer.", "answer") in model.last[1]
    assert (model.history[0].role, model.history[0].stage) == ("panel", "audit")


@pytest.mark.parametrize("value", [10.5, -1])
async def test_a_grade_off_the_scale_is_no_grade(queue_model, value):
    with pytest.raises(CallFailed, match="not on the scale") as caught:
        await grade(queue_model({**dict.fromkeys(ASPECTS, 5), "depth": value}), "Q?", "A.")
    assert caught.value.kind == "malformed"


async def test_missing_aspects_are_malformed(queue_model):
    with pytest.raises(CallFailed) as caught:
        await grade(queue_model(*[{"relevance": 5}] * 2), "Q?", "A.")
    assert caught.value.kind == "malformed"


async def test_an_author_is_asked_the_prompt_itself(queue_model):
    model = queue_model("Paris.")
    assert await write_answer(model, "Capital of France?") == "Paris."
    assert model.last == ["Capital of France?"] and model.history[0].role == "author"


@pytest.mark.parametrize(("order", "verdict"), [("chosen_first", "chosen"), ("rejected_first", "rejected")])
async def test_the_overall_choice_is_the_verdict(queue_model, pair, order, verdict):
    model = queue_model({**dict.fromkeys(ASPECTS, "B"), "overall": "A"})
    judge = DimensionsJudge(model, "run", planted="Be kind.")
    made = await judge.judge(pair, arm="structured", rejected_text=pair.rejected, order=order, stage="audit")
    assert made.verdict == verdict and made.p_rejected is None
    assert made.reasoning.startswith("relevance B, accuracy B")
    assert model.last[0].endswith("Be kind.") and judge.name.startswith("queue#dimensions+planted-")


async def test_a_tie_and_unreadable_choices(queue_model, pair):
    tie = DimensionsJudge(queue_model(dict.fromkeys((*ASPECTS, "overall"), "C")), "run")
    made = await tie.judge(pair, arm="s", rejected_text=pair.rejected, order="chosen_first", stage="audit")
    assert made.verdict == "tie"
    lost = DimensionsJudge(queue_model("A, I think", "still A"), "run")
    made = await lost.judge(pair, arm="s", rejected_text=pair.rejected, order="chosen_first", stage="audit")
    assert (made.verdict, made.reasoning) == ("invalid", "still A")
