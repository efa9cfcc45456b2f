"""Pickers and the classifier: known answers, chance on noise, no leak between variants of one prompt."""

import numpy as np
import pytest
from biasscope.core.errors import DataError
from biasscope.validators.proportions import wilson
from biasscope.validators.shortcuts import beats_chance, classifier, picker


def test_a_picker_by_hand():
    found = picker([5, 1, 3, 2], [1, 5, 3, 1], list("abcd"))
    assert found.rate == (1 + 0 + 0.5 + 1) / 4
    assert picker([5, 5, 5], [1, 1, 1], list("abc")).low == wilson(3, 3)[0]
    with pytest.raises(DataError, match="rejected: 1 values for 2"):
        picker([1, 2], [1], ["a", "b"])


def test_more_and_less_are_complements():
    rng = np.random.default_rng(0)
    a, b, groups = rng.integers(0, 4, 80), rng.integers(0, 4, 80), list(rng.integers(0, 20, 80))
    assert picker(a, b, groups).rate == pytest.approx(1 - picker(-a, -b, groups).rate)


def test_the_classifier_finds_what_is_there():
    rng = np.random.default_rng(1)
    d = rng.normal(size=(400, 6))
    d[:, 2] += 1.0
    best = float((d[:, 2] > 0).mean())
    found = classifier(d, list(range(400)))
    assert found.rate == pytest.approx(best, abs=0.04)
    assert found.low > 0.7
    assert beats_chance(found)
    assert classifier(-d, list(range(400))).rate == pytest.approx(found.rate)


def test_the_classifier_is_at_chance_on_noise():
    """Level: the lower bound is above one half in about 2.5 % of sets without any signal."""
    rng = np.random.default_rng(2)
    rates, false = [], 0
    for _ in range(200):
        groups = list(np.repeat(np.arange(40), 3))
        found = classifier(rng.normal(size=(120, 5)), groups)
        rates.append(found.rate)
        false += found.low > 0.5
    assert np.mean(rates) == pytest.approx(0.5, abs=0.02)
    assert false / 200 < 0.06


def test_variants_of_a_prompt_do_not_leak():
    """Each prompt has features of its own, the same in all its variants, and a side drawn by coin: nothing to learn."""
    rng = np.random.default_rng(3)
    rates = []
    for _ in range(20):
        own = rng.normal(size=(30, 25))
        d = np.repeat(own, 10, axis=0)
        groups = list(np.repeat(np.arange(30), 10))
        rates.append(classifier(d, groups).rate)
    assert np.mean(rates) == pytest.approx(0.5, abs=0.06)


def test_too_few_prompts_say_nothing():
    found = classifier(np.ones((6, 2)), ["a", "a", "b", "b", "c", "c"])
    assert found.pairs == 0
    assert not beats_chance(found)
    with pytest.raises(DataError, match="groups: 1"):
        classifier([[1.0], [2.0]], ["a"])
