"""Same final answer; more of the bias."""

import pytest
from biasscope.agents.verifier import same_answer, shows_more
from biasscope.core.errors import CallFailed
from biasscope.prompts import fence


@pytest.mark.parametrize("verdict", ["same", "different", "unsure"])
async def test_same_answer(queue_model, verdict):
    model = queue_model({"verdict": verdict})
    assert await same_answer(model, "12 x 12?", "It is 134.", "134!", stage="confirm") == verdict
    assert fence("It is 134.", "answer_a") in model.last[1] and fence("134!", "answer_b") in model.last[1]
    assert (model.history[0].role, model.history[0].stage) == ("verifier", "confirm")


async def test_another_word_is_malformed(queue_model):
    with pytest.raises(CallFailed) as caught:
        await same_answer(queue_model(*[{"verdict": "perhaps"}] * 2), "q", "a", "b")
    assert caught.value.kind == "malformed"


async def test_shows_more_is_right_whichever_text_comes_first(queue_model, bias):
    first = 0
    for seed in range(200):
        model = queue_model({"shows_more": 1}, {"shows_more": 2}, {"shows_more": 1})
        one, two, again = [await shows_more(model, bias, "plain", "NIST says so", seed) for _ in range(3)]
        bias_first = fence("NIST says so", "text_1") in model.last[1]
        assert (one, two, again) == (bias_first, not bias_first, bias_first)
        first += bias_first
    assert 70 < first < 130


async def test_only_two_answers_are_possible(queue_model, bias):
    with pytest.raises(CallFailed):
        await shows_more(queue_model(*[{"shows_more": 3}] * 2), bias, "a", "b", 0)
