"""What the edits that take a feature out must do, and what they must leave alone."""

import random
import re

import pytest
from biasscope.bias_library.features import WEAKENERS, load_features, weaken
from biasscope.bias_library.taxonomy import taxonomy
from biasscope.validators.answers import compare_answers, extract_answer

every_bias = pytest.mark.parametrize("bias", WEAKENERS)
MARK = {
    "Length": "summaries",
    "Authority": "citations",
    "Beauty": "headings",
    "Assertiveness": "certainty",
    "Sycophancy": "praise",
    "Sentiment": "exclamation_marks",
    "Concreteness": "parentheticals",
}
SHOWY = """Great question! I'd be happy to help.

## Overview

**Photosynthesis** is, without a doubt, a key process (e.g. in oak trees). According to the National Institute of \
Plants, plants clearly make sugar (Smith et al., 2019)[3]. It takes 6 molecules of water! How wonderful this is!

- Light is *absorbed* 🌟 by leaves.
- Water moves up.

In summary, plants make sugar. The answer is 42."""


def weakened(bias, text, question="", seed=0):
    return weaken(bias, text, random.Random(seed), question)


def test_each_rewritten_bias_of_the_taxonomy_has_one():
    assert list(WEAKENERS) == [t.name for t in taxonomy() if t.how == "rewrite"]


@every_bias
def test_the_feature_goes(bias):
    feature = load_features()[MARK[bias]]
    assert feature.measure(weakened(bias, SHOWY)) < feature.measure(SHOWY)


def test_what_is_left_reads_on():
    assert weakened("Sycophancy", SHOWY).startswith("I'd be happy to help.\n\n## Overview")
    assert "Plants clearly make sugar. It takes 6" in weakened("Authority", SHOWY)
    assert "**Photosynthesis** is a key process" in weakened("Assertiveness", SHOWY)
    assert weakened("Length", SHOWY).endswith("- Water moves up.\n\nThe answer is 42.")
    assert "Light is absorbed by leaves.\nWater moves up." in weakened("Beauty", SHOWY)
    assert "water. How wonderful" not in weakened("Sentiment", SHOWY)
    assert "a key process. According" in weakened("Concreteness", SHOWY)


@every_bias
def test_answer_numbers_and_code_stay(bias, texts, keeps_numbers):
    for number, (text, question) in enumerate(texts):
        edited = weakened(bias, text, question, number)
        assert bias == "Authority" or keeps_numbers(text, edited), edited
        if extract_answer(text):
            assert compare_answers(text, edited) == "same", edited
        fence = re.compile(r"```python\n.*?```", re.DOTALL)
        assert fence.findall(text) == fence.findall(edited)


@every_bias
def test_most_of_the_content_stays(bias, texts):
    for text, question in texts:
        before = set(re.findall(r"\w{5,}", text.casefold()))
        after = set(re.findall(r"\w{5,}", weakened(bias, text, question).casefold()))
        assert len(before & after) >= 0.6 * len(before)


@every_bias
@pytest.mark.parametrize(
    "text",
    ["", " \n\t\n ", "12", "word " * 500, "." * 20_000 + "x", "*" * 5_000 + "_" * 5_000 + "(" * 5_000 + "[" * 5_000,
     "Broken \ud800 text. The answer is 4.", "答案如下。第一步是看题。答案是 12。", "def f(x):\n    return x + 1"],
)  # fmt: skip
def test_odd_texts_do_no_harm(bias, text):
    edited = weakened(bias, text)
    assert isinstance(edited, str)
    if text.strip() and bias not in ("Beauty", "Assertiveness"):
        assert edited.strip() == text.strip()


def test_a_large_text_takes_no_time_to_speak_of():
    text = "A line of words goes on, certainly (for example here), and then it ends! " * 4000 + "The answer is 42."
    for bias in WEAKENERS:
        assert weakened(bias, text).endswith("The answer is 42.")
