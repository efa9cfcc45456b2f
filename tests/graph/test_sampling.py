"""Every pair gets one bias, near-uniformly, whatever the order of the pairs."""

from collections import Counter

from biasscope.graph.sampling import assign_biases
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
