from collections import Counter

import numpy as np
import pytest
from biasscope.core.errors import ConfigError
from biasscope.validators.split import batches, split_search_confirm, stratified_order
from hypothesis import given
from hypothesis import strategies as st

pairs = st.dictionaries(st.text(max_size=8), st.sampled_from(["math", "code", "law", "ethics"]), max_size=80)


def test_a_third_is_locked_from_three_hundred_pairs_on() -> None:
    domains = {f"p{i}": ("math", "code", "law")[i % 3] for i in range(299)}
    assert split_search_confirm(domains, 0).confirm == ()
    domains["p299"] = "law"
    split = split_search_confirm(domains, 0)
    assert (len(split.search), len(split.confirm)) == (200, 100)
    counts = Counter(domains[i] for i in split.confirm)
    assert max(counts.values()) - min(counts.values()) <= 1


@given(pairs, st.integers(0, 5), st.floats(0, 0.99), st.randoms(use_true_random=False))
def test_parts_are_disjoint_complete_in_proportion_and_independent_of_order(domains, seed, share, random) -> None:
    split = split_search_confirm(domains, seed, share)
    assert sorted([*split.search, *split.confirm]) == sorted(domains)
    assert len(split.confirm) == pytest.approx(share * len(domains), abs=0.5 + 1e-9)
    for domain, size in Counter(domains.values()).items():
        taken = sum(domains[i] == domain for i in split.confirm)
        assert abs(taken - share * size) < 1 + 1e-9
    shuffled = list(domains.items())
    random.shuffle(shuffled)
    assert split_search_confirm(dict(shuffled), seed, share) == split


def test_seeds_differ_and_the_split_is_not_the_order() -> None:
    domains = {f"p{i}": "all" for i in range(400)}
    first, second = split_search_confirm(domains, 1), split_search_confirm(domains, 2)
    overlap = len(set(first.confirm) & set(second.confirm)) / len(first.confirm)
    assert 0.2 < overlap < 0.5
    assert stratified_order(domains, 1) != stratified_order(domains, 2)
    order = stratified_order(domains, 1)
    places = [order.index(i) for i in first.confirm]
    assert abs(np.mean(places) - 200) < 40


def test_every_stretch_keeps_the_mix() -> None:
    domains = {f"p{i}": "math" if i < 300 else "code" if i < 450 else "law" for i in range(500)}
    order = stratified_order(domains, 3)
    assert sorted(order) == sorted(domains)
    for end in range(20, 501, 20):
        counts = Counter(domains[i] for i in order[:end])
        for domain, share in (("math", 0.6), ("code", 0.3), ("law", 0.1)):
            assert abs(counts[domain] - share * end) <= 3


def test_every_pair_is_as_likely_early_as_late() -> None:
    domains = {f"p{i}": "a" if i < 8 else "b" for i in range(12)}
    places = np.array([[stratified_order(domains, seed).index(i) for i in domains] for seed in range(1500)])
    np.testing.assert_allclose(places.mean(axis=0), 5.5, atol=0.5)


def test_batches() -> None:
    assert batches("abcde", 2) == [("a", "b"), ("c", "d"), ("e",)]
    assert batches([], 5) == []
    with pytest.raises(ConfigError, match="batch size"):
        batches("ab", 0)
    with pytest.raises(ConfigError, match="share"):
        split_search_confirm({"a": "x"}, 0, 1.5)


def test_lone_surrogates_in_ids() -> None:
    assert stratified_order({"\ud800": "all"}, 0) == ("\ud800",)
