"""The index is derived from vectors and never trusted when it is stale."""

import numpy as np
import pytest
from biasscope.bias_library.index import build, fingerprint, normalise, open_index
from biasscope.core.errors import LibraryError
from hypothesis import given
from hypothesis import strategies as st


def vectors(n: int, d: int = 8, seed: int = 0):
    rows = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    return {f"b{k}": row for k, row in enumerate(rows)}


@given(st.integers(1, 30), st.integers(1, 40), st.integers(0, 1000))
def test_nearest_is_what_numpy_says(n, k, seed):
    given_ = vectors(n, seed=seed)
    query = np.random.default_rng(seed + 1).normal(size=(3, 8)).astype(np.float32)
    hits = build(given_).nearest(query, k)
    cosines = normalise(query) @ normalise(np.stack(list(given_.values()))).T
    for row, cosine in zip(hits, cosines, strict=True):
        assert len(row) == min(n, k)
        assert np.allclose([h.similarity for h in row], np.sort(cosine)[::-1][:k], atol=1e-5)


def test_equal_cosines_come_in_order_of_id():
    row = np.ones(4)
    [hits] = build({"c": row, "a": row * 2, "b": row}).nearest([row], 3)
    assert [h.id for h in hits] == ["a", "b", "c"]


def test_an_empty_index_has_no_neighbours(tmp_path):
    assert build({}).nearest(np.ones((2, 4)), 3) == [[], []]
    assert open_index(tmp_path / "index", {}).ids == open_index(tmp_path / "index", {}).ids == ()


def test_a_saved_index_is_used_while_it_fits(tmp_path):
    path, given_ = tmp_path / "index", vectors(20)
    first = open_index(path, given_)
    stamp = path.stat().st_mtime_ns
    again = open_index(path, given_)
    assert path.stat().st_mtime_ns == stamp and again.ids == first.ids
    assert again.nearest([given_["b3"]], 5) == first.nearest([given_["b3"]], 5)


def test_a_stale_or_broken_file_is_rebuilt(tmp_path):
    path, given_ = tmp_path / "index", vectors(20)
    open_index(path, given_)
    changed = {**given_, "b3": -given_["b3"]}
    assert open_index(path, changed).nearest([changed["b3"]], 1)[0][0].id == "b3"
    assert fingerprint(changed) != fingerprint(given_) != fingerprint(vectors(19))
    whole = path.read_bytes()
    for broken in (b"", b"not json\n", whole[:-5], whole[:40], b"{}\n" + whole, b"[]\n"):
        path.write_bytes(broken)
        assert open_index(path, changed).nearest([changed["b3"]], 1)[0][0].similarity == pytest.approx(1)
        assert path.read_bytes() == whole


@pytest.mark.parametrize("bad", [np.zeros(4), np.array([np.nan] * 4), np.array([np.inf, 0, 0, 0])])
def test_vectors_without_a_direction_are_an_error(bad):
    with pytest.raises(LibraryError, match="another embedder"):
        build({"a": np.ones(4), "b": bad})


def test_another_embedder_is_noticed():
    with pytest.raises(LibraryError, match="use one embedder"):
        build(vectors(3)).nearest(np.ones((1, 5)), 1)
