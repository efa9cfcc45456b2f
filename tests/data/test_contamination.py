import random

import pytest
from biasscope.builders.preferences.duplicates import NearDuplicates
from biasscope.core.records import PreferencePair
from biasscope.data.contamination import PromptIndex, prompt_key

LONG = "A train leaves the station at nine and travels sixty miles an hour; when does it reach the town of Ashford?"


@pytest.fixture
def index():
    made = PromptIndex(0.8)
    made.add(LONG, "trains.jsonl")
    made.add("What is 2 + 2?", "sums.jsonl")
    return made


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        (LONG, ("same", "trains.jsonl", 1.0)),
        (LONG.upper().replace(";", " -- "), ("same", "trains.jsonl", 1.0)),
        (f"You are a tutor. {LONG} Think first.", ("near", "trains.jsonl", 1.0)),
        (LONG.replace("Ashford", "Dover"), ("near", "trains.jsonl", 13 / 14)),
        (LONG.replace("sixty", "seventy"), None),  # every second sequence of eight is another one
        ("what is 2+2", ("same", "sums.jsonl", 1.0)),
        ("Tell me: what is 2 + 2? And then?", None),  # too short to be found inside another prompt
        ("Something else altogether.", None),
        ("", None),
    ],
)
def test_found(index, prompt, found):
    overlap = index.find(prompt)
    if found is None:
        assert overlap is None
    else:
        assert (overlap.kind, overlap.where) == found[:2]
        assert overlap.share == pytest.approx(found[2])


def test_the_nearest_test_prompt_is_named(index):
    index.add(LONG.replace("Ashford", "Dover by the sea"), "others.jsonl")
    assert index.find(LONG.replace("Ashford", "Dover by the sea tonight")).where == "others.jsonl"
    assert len(index) == 3


def test_prompts_that_differ_in_marks_share_a_key():
    assert prompt_key("Hello, World!") == prompt_key("hello   world") != prompt_key("hello word")


def pair(words, id="p"):
    text = " ".join(words)
    return PreferencePair(id=id, prompt=text, chosen="fine", rejected="poor")


def test_near_duplicates_are_found_and_others_are_not():
    generator = random.Random(0)
    vocabulary = [f"word{k}" for k in range(3000)]
    texts = [generator.choices(vocabulary, k=120) for _ in range(150)]
    seen = NearDuplicates()
    assert all(seen.add(pair(text)) for text in texts)
    assert not any(seen.add(pair(text)) for text in texts)
    # One changed word of 120 changes two of about 121 word pairs: similarity 0.97.
    close = [[*text[:60], "changed", *text[61:]] for text in texts]
    assert sum(seen.add(pair(text)) for text in close) <= 2
    # Half the words changed: similarity 1/3.
    far = [text[:60] + generator.choices(vocabulary, k=60) for text in texts]
    assert sum(seen.add(pair(text)) for text in far) >= 148


def test_another_answer_to_the_same_prompt_is_no_duplicate():
    seen = NearDuplicates()
    question = "How do tides work?"
    answers = ["The moon pulls the water of the seas.", "Because the wind blows over the oceans at night."]
    assert [
        seen.add(PreferencePair(id=str(k), prompt=question, chosen=text, rejected="No idea."))
        for k, text in enumerate(answers)
    ] == [True, True]
