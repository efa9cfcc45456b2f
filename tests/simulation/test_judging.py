import re

from biasscope.simulation.effects import true_effects, wrong_rate
from biasscope.simulation.judging import read
from biasscope.simulation.pairs import world_pairs
from biasscope.simulation.teaching import rewrite
from biasscope.simulation.world import World
from world_asking import ask, judge, text_of


def quiet(world: World, **judge_fields: float) -> World:
    """The world without faults, and with another judge."""
    spec = world.spec.model_copy(
        update={
            "judge": world.spec.judge.model_copy(update=judge_fields),
            "rates": world.spec.rates.model_copy(update={"refusals": 0.0, "malformed": 0.0}),
        }
    )
    return World(spec)


def letter(reply):
    return re.findall(r"\[\[([ABC])\]\]", text_of(reply))[-1]


def test_swapping_the_answers_mirrors_the_margin_up_to_the_position_bonus(realistic, pairs):
    for pair in pairs[:50]:
        one = read(realistic, pair.prompt, pair.chosen, pair.rejected).margin
        other = read(realistic, pair.prompt, pair.rejected, pair.chosen).margin
        assert abs(one + other - 2 * realistic.spec.judge.position) < 1e-9


def test_verdict_depends_on_nothing_but_the_texts(realistic, pairs):
    world = quiet(realistic, position=0.0, tie_band=0.0)
    mirror = {"A": "B", "B": "A"}
    for number, pair in enumerate(pairs[:40]):
        said = letter(world.answer(judge(pair.prompt, pair.chosen, pair.rejected)))
        again = judge(pair.prompt, pair.chosen, pair.rejected, model=f"other-{number}", user="somebody", seed=number)
        assert letter(world.answer(again)) == said
        assert letter(world.answer(judge(pair.prompt, pair.rejected, pair.chosen))) == mirror[said]


def test_position_weight_moves_verdicts_to_the_first_answer(easy):
    pairs = world_pairs(easy, 200, seed=1)
    plain, drawn = quiet(easy, position=0.0), quiet(easy, position=1.5)

    def first(world):
        return sum(read(world, p.prompt, p.rejected, p.chosen).margin > 0 for p in pairs)

    assert first(drawn) > first(plain) + 20


def test_weights_order_the_true_effects(realistic, pairs):
    effects = true_effects(realistic, pairs, 150)
    weights = realistic.spec.judge.weights
    for strong in ("self_check", "authority", "latin", "nautical", "signposting", "parenthetical", "bold", "length"):
        assert effects[strong] >= 8
    assert 1.5 < effects["proverbs"] < 8 and 2 < effects["legalese"] < 9
    assert effects["hedges"] < -5 and effects["ellipses"] < -5
    assert all(abs(effect) < 2.5 for name, effect in effects.items() if not weights.get(name))
    assert effects["self_check"] > effects["bold"] > effects["proverbs"]


def test_null_world_has_no_effect_beyond_noise(null, pairs):
    assert all(abs(effect) < 1e-9 for effect in true_effects(null, pairs, 40).values())
    # Drawn verdicts: differences between arms are noise around zero, of the size that rewording alone makes.
    noise = 0.0
    for name in ("self_check", "authority", "bold", "hedges"):
        spec = null.features[name].spec
        gaps = []
        for pair in pairs:
            neutral = rewrite(null, pair.prompt, pair.rejected, None)
            biased = rewrite(null, pair.prompt, pair.rejected, f"{spec.title}\n{spec.definition}")
            margins = [read(null, pair.prompt, text, pair.chosen).margin for text in (biased, neutral)]
            gaps.append((margins[0] > 0) - (margins[1] > 0))
        moved = sum(gap != 0 for gap in gaps)
        assert 0.10 <= moved / len(gaps) <= 0.30
        assert abs(sum(gaps)) < 3.5 * moved**0.5
        noise += moved
    assert noise > 0


def test_rewording_moves_a_realistic_share_of_verdicts(realistic, pairs):
    moved = 0
    for pair in pairs:
        texts = (pair.rejected, rewrite(realistic, pair.prompt, pair.rejected, None))
        signs = [read(realistic, pair.prompt, text, pair.chosen).margin > 0 for text in texts]
        moved += signs[0] != signs[1]
    assert 0.12 <= moved / len(pairs) <= 0.30


def test_expected_error_agrees_with_drawn_verdicts(realistic, pairs):
    drawn, expected = 0.0, 0.0
    world = quiet(realistic, tie_band=0.0)
    for seed in range(4):
        seeded = world.with_seed(seed)
        for pair in pairs:
            drawn += read(seeded, pair.prompt, pair.rejected, pair.chosen).margin > 0
            drawn += read(seeded, pair.prompt, pair.chosen, pair.rejected).margin < 0
            expected += 2 * wrong_rate(seeded, pair, pair.rejected)
    assert abs(drawn - expected) / (8 * len(pairs)) < 0.02


def test_a_letter_comes_with_its_alternatives(easy):
    pair = world_pairs(easy, 1)[0]
    body = ask(question=pair.prompt, answer_a=pair.chosen, answer_b=pair.rejected, tail="Reply with one letter.")
    reply = easy.answer({**body, "max_tokens": 1, "logprobs": True, "top_logprobs": 20})
    token = reply["choices"][0]["logprobs"]["content"][0]
    assert text_of(reply) == token["token"] == token["top_logprobs"][0]["token"]
    assert {one["token"] for one in token["top_logprobs"]} == {"A", "B", "C"}
    assert reply["choices"][0]["finish_reason"] == "stop"


def test_a_reminder_gets_a_bare_verdict_and_another_turn_an_explanation(easy):
    pair = world_pairs(easy, 1)[0]
    body = judge(pair.prompt, pair.chosen, pair.rejected)
    said = text_of(easy.answer(body))
    turns = [*body["messages"], {"role": "assistant", "content": said}]
    reminder = "Reply with your verdict only: [[A]] or [[B]] or [[C]]."
    bare = easy.answer({"messages": [*turns, {"role": "user", "content": reminder}]})
    assert text_of(bare) == said[-5:]
    deeper = easy.answer({"messages": [*turns, {"role": "user", "content": "Explain your choice more deeply."}]})
    assert "[[" not in text_of(deeper) and len(text_of(deeper)) > 100


def test_explanations_name_what_drove_the_verdict(easy):
    named = driven = 0
    for pair in world_pairs(easy, 150, seed=4):
        reading = read(easy, pair.prompt, pair.chosen, pair.rejected)
        letter = "A" if reading.margin > 0 else "B"
        sign = 1 if letter == "A" else -1
        drivers = {name for name, part in reading.moved.items() if part * sign > 0.5}
        if drivers:
            body = ask(question=pair.prompt, answer_a=pair.chosen, answer_b=pair.rejected, verdict=f"[[{letter}]]")
            driven += 1
            named += bool(drivers & easy.recogniser.mentioned(text_of(easy.answer(body))))
    assert driven > 30 and named / driven > 0.7
