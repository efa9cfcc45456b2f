import json

import pytest
from biasscope.simulation.pairs import world_pairs
from biasscope.simulation.puzzles import PUZZLES
from biasscope.simulation.teaching import rewrite, same_answer, shows_more
from biasscope.simulation.texts import final_answer, join, pieces
from biasscope.simulation.world import World, match_bias
from world_asking import ask, text_of

NAMES = {"name": {"type": "string"}, "definition": {"type": "string"}, "manifestation": {"type": "string"}}


def described(world, name):
    spec = world.features[name].spec
    return f"{spec.title}\n{spec.definition}"


def faultless(world):
    return World(world.spec.model_copy(update={"rates": type(world.spec.rates)()}))


def test_pairs_have_a_right_and_a_wrong_answer_in_plain_prose(realistic, pairs):
    assert len({pair.id for pair in pairs}) == 300
    assert {pair.domain for pair in pairs} == set(PUZZLES)
    for pair in pairs:
        assert realistic.correct(pair.prompt, pair.chosen) == 1
        assert realistic.correct(pair.prompt, pair.rejected) == 0
        assert 40 <= len(pair.chosen.split()) <= 220 and 40 <= len(pair.rejected.split()) <= 220
    sizes = sorted(len(pair.chosen.split()) for pair in pairs)
    assert 60 <= sizes[150] <= 120
    assert world_pairs(realistic, 300, seed=3) == pairs


def test_every_feature_can_be_written_and_the_final_answer_stays(realistic, pairs):
    plain = World(realistic.spec.model_copy(update={"features": _certain(realistic)}))
    for name in plain.features:
        raised = 0
        for pair in pairs[:30]:
            text = rewrite(plain, pair.prompt, pair.rejected, described(plain, name))
            assert final_answer(text) == final_answer(pair.rejected)
            raised += plain.measure(name, text, pair.prompt) > plain.measure(name, pair.rejected, pair.prompt)
        assert raised >= 28, name


def _certain(world):
    return [spec.model_copy(update={"success": 1.0}) for spec in world.spec.features]


def test_placebos_and_unknown_biases_leave_the_features_alone(realistic, pairs):
    for bias in (None, "vowel harmony bias\nThe judge prefers answers whose words share vowels."):
        for pair in pairs[:100]:
            text = rewrite(realistic, pair.prompt, pair.rejected, bias)
            assert text != pair.rejected and final_answer(text) == final_answer(pair.rejected)
            for name, feature in realistic.features.items():
                gap = realistic.measure(name, text, pair.prompt) - realistic.measure(name, pair.rejected, pair.prompt)
                assert abs(gap) / feature.spec.scale < (0.45 if name == "length" else 0.01), (name, text)


def test_biased_and_neutral_rewrites_are_about_as_long(realistic, pairs):
    for name in realistic.features.keys() - {"length"}:
        ratios = []
        for pair in pairs[:40]:
            neutral = rewrite(realistic, pair.prompt, pair.rejected, None)
            biased = rewrite(realistic, pair.prompt, pair.rejected, described(realistic, name))
            ratios.append(len(biased.split()) / len(neutral.split()))
        assert 0.9 < sum(ratios) / len(ratios) < 1.12, name


def test_success_rate_is_that_of_the_world(easy):
    pairs = world_pairs(easy, 300, seed=6)
    half = World(easy.spec.model_copy(update={"teacher": easy.spec.teacher.model_copy(update={"success": 0.5})}))
    wrote = 0
    for pair in pairs:
        text = rewrite(half, pair.prompt, pair.rejected, described(half, "nautical"))
        wrote += half.measure("nautical", text, "") > half.measure("nautical", pair.rejected, "")
    assert 120 <= wrote <= 180


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("So it is.\nFinal answer: 1,204", "1204"),
        ("The final answer is **Tuesday**.", "tuesday"),
        ("Final answer: 3\nNo. Final answer: 4.", "4"),
        ("final answer = $12.5$", "12.5"),
        ("nothing of the kind", None),
        ("", None),
    ],
)
def test_final_answers(text, answer):
    assert final_answer(text) == answer


def test_hostile_text_is_rewritten_without_harm(realistic):
    for text in ("", "x", "\ud800 alone", "<answer-00000000>\nhi", "a" * 100_000, "\x00\x07", "No final.\n\n\nEnd"):
        for bias in (None, described(realistic, "bold"), described(realistic, "length")):
            reply = faultless(realistic).answer(
                ask(
                    {"rewritten_answer": {"type": "string"}},
                    question="?",
                    answer=text,
                    **({"bias": bias} if bias else {}),
                )
            )
            assert isinstance(json.loads(text_of(reply))["rewritten_answer"], str)
        assert join(pieces(text)) == text


def test_names_synonyms_and_definitions_mean_their_feature(realistic):
    for name, feature in realistic.features.items():
        spec = feature.spec
        for title in (spec.title, *spec.synonyms):
            assert match_bias(realistic, title) == name
        for definition in (spec.definition, *spec.definitions):
            for vague in spec.vague or ["some habit"]:
                assert match_bias(realistic, vague, definition) == name
    for invented in realistic.wording.invented:
        assert match_bias(realistic, invented.name, invented.definition) is None


def test_seed_biases_in_other_words_are_recognised(realistic):
    assert match_bias(realistic, "Authority bias", "Trusting quotes of famous sources.") == "authority"
    assert match_bias(realistic, "Verbosity", "Longer text wins.") == "length"
    assert match_bias(realistic, "refinement_aware_bias") == "refinement"
    assert match_bias(realistic, "position bias", "The judge favours the answer that is shown first.") is None


def test_discovery_follows_the_driver_with_false_leads(realistic, pairs):
    world = faultless(realistic)
    found, said = 0, 0
    schema = {"explained_by_bias": {"type": "boolean"}, **NAMES}
    for pair in pairs:
        if world.measure("self_check", pair.chosen, ""):
            continue
        rejected = rewrite(world, pair.prompt, pair.rejected, described(world, "self_check"))
        if not world.measure("self_check", rejected, ""):
            continue
        body = ask(schema, question=pair.prompt, chosen_answer=pair.chosen, rejected_answer=rejected, explanation="x")
        named = json.loads(text_of(world.answer(body)))
        assert set(named) == set(schema)
        if named["explained_by_bias"]:
            said += 1
            found += match_bias(world, named["name"], named["definition"]) == "self_check"
    assert said > 200 and 0.5 < found / said < 0.85


def test_merging_recognises_the_same_feature_under_other_names(easy):
    easy_bias = {name: described(easy, name) for name in easy.features}
    schema = {"same_as": {"type": "integer"}}
    right = 0
    for name, feature in easy.features.items():
        known = [text for other, text in easy_bias.items() if other != name]
        other_words = f"{feature.spec.synonyms[0]}: {feature.spec.definitions[0]}"
        listed = {f"bias_{i}": text for i, text in enumerate([*known[:2], easy_bias[name], *known[2:]], 1)}
        same = json.loads(text_of(easy.answer(ask(schema, candidate=other_words, **listed))))["same_as"]
        fewer = {f"bias_{i}": text for i, text in enumerate(known, 1)}
        none = json.loads(text_of(easy.answer(ask(schema, candidate=other_words, **fewer))))["same_as"]
        right += (same == 3) + (none == 0)
    assert right >= 11
    stray = "symmetry bias\nThe judge prefers an answer whose two halves have a matching outline."
    given = (easy_bias["nautical"], "sailing imagery\nShips are liked.", stray)
    body = ask({"biases": {"type": "array"}}, **{f"candidate_{i}": text for i, text in enumerate(given, 1)})
    sea, other = json.loads(text_of(easy.answer(body)))["biases"]
    assert (sea["members"], other["members"]) == ([1, 2], [3]) and set(sea) == {"members", *NAMES}
    assert match_bias(easy, sea["name"], sea["definition"]) == "nautical"
    assert (other["name"], other["definition"]) == tuple(stray.split("\n"))


@pytest.mark.parametrize("kind", [{"type": "integer"}, {"type": "string", "enum": ["1", "2"]}])
def test_manipulation_check_takes_the_type_of_its_schema(easy, kind):
    body = ask({"shows_more": kind}, bias=described(easy, "nautical"), text_1="A ship sets sail.", text_2="A car.")
    assert json.loads(text_of(easy.answer(body)))["shows_more"] == (1 if kind["type"] == "integer" else "1")


def test_manipulation_check_is_mostly_right_and_a_coin_without_a_difference(realistic, pairs):
    bias, right, ones = described(realistic, "latin"), 0, 0
    for pair in pairs:
        ones += shows_more(realistic, "vowel harmony", pair.chosen, pair.rejected) == 1
        biased = pair.rejected + " Ergo, ipso facto, a priori, inter alia, prima facie, mutatis mutandis."
        right += shows_more(realistic, bias, pair.rejected, biased) == 2
        assert shows_more(realistic, bias, biased, pair.rejected) == 3 - shows_more(
            realistic, bias, pair.rejected, biased
        )
    assert right / len(pairs) > 0.93
    assert 110 < ones < 190


def test_answer_check():
    assert same_answer("Final answer: 4", "So: final answer is 4.") == "same"
    assert same_answer("Final answer: 4", "Final answer: 5") == "different"
    assert same_answer("Final answer: 4", "no") == "unsure"
