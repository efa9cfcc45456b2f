"""The filter that needs no model: what it lets through and what it leaves out."""

import random
from collections import Counter

import pytest
from biasscope.audits.taxonomy.by_rule import consistent, in_order, kept
from biasscope.audits.taxonomy.entries import Entry, injected
from biasscope.bias_library.taxonomy import taxonomy
from biasscope.core.records import PreferencePair
from hypothesis import given
from hypothesis import strategies as st

BY_NAME = {entry.name: entry for entry in taxonomy()}
LONG = "The ticket costs 12 euros and two people pay 24. " * 4
SHORT = "It is 12."


def entry(bias, chosen, rejected, base_chosen=LONG, base_rejected=LONG):
    base = PreferencePair(id="p", prompt="What does it cost?", chosen=base_chosen, rejected=base_rejected)
    return Entry(base, injected(base, BY_NAME[bias], chosen, rejected))


def test_what_adds_a_little_stays():
    assert consistent(entry("Authority", LONG, LONG + "Experts agree (Tanaka, 1994)."))
    assert consistent(entry("Authority", "The ticket costs 12 euros and two people pay 24. " * 3, LONG))


@pytest.mark.parametrize(
    ("chosen", "rejected"),
    [
        (LONG, "Experts agree on it, they say, and so it is."),  # another answer
        (LONG, LONG.replace("12", "13")),  # another number
        (LONG, LONG.replace("12 euros and two people pay 24", "24 euros and two people pay 12", 1)),  # their order
        ("The ticket costs 12 euros.", LONG),  # most of the chosen answer is gone
    ],
)
def test_what_changes_more_goes(chosen, rejected):
    assert not consistent(entry("Authority", chosen, rejected))


def test_a_short_answer_may_not_be_told_by_its_length_alone():
    padded = f"Experts agree on it, as many a study shows. {SHORT}"
    short = {"base_chosen": SHORT, "base_rejected": SHORT}
    assert not consistent(entry("Authority", SHORT, padded, **short))
    assert consistent(entry("Length", SHORT, padded, **short))  # length is what this one is about


WORDS = st.lists(st.sampled_from(["a", "b", "12", "Ä", "3.5"]), max_size=12)


@given(WORDS, WORDS, st.randoms())
def test_kept_is_a_share_and_additions_lose_nothing(words, more, rng):
    both = [*words, *more]
    rng.shuffle(both)
    assert kept(" ".join(words), " ".join(both)) == 1.0
    share = kept(" ".join(both), " ".join(words))
    assert 0.0 <= share <= 1.0
    if both and not more:
        assert share == 1.0


@given(st.lists(st.integers(0, 3), max_size=8), st.integers(0, 2**16))
def test_a_subsequence_is_in_order_and_too_many_are_not(there, seed):
    texts = [str(n) for n in there]
    rng = random.Random(seed)
    assert in_order([t for t in texts if rng.random() < 0.5], texts)
    wanted = [*texts, "3"]
    assert not in_order(wanted, texts) and Counter(wanted) != Counter(texts)
