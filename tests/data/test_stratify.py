import random
from collections import Counter

import pytest
from biasscope.core.ids import content_id
from biasscope.core.records import PreferencePair
from biasscope.data.seen import Seen
from biasscope.data.stratify import Positioned, sample, shares
from hypothesis import given
from hypothesis import strategies as st


def _pair(i: int, domain: str) -> Positioned:
    return Positioned(PreferencePair(id=content_id(i), prompt="p", chosen="c", rejected="r", domain=domain), "A")


PAIRS = [_pair(i, "big" if i % 10 else "small") for i in range(500)]


def test_sample_does_not_depend_on_the_order_of_rows() -> None:
    mixed = PAIRS.copy()
    random.Random(1).shuffle(mixed)
    chosen, left_out = sample(PAIRS, 40, seed=3)
    assert sample(mixed, 40, seed=3) == (chosen, left_out)
    assert left_out == 460
    assert Counter(x.pair.domain for x in chosen) == {"big": 36, "small": 4}
    assert sample(PAIRS, 40, seed=4)[0] != chosen


def test_a_higher_limit_keeps_what_was_chosen() -> None:
    small, large = ({x.pair.id for x in sample(PAIRS, n, seed=0)[0]} for n in (40, 80))
    assert small < large


@given(st.dictionaries(st.text(max_size=3), st.integers(1, 300), min_size=1, max_size=12), st.integers(1, 500))
def test_shares_add_up(counts: dict[str, int], limit: int) -> None:
    got = shares(Counter(counts), limit)
    assert sum(got.values()) == min(limit, sum(counts.values()))
    assert all(0 <= got[d] <= n for d, n in counts.items())
    if limit >= len(counts):
        assert all(n >= 1 for n in got.values())


@pytest.mark.parametrize("limit", [1, 499, 500, 501])
def test_limits_at_the_edges(limit: int) -> None:
    assert len(sample(PAIRS, limit, seed=0)[0]) == min(limit, 500)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=3000))
def test_seen_is_a_set(keys: list[int]) -> None:
    seen, mirror = Seen(), set[int]()
    for key in keys:
        assert seen.add(key) == ((key or 1) not in mirror)
        mirror.add(key or 1)
    assert len(seen) == len(mirror)
    assert all(k in seen for k in mirror)


def test_seen_grows() -> None:
    seen = Seen()
    assert all(seen.add(i * 2**40 + 1) for i in range(5000))
    assert all(i * 2**40 + 1 in seen for i in range(5000))
