"""From a misjudgment to a candidate, or to none."""

import pytest
from biasscope.agents.discoverer import discover
from biasscope.agents.wording import NAME_LENGTH, TEXT_LENGTH, clean_line, clean_wording
from biasscope.core.errors import CallFailed
from biasscope.core.records import Explanation, Judgment
from biasscope.prompts import fence
from hypothesis import given
from hypothesis import strategies as st


@pytest.fixture
def judgment(pair):
    given = {"arm": "original", "order": "rejected_first", "verdict": "rejected", "judge": "j"}
    return Judgment(id="j1", run_id="run", pair_id=pair.id, reasoning="A shows steps. [[A]]", **given)


def finding(**changes):
    texts = {"name": "Visible steps", "definition": "Rewards steps.", "manifestation": "Shows steps."}
    return {"explained_by_bias": True, **texts, **changes}


async def test_a_candidate_with_its_provenance(queue_model, pair, judgment, bias):
    model = queue_model(finding())
    told = Explanation(id="e", run_id="run", judgment_id="j1", text="The steps convince.", by="j")
    candidate = await discover(model, pair, judgment, "rewritten", told, bias, iteration=2)
    assert (candidate.name, candidate.definition) == ("Visible steps", "Rewards steps.")
    assert (candidate.judgment_id, candidate.pair_id, candidate.source_bias) == ("j1", pair.id, bias.id)
    assert (candidate.iteration, candidate.request_id) == (2, model.history[0].id)
    asked = model.last[1]
    for text, label in (
        (pair.prompt, "question"),
        (pair.chosen, "chosen_answer"),
        ("rewritten", "rejected_answer"),
        (judgment.reasoning, "reasoning"),
        (told.text, "explanation"),
    ):
        assert fence(text, label) in asked
    assert "saw as answer B:" in asked and "saw as answer A and" in asked
    assert bias.definition in asked
    assert (model.history[0].role, model.history[0].stage) == ("teacher", "discover")


async def test_without_explanation_and_bias(queue_model, pair, judgment):
    model = queue_model(finding())
    candidate = await discover(model, pair, judgment, pair.rejected, None, None, iteration=0)
    assert candidate.source_bias == ""
    assert "<explanation-" not in model.last[1] and "<injected_bias-" not in model.last[1]


async def test_no_bias_no_candidate(queue_model, pair, judgment):
    model = queue_model(finding(explained_by_bias=False, name="", definition="", manifestation=""))
    assert await discover(model, pair, judgment, pair.rejected, None, None, iteration=0) is None


@pytest.mark.parametrize("changes", [{"name": ""}, {"name": " **\u200b "}, {"definition": "\n"}, {"name": None}])
async def test_a_bias_without_words_is_malformed(queue_model, pair, judgment, changes):
    with pytest.raises(CallFailed) as caught:
        await discover(queue_model(*[finding(**changes)] * 2), pair, judgment, pair.rejected, None, None, iteration=0)
    assert caught.value.kind == "malformed" and caught.value.request_id


async def test_wording_is_cleaned(queue_model, pair, judgment):
    model = queue_model(finding(name='**"Visible\nsteps\x07"**', definition="Rewards\t\u202esteps " + "x " * 1000))
    candidate = await discover(model, pair, judgment, pair.rejected, None, None, iteration=0)
    assert candidate.name == "Visible steps"
    assert candidate.definition.startswith("Rewards steps x") and len(candidate.definition) <= TEXT_LENGTH


@given(st.text(), st.integers(2, 100))
def test_a_clean_line_is_short_and_single(text, limit):
    line = clean_line(text, limit)
    assert len(line) <= limit
    assert line.splitlines() in ([], [line])
    assert line == clean_line(line, limit)


def test_a_clean_line_is_cut_between_words():
    assert clean_line("prefers the longer answer", 20) == "prefers the longer…"
    assert clean_line("x" * 30, 10) == "x" * 9 + "…"


def test_names_are_bounded():
    assert len(clean_wording("long " * 100, "d", "", "r").name) <= NAME_LENGTH


@pytest.mark.parametrize(
    "name", ["Known bias", "the known bias.", "injected_bias", "{name}", "Known bias: {name}", "the {lower}"]
)
async def test_an_echo_of_the_known_bias_is_that_bias(queue_model, pair, judgment, bias, name):
    said = name.format(name=bias.name, lower=bias.name.casefold().removesuffix(" bias"))
    model = queue_model(finding(name=said, definition="The judge prefers the worse answer."))
    candidate = await discover(model, pair, judgment, "rewritten", None, bias, iteration=0)
    assert (candidate.name, candidate.definition) == (bias.name, bias.definition)


@pytest.mark.parametrize("name", ["Known bias", "bias", "The bias name", "Two to five words", "None"])
async def test_a_name_made_of_the_prompts_words_is_malformed(queue_model, pair, judgment, name):
    with pytest.raises(CallFailed) as caught:
        await discover(queue_model(finding(name=name)), pair, judgment, pair.rejected, None, None, iteration=0)
    assert caught.value.kind == "malformed"


@pytest.mark.parametrize("name", ["Words over known facts", "No authority", "Authority of length"])
async def test_another_name_beside_a_known_bias_stays(queue_model, pair, judgment, bias, name):
    candidate = await discover(queue_model(finding(name=name)), pair, judgment, "rewritten", None, bias, iteration=0)
    assert (candidate.name, candidate.definition) == (name, "Rewards steps.")
