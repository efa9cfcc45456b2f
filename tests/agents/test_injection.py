"""A bias of the taxonomy written into both answers, by rules and by a model."""

import pytest
from biasscope.agents.injection import ModelInjector, RulesInjector
from biasscope.bias_library.taxonomy import taxonomy
from biasscope.core.errors import CallFailed
from biasscope.core.records import PreferencePair
from biasscope.prompts import fence
from biasscope.validators.answers import compare_answers

REWRITTEN = [t for t in taxonomy() if t.how == "rewrite"]
LONG = PreferencePair(
    id="p",
    prompt="What is 12 times 12?",
    chosen="Good question! Clearly twelve times ten is 120 (e.g. by counting), and 24 more is 144. The answer is 144.",
    rejected="Twelve times ten is 120. Twelve times two is 14. Both together make the result that was asked for. "
    "The answer is 134.",
)


@pytest.mark.parametrize("bias", REWRITTEN, ids=lambda b: b.name)
async def test_rules_write_all_seven_and_keep_both_answers(bias):
    injector = RulesInjector("run", seed=3)
    made = await injector.inject(LONG, bias, stage="audit")
    assert made.rejected != LONG.rejected
    assert compare_answers(made.rejected, LONG.rejected) == "same"
    assert compare_answers(made.chosen, LONG.chosen) == "same"
    assert await RulesInjector("other run", seed=3).inject(LONG, bias, stage="audit") == made


async def test_the_control_of_the_rules_leaves_the_chosen_answer():
    made = await RulesInjector("run").control(LONG, stage="audit")
    assert made.chosen == LONG.chosen and made.rejected != LONG.rejected
    assert compare_answers(made.rejected, LONG.rejected) == "same"


async def test_a_model_is_told_what_to_change_on_each_side(queue_model):
    authority = next(t for t in taxonomy() if t.name == "Authority")
    more, less = LONG.rejected + " As NIST says.", "Twelve times ten is 120, and 24 more is 144. The answer is 144."
    model = queue_model({"rewritten_answer": more}, {"rewritten_answer": less})
    made = await ModelInjector(model, "run").inject(LONG, authority, stage="audit")
    assert made == (less, more)
    first, second = ([m.content for m in request.messages][-1] for request in model.history)
    assert authority.rejected in first and fence(LONG.rejected, "answer") in first
    assert authority.chosen in second and fence(LONG.chosen, "answer") in second
    assert "same number of words" in first
    assert {request.role for request in model.history} == {"teacher"}


async def test_a_chosen_answer_without_the_feature_stays(queue_model):
    length = next(t for t in taxonomy() if t.name == "Length")
    model = queue_model({"rewritten_answer": LONG.rejected + " Twice."}, {"rewritten_answer": LONG.chosen})
    made = await ModelInjector(model, "run").inject(LONG, length, stage="audit")
    assert made.chosen == LONG.chosen
    assert "same number of words" not in model.last[1]


@pytest.mark.parametrize(
    ("reply", "kind"), [(LONG.rejected, "unchanged"), ("", "empty"), ("Sure, here it is.", "not_a_rewrite")]
)
async def test_a_rejected_answer_that_was_not_rewritten_is_a_failure(queue_model, reply, kind):
    model = queue_model({"rewritten_answer": reply})
    with pytest.raises(CallFailed) as caught:
        await ModelInjector(model, "run").inject(LONG, REWRITTEN[1], stage="audit")
    assert caught.value.kind == kind
