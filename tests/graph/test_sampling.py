"""Every pair gets one bias, near-uniformly, whatever the order of the pairs."""

from collections import Counter

from biasscope.graph.sampling import assign_biases, assign_features, features_each
from hypothesis import given
from hypothesis import strategies as st


@given(n=st.integers(1, 60), k=st.integers(1, 9), seed=st.integers(0, 5), iteration=st.integers(0, 3))
def test_near_uniform_and_order_free(n, k, seed, iteration):
    pairs, biases = [f"p{i}" for i in range(n)], [f"b{i}" for i in range(k)]
    drawn = assign_biases(pairs, biases, seed=seed, iteration=iteration)
    assert drawn == assign_biases(pairs[::-1], biases, seed=seed, iteration=iteration)
    assert set(drawn) == set(pairs)
    counts = Counter(drawn.values())
    assert all(n // k <= counts[b] <= -(-n // k) for b in biases)


def test_another_iteration_draws_anew():
    pairs, biases = [f"p{i}" for i in range(50)], [f"b{i}" for i in range(7)]
    first = assign_biases(pairs, biases, seed=0, iteration=0)
    assert first != assign_biases(pairs, biases, seed=0, iteration=1)
    assert first != assign_biases(pairs, biases, seed=1, iteration=0)


@given(n=st.integers(1, 60), k=st.integers(1, 12), each=st.integers(1, 5), seed=st.integers(0, 3))
def test_features_are_dealt_evenly_and_without_repeats(n, k, each, seed):
    pairs, names = [f"p{i}" for i in range(n)], [f"f{i}" for i in range(k)]
    dealt = assign_features(pairs, names, each, seed=seed, iteration=0)
    assert dealt == assign_features(pairs[::-1], names[::-1], each, seed=seed, iteration=0)
    assert set(dealt) == set(pairs)
    assert all(len(got) == len(set(got)) == min(each, k) for got in dealt.values())
    counts = Counter(name for got in dealt.values() for name in got)
    assert max(counts[f] for f in names) - min(counts[f] for f in names) <= 2


def test_enough_features_for_each_to_be_seen():
    assert [features_each(n, 88) for n in (0, 160, 300, 450, 900)] == [6, 6, 5, 4, 2]


def test_another_round_deals_anew():
    pairs, names = [f"p{i}" for i in range(50)], [f"f{i}" for i in range(20)]
    first = assign_features(pairs, names, 3, seed=0, iteration=0)
    assert first != assign_features(pairs, names, 3, seed=0, iteration=1)
    assert assign_features(pairs, [], 3, seed=0, iteration=0) == dict.fromkeys(pairs, ())
