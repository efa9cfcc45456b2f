"""What each edit of the lexicon must do, and what it must leave alone."""

import random
import re
import time

import numpy as np
import pytest
from biasscope.bias_library.features import feature_bias, load_features, write_matched
from biasscope.validators.answers import compare_answers, extract_answer
from hypothesis import given, settings
from hypothesis import strategies as st

FEATURES = load_features()
every_feature = pytest.mark.parametrize("feature", FEATURES.values(), ids=FEATURES)
CODE = "def f(x):\n    return x + 1\n\nfor i in range(3):\n    print(f(i))"
FENCE = re.compile(r"```python\n.*?```", re.DOTALL)
LARGE = (
    "A line of words goes on for a while, and then it ends. " * 40 + "\n\n"
) * 40 + "So it is 7.\n\nThe answer is 42."
HARD = {
    "empty": "",
    "blank": " \n\t\n ",
    "surrogates": "Broken \ud800 text \udfff here. And \ud83d more of it. The answer is 4.",
    "control": "A \x00 b \x1b[31m c.\u202e Some more. The answer is 4.",
    "markup": "<b>One</b> {{ two }} {topic} {0} %s \\1 \\g<0>. | a | b |\n## x\n> y\n*z* `w`\n\nThe answer is 4.",
    "open fence": "Text before. More text.\n```python\nx = 1\n" + "y = 2\n" * 20,
    "code": CODE,
    "chinese": "答案如下。第一步是看题。第二步是计算。答案是 12。",
    "one word": "12",
    "no stops": "word " * 500,
    "dots": "." * 20_000 + "x",
    "stars": "*" * 5_000 + "_" * 5_000 + "`" * 5_000 + "(" * 5_000 + '"' * 5_000 + "[" * 5_000,
}


@every_feature
def test_writing_raises_its_own_measure(feature, texts):
    gains = []
    for number, (text, question) in enumerate(texts):
        edited = feature.write(text, random.Random(number), question)
        gains.append(feature.measure(edited, question) - feature.measure(text, question))
    assert np.median(gains) >= 1.0
    assert np.mean(np.array(gains) > 0) >= 0.9


@every_feature
def test_answer_and_numbers_stay(feature, texts, keeps_numbers, last_sentence):
    for number, (text, question) in enumerate(texts):
        edited = feature.write(text, random.Random(number), question)
        assert keeps_numbers(text, edited), edited
        if extract_answer(text):
            assert compare_answers(text, edited) == "same", edited
        if re.search(r"\d|answer", last_sentence(text), re.IGNORECASE):
            assert edited.rstrip().endswith(last_sentence(text)), edited
        assert FENCE.findall(text) == FENCE.findall(edited)


@every_feature
def test_a_second_edit_adds_no_more_than_the_first(feature, texts):
    for number, (text, question) in enumerate(texts[::4]):
        once = feature.write(text, random.Random(number), question)
        twice = feature.write(once, random.Random(number + 99), question)
        first = len(once.split()) - len(text.split())
        assert len(twice.split()) - len(once.split()) <= 2.1 * first + 25


@every_feature
def test_the_same_seed_gives_the_same_text(feature, texts):
    text, question = texts[0]
    same = {feature.write(text, random.Random(5), question) for _ in range(2)}
    several = {feature.write(text, random.Random(seed), question) for seed in range(8)}
    assert len(same) == 1
    assert len(several) > 1 or feature.name in ("horizontal_rules", "bullets", "numbered_steps")


@every_feature
def test_hard_texts(feature, keeps_numbers):
    for name, text in HARD.items():
        edited = feature.write(text, random.Random(0))
        assert feature.measure(text) >= 0 and feature.measure(edited) >= 0, name
        assert keeps_numbers(text, edited), name
        assert len(edited) < 4 * len(text) + 2000, name
    assert CODE in feature.write(CODE, random.Random(0))
    assert feature.write(HARD["open fence"], random.Random(0)).endswith("y = 2\n" * 20)


@every_feature
def test_a_hundred_thousand_characters(feature):
    start = time.process_time()
    edited = feature.write(LARGE, random.Random(0))
    feature.measure(edited)
    assert time.process_time() - start < 3
    assert len(LARGE) > 88_000 and edited.rstrip().endswith("The answer is 42.")
    assert edited != LARGE


@every_feature
def test_measuring_is_linear_on_hostile_texts(feature):
    start = time.process_time()
    for unit in ("1", "a", "A ", "(A", '"', "*", "_a ", "it's ", "is ", "1 out of ", "[^", "confidence ", "a:", "| "):
        assert feature.measure((unit * 50_000)[:50_000]) >= 0
    assert time.process_time() - start < 3


@every_feature
def test_as_a_bias(feature):
    bias = feature_bias(feature)
    assert bias.origin == "feature" and bias.name == feature.title
    assert bias.definition.startswith(("Favouring an answer ", "Judging an answer "))


@settings(deadline=None, max_examples=150, derandomize=True)
@given(
    st.sampled_from(list(FEATURES)),
    st.lists(
        st.one_of(
            st.text(st.characters(), max_size=30),
            st.sampled_from(
                ["A line ends.", "\n\n", "\n- item 3.", "\n# Head\n", "\n```\nx = 1\n```\n", "**b** 4.5!", "It is so. "]
            ),
        ),
        max_size=12,
    ).map("".join),
    st.text(max_size=40),
)
def test_any_text(name, text, question):
    feature = FEATURES[name]
    edited = write_matched(feature, text, random.Random(0), question)
    assert feature.measure(edited, question) >= 0
    left = iter(re.findall(r"[0-9]+", edited))
    assert all(number in left for number in re.findall(r"[0-9]+", text))


def test_there_are_enough_and_their_names_are_apart():
    assert len(FEATURES) >= 60
    assert len({f.title for f in FEATURES.values()}) == len({f.definition for f in FEATURES.values()}) == len(FEATURES)


def test_every_template_shows_its_feature():
    """No template is only there for its looks."""
    import yaml
    from biasscope.bias_library.features.lexicon import _FOLDER, FILES
    from biasscope.bias_library.features.templates import fill

    for file in FILES:
        for row in yaml.safe_load((_FOLDER / f"{file}.yaml").read_text(encoding="utf-8")):
            if row.get("written_as") or row["name"] == "question_echo":
                continue
            write = row["write"]
            for template in write["templates"]:
                text = fill(template, write.get("slots", {}), random.Random(1))
                assert FEATURES[row["name"]].measure(text) > 0, (row["name"], text)
