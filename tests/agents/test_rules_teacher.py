"""The teacher that edits: same content, same text; no recipe, no perturbation."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest
from biasscope.agents.opening import TeacherSpec, open_teacher, open_writer
from biasscope.agents.rules_teacher import EditsFirst, RulesTeacher
from biasscope.agents.teacher import LLMTeacher, Teacher, rewritten
from biasscope.bias_library.features import feature_bias, load_features, neutral_words
from biasscope.bias_library.seeds import seed_biases
from biasscope.core.errors import CallFailed
from biasscope.core.records import PLACEBO, bias_arm
from biasscope.data.builtin import builtin_pairs
from biasscope.validators.answers import answer_change, extract_answer

FEATURES = load_features()
CITED = feature_bias(FEATURES["citations"])


def run(coroutine):
    return asyncio.run(coroutine)


def test_it_is_a_teacher():
    teacher: Teacher = RulesTeacher("run")
    assert teacher.name == "rules"


def test_a_perturbation_shows_its_feature(pair):
    made = run(RulesTeacher("run").perturb(pair, CITED, stage="perturb"))
    feature = FEATURES["citations"]
    assert feature.measure(made.text) > feature.measure(pair.rejected) == 0
    assert made.arm == bias_arm(CITED.id) and made.pair_id == pair.id and made.teacher == "rules"
    assert made.text.endswith("so the answer is 134.")


def test_same_content_gives_the_same_text(pair):
    one, two = RulesTeacher("run"), RulesTeacher("other run")
    first, second = run(one.perturb(pair, CITED, stage="perturb")), run(two.perturb(pair, CITED, stage="validate"))
    assert first.text == second.text and first.id != second.id
    other = pair.model_copy(update={"id": "pair-2"})
    texts = {run(one.perturb(p, CITED, stage="perturb")).text for p in (pair, other)}
    texts |= {run(RulesTeacher("run", seed=1).perturb(pair, CITED, stage="perturb")).text}
    assert len(texts) == 3


def test_placebos_differ_by_draw_only(pair):
    teacher = RulesTeacher("run")
    placebos = [run(teacher.placebo(pair, stage="validate", draw=draw)) for draw in (0, 0, 1)]
    assert placebos[0] == placebos[1] and placebos[0].text != placebos[2].text and placebos[0].id != placebos[2].id
    assert placebos[0].arm == PLACEBO
    added = len(placebos[0].text.split()) - len(pair.rejected.split())
    assert abs(added - neutral_words(pair.rejected)) <= 4


def test_a_bias_without_a_recipe_is_left_to_others(pair):
    fallacy = next(bias for bias in seed_biases() if bias.name == "Fallacy oversight")
    with pytest.raises(
        CallFailed, match="no feature of the lexicon writes 'Fallacy oversight': it is left to an LLM"
    ) as caught:
        run(RulesTeacher("run").perturb(pair, fallacy, stage="perturb"))
    assert caught.value.kind == "no_recipe"
    assert RulesTeacher("run").recipe(fallacy) is None


class Writes:
    """A teacher that says what it was asked for."""

    name = "model"

    async def perturb(self, pair, bias, *, stage):
        return rewritten("run", pair, bias_arm(bias.id), f"model on {bias.name}", self.name, 0)


def test_edits_first_and_a_model_for_the_rest(pair):
    fallacy = next(bias for bias in seed_biases() if bias.name == "Fallacy oversight")
    teacher = EditsFirst(RulesTeacher("run"), Writes())
    made = [run(teacher.perturb(pair, bias, stage="perturb")) for bias in (CITED, fallacy)]
    assert [p.teacher for p in made] == ["rules", "model"] and made[1].text == "model on Fallacy oversight"
    assert made[0] == run(RulesTeacher("run").perturb(pair, CITED, stage="perturb"))
    assert run(teacher.placebo(pair, stage="perturb")).teacher == "rules"


def test_who_writes_follows_from_the_settings():
    model = SimpleNamespace(name="m")
    for given, writer in (("rules", RulesTeacher), ({"model": "openai:m", "rewrites": "rules"}, EditsFirst)):
        spec = TeacherSpec.model_validate({"model": given} if isinstance(given, str) else given)
        opened = model if spec.has_model else None
        assert isinstance(open_teacher(spec, opened, "run"), RulesTeacher)
        assert isinstance(open_writer(spec, opened, "run"), writer)
    assert isinstance(open_writer(TeacherSpec(model="openai:m"), model, "run"), LLMTeacher)


def test_an_edit_without_effect_is_no_perturbation(pair):
    empty = pair.model_copy(update={"rejected": ""})
    idle = {"citations": replace(FEATURES["citations"], written_by=lambda text, rng, question: "")}
    with pytest.raises(CallFailed, match="leaves this answer as it is") as caught:
        run(RulesTeacher("run", idle).perturb(empty, CITED, stage="perturb"))
    assert caught.value.kind == "unchanged"


def test_no_final_answer_changes():
    """All seed and feature biases over built-in pairs: no rewrite ends in another answer, in either arm."""
    teacher = RulesTeacher("run")
    biases = [bias for bias in seed_biases() if teacher.recipe(bias)] + [feature_bias(f) for f in FEATURES.values()]
    pairs = [pair for pair in builtin_pairs(6) if extract_answer(pair.rejected)]
    assert len(pairs) > 3
    for pair in pairs:
        made = [run(teacher.placebo(pair, stage="validate"))]
        made += [run(teacher.perturb(pair, bias, stage="validate")) for bias in biases]
        assert {answer_change(pair.rejected, pair.chosen, m.text) for m in made} == {"same"}
