"""Wording a group once, and comparing with the nearest few."""

import pytest
from biasscope.agents.merger import same_as, summarise
from biasscope.core.errors import CallFailed
from biasscope.prompts import fence

STEPS = ("Visible steps", "Rewards steps.", "Shows steps.")
WORK = ("Shown work", "Rewards shown work.", "")


def entry(*members, name="Steps\n", definition="Rewards steps."):
    return {"members": list(members), "name": name, "definition": definition, "manifestation": "Shows\tsteps."}


async def test_a_group_is_sorted_into_biases(queue_model):
    model = queue_model({"biases": [entry(1, 3), entry(2, name="Work"), entry(name="Nothing")]})
    assert await summarise(model, [STEPS, WORK, STEPS]) == [
        ("Steps", "Rewards steps.", "Shows steps.", (0, 2)),
        ("Work", "Rewards steps.", "Shows steps.", (1,)),
    ]
    shown = "Name: Visible steps\nDefinition: Rewards steps.\nHow it shows: Shows steps."
    assert fence(shown, "candidate_1") in model.last[1]
    assert fence("Name: Shown work\nDefinition: Rewards shown work.", "candidate_2") in model.last[1]
    assert (model.history[0].role, model.history[0].stage) == ("teacher", "merge")


@pytest.mark.parametrize("bad", [entry(1, name=" "), entry(0), entry(3), entry(1, definition="")])
async def test_a_summary_without_words_or_of_nothing_is_malformed(queue_model, bad):
    with pytest.raises(CallFailed) as caught:
        await summarise(queue_model({"biases": [bad]}), [STEPS, WORK])
    assert caught.value.kind == "malformed"


@pytest.mark.parametrize(("number", "index"), [(0, None), (1, 0), (2, 1)])
async def test_same_as_gives_the_index_of_the_known_bias(queue_model, number, index):
    model = queue_model({"same_as": number})
    assert await same_as(model, STEPS, [WORK, ("Length", "Rewards length.", "")]) == index
    assert "<bias_2-" in model.last[1] and "<candidate-" in model.last[1] and "(1 to 2)" in model.last[1]


@pytest.mark.parametrize("number", [-1, 3, "two"])
async def test_a_number_that_names_no_bias_is_malformed(queue_model, number):
    with pytest.raises(CallFailed) as caught:
        await same_as(queue_model({"same_as": number}, {"same_as": number}), STEPS, [WORK, STEPS])
    assert caught.value.kind == "malformed"


async def test_nothing_near_needs_no_call(queue_model):
    assert await same_as(queue_model(), STEPS, []) is None
