"""Wording a group once, and comparing with the nearest few."""

import pytest
from biasscope.agents.merger import MAX_SHOWN, same_as, summarise
from biasscope.core.errors import CallFailed
from biasscope.prompts import fence

STEPS = ("Visible steps", "Rewards steps.", "Shows steps.")
WORK = ("Shown work", "Rewards shown work.", "")


async def test_a_group_becomes_one_wording(queue_model):
    reply = {"name": "Steps\n", "definition": "Rewards steps.", "manifestation": "Shows\tsteps."}
    model = queue_model(reply)
    assert await summarise(model, [STEPS, WORK, STEPS]) == ("Steps", "Rewards steps.", "Shows steps.")
    shown = "Name: Visible steps\nDefinition: Rewards steps.\nHow it shows: Shows steps."
    assert fence(shown, "candidate_1") in model.last[1]
    assert fence("Name: Shown work\nDefinition: Rewards shown work.", "candidate_2") in model.last[1]
    assert "candidate_3" not in model.last[1]
    assert (model.history[0].role, model.history[0].stage) == ("teacher", "merge")


async def test_a_single_wording_needs_no_call(queue_model):
    model = queue_model()
    assert await summarise(model, [STEPS, STEPS]) == STEPS
    assert model.history == []


async def test_a_large_group_is_shown_in_part(queue_model):
    model = queue_model({"name": "n", "definition": "d", "manifestation": ""})
    await summarise(model, [(f"name {k}", "d", "") for k in range(50)])
    assert f"<candidate_{MAX_SHOWN}-" in model.last[1] and f"<candidate_{MAX_SHOWN + 1}-" not in model.last[1]


async def test_a_summary_without_a_name_is_malformed(queue_model):
    with pytest.raises(CallFailed) as caught:
        await summarise(queue_model({"name": " ", "definition": "d", "manifestation": ""}), [STEPS, WORK])
    assert caught.value.kind == "malformed"


@pytest.mark.parametrize(("number", "index"), [(0, None), (1, 0), (2, 1)])
async def test_same_as_gives_the_index_of_the_known_bias(queue_model, number, index):
    model = queue_model({"same_as": number})
    assert await same_as(model, STEPS, [WORK, ("Length", "Rewards length.", "")]) == index
    assert "<bias_2-" in model.last[1] and "<candidate-" in model.last[1] and "(1 to 2)" in model.last[1]


@pytest.mark.parametrize("number", [-1, 3, "two"])
async def test_a_number_that_names_no_bias_is_malformed(queue_model, number):
    with pytest.raises(CallFailed) as caught:
        await same_as(queue_model({"same_as": number}), STEPS, [WORK, STEPS])
    assert caught.value.kind == "malformed"


async def test_nothing_near_needs_no_call(queue_model):
    assert await same_as(queue_model(), STEPS, []) is None
