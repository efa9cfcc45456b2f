from collections import Counter

import pytest
from biasscope.builders.preferences.mixture import Mixture
from hypothesis import given
from hypothesis import strategies as st


@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=3), st.floats(0.01, 5), min_size=1, max_size=8),
    st.integers(0, 3),
    st.integers(0, 20),
)
def test_every_block_holds_the_shares(shares, seed, block):
    mixture = Mixture(shares, seed)
    found = Counter(mixture.at(128 * block + k) for k in range(128))
    for key, share in shares.items():
        assert abs(found[key] - 128 * share / sum(shares.values())) <= 1 + 1e-6


def test_depends_on_seed_and_position_only():
    shares = {"a": 1, "b": 2, "": 1}
    one, other = Mixture(shares, 5), Mixture(dict(reversed(shares.items())), 5)
    forward = [one.at(k) for k in range(300)]
    backward = [other.at(k) for k in reversed(range(300))]
    assert forward == backward[::-1]
    assert forward != [Mixture(shares, 6).at(k) for k in range(300)]


def test_no_share_is_never_drawn():
    mixture = Mixture({"a": 0.0, "b": 1.0}, 0)
    assert {mixture.at(k) for k in range(256)} == {"b"}


@pytest.mark.parametrize("shares", [{}, {"a": 0.0}, {"a": -1.0, "b": 2.0}])
def test_no_mixture(shares):
    with pytest.raises(ValueError, match="no mixture"):
        Mixture(shares, 0)


def test_assignment_is_not_periodic():
    """A source that takes turns between two data sets must not give each its own biases."""
    mixture = Mixture({"a": 1.0, "b": 1.0}, 0)
    even = Counter(mixture.at(k) for k in range(0, 12_800, 2))
    assert abs(even["a"] - 3200) < 4 * 40  # four standard deviations of independent draws
