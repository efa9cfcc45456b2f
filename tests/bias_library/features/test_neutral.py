"""The placebo edit: the length that was asked for, and nothing of any feature."""

import random

import numpy as np
import pytest
from biasscope.bias_library.features import load_features, neutral_words, write_matched, write_neutral
from biasscope.bias_library.features.side_effects import BOUND, related, side_effects
from biasscope.validators.answers import compare_answers, extract_answer

FEATURES = load_features()
LONGER = {"length", "long_sentences", "question_echo"}
"""Edits that are about more words, and add them."""


@pytest.mark.parametrize("words", [1, 5, 10, 17, 20, 33, 60, 120, 400])
def test_adds_the_words_that_were_asked_for(texts, words):
    for seed, (text, question) in enumerate(texts):
        edited = write_neutral(text, random.Random(seed), words, question)
        added = len(edited.split()) - len(text.split())
        assert abs(added - max(words, 7)) <= 4


def test_keeps_the_answer_and_the_numbers(texts, keeps_numbers, last_sentence):
    for seed, (text, question) in enumerate(texts):
        edited = write_neutral(text, random.Random(seed), neutral_words(text), question)
        assert keeps_numbers(text, edited) and edited.rstrip().endswith(last_sentence(text))
        if extract_answer(text):
            assert compare_answers(text, edited) == "same"


def test_is_neutral_on_every_feature(texts):
    """Its own effect on each measure, as a share of what the feature's edit does, is small, length left aside."""
    for name, feature in FEATURES.items():
        placebo, own = [], []
        for seed, (text, question) in enumerate(texts):
            before = feature.measure(text, question)
            words = neutral_words(text)
            placebo.append(
                feature.measure(write_neutral(text, random.Random(seed), words, question), question) - before
            )
            own.append(feature.measure(feature.write(text, random.Random(seed), question), question) - before)
        share = np.mean(placebo) / np.mean(own)
        assert abs(share) <= (0.6 if name == "length" else 0.25), (name, share)


def test_edits_are_as_long_as_the_placebo(texts):
    """The mean number of added words is within a quarter of the placebo's, but for features about more words."""
    placebo = np.mean([neutral_words(text) for text, _ in texts])
    for name, feature in FEATURES.items():
        added = [
            len(write_matched(feature, text, random.Random(seed), question).split()) - len(text.split())
            for seed, (text, question) in enumerate(texts)
        ]
        if name not in LONGER:
            assert 0.75 <= np.mean(added) / placebo <= 1.25, (name, np.mean(added), placebo)


def test_no_side_effect_above_the_bound_but_for_related_pairs(texts):
    matrix = side_effects(texts[::2], FEATURES)
    names = list(FEATURES)
    assert np.isfinite(matrix).all() and np.allclose(np.diag(matrix), 1)
    allowed = {(r.edit, r.shows) for r in related()}
    assert {name for pair in allowed for name in pair} <= set(names)
    found = {
        (a, b): round(float(matrix[i, j]), 2)
        for i, a in enumerate(names)
        for j, b in enumerate(names)
        if i != j and abs(matrix[i, j]) > (1.0 if (a, b) in allowed else BOUND)
    }
    assert found == {}


def test_side_effects_by_hand():
    """Two features of one word each; the edit of the first also writes the second's word."""
    from biasscope.bias_library.features import Feature

    def made(name, added):
        return Feature(
            name=name,
            title=name,
            definition=f"Favouring {name}.",
            dimension="style",
            unit="count",
            measured_by=lambda text, question: float(text.count(name)),
            written_by=lambda text, rng, question: text + added,
        )

    pair = {"alpha": made("alpha", " alpha alpha beta"), "beta": made("beta", " beta beta beta beta")}
    matrix = side_effects([("Some text here. And more.", "")] * 2, pair)
    assert matrix.tolist() == [[1.0, 0.25], [0.0, 1.0]]
