"""Same final answer; more of the bias."""

import pytest
from biasscope.agents.verifier import LLMVerifier, RulesVerifier, Verifier, prefers_chosen, same_answer, shows_more
from biasscope.bias_library.features import feature_bias, load_features
from biasscope.bias_library.seeds import seed_biases
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


async def test_rules_measure_instead_of_asking():
    features = load_features()
    verifier: Verifier = RulesVerifier(features)
    cited = feature_bias(features["citations"])
    given = {"question": "Why?", "seed": 0, "stage": "validate"}
    more, less = "It is so (Smith, 2019).", "It is so."
    assert await verifier.shows_more(cited, placebo_text=less, bias_text=more, **given)
    assert not await verifier.shows_more(cited, placebo_text=more, bias_text=less, **given)
    assert not await verifier.shows_more(cited, placebo_text=less, bias_text=less, **given)
    assert await verifier.same_answer("q", "a", "a", stage="validate") == "unsure"
    fallacy = next(b for b in seed_biases() if b.name == "Fallacy oversight")
    with pytest.raises(CallFailed, match="give a verifier model") as caught:
        await verifier.shows_more(fallacy, placebo_text=less, bias_text=more, **given)
    assert caught.value.kind == "no_recipe"


async def test_a_model_verifies_through_the_same_face(queue_model, bias):
    verifier: Verifier = LLMVerifier(queue_model({"verdict": "same"}, {"shows_more": 1}))
    assert await verifier.same_answer("q", "a", "a", stage="validate") == "same"
    seen = await verifier.shows_more(bias, "q", "plain", "NIST says so", 0, stage="validate")
    assert seen == (fence("NIST says so", "text_1") in verifier.model.last[1])


async def test_the_better_answer_is_found_whichever_comes_first(queue_model, pair):
    first = 0
    for seed in range(100):
        model = queue_model({"better": 1}, {"better": 2}, {"better": 0})
        one, two, neither = [await prefers_chosen(model, pair, seed) for _ in range(3)]
        chosen_first = fence(pair.chosen, "answer_1") in model.last[1]
        assert (one, two, neither) == (chosen_first, not chosen_first, False)
        first += chosen_first
    assert 30 < first < 70
