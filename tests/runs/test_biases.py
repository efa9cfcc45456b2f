"""Which biases a data set is made with."""

import json

import pytest
from biasscope.bias_library.events import Stamp, add, set_status
from biasscope.bias_library.exchange import export_full, export_published
from biasscope.bias_library.library import replay
from biasscope.bias_library.seeds import is_order_bias, seed_biases
from biasscope.core.errors import ConfigError
from biasscope.core.store import Store
from biasscope.runs.biases import biases_hash, chosen_biases, settled_biases


@pytest.fixture
def library():
    stamp = Stamp(run_id="r", seq=0, author="test")
    lines = []
    for k, bias in enumerate(seed_biases()):
        lines.append(add(stamp, bias))
        stamp = stamp.next()
        if k < 2:
            lines.append(set_status(stamp, bias.id, "valid"))
            stamp = stamp.next()
    return replay(lines)


def test_lists_that_come_with_the_package(tmp_path):
    seeds = chosen_biases("seeds", (), tmp_path)
    assert seeds and not any(is_order_bias(b.id) for b in seeds)
    assert len(chosen_biases("features", (), tmp_path)) >= 60
    assert {b.origin for b in chosen_biases("taxonomy", (), tmp_path)} == {"taxonomy"}


def test_of_a_full_file_the_validated_ones_and_others_by_name(library, tmp_path):
    path = tmp_path / "library.json"
    path.write_text(export_full(library))
    assert [b.id for b in chosen_biases(str(path), (), tmp_path)] == [b.id for b in seed_biases()[:2]]
    third = seed_biases()[2]
    assert chosen_biases(str(path), (third.name.upper(), third.id[:8]), tmp_path)[0].id == third.id
    with pytest.raises(ConfigError, match="no 'nothing' in"):
        chosen_biases(str(path), ("nothing",), tmp_path)


def test_of_a_published_file_all(library, tmp_path):
    path = tmp_path / "published.json"
    path.write_text(export_published(seed_biases()))
    assert len(chosen_biases(str(path), (), tmp_path)) == len(json.loads(path.read_text()))


def test_a_library_without_validated_biases_says_so(tmp_path):
    path = tmp_path / "library.json"
    path.write_text(export_full(replay([add(Stamp(run_id="r", seq=0, author="test"), seed_biases()[0])])))
    with pytest.raises(ConfigError, match="has no validated bias; name those to use"):
        chosen_biases(str(path), (), tmp_path)


def test_a_job_keeps_what_it_began_with(library, tmp_path):
    path = tmp_path / "library.json"
    path.write_text(export_full(library))
    store = Store(tmp_path / "store.db")
    first = settled_biases(store, "r", str(path), (), tmp_path)
    path.unlink()
    assert settled_biases(store, "r", str(path), (), tmp_path) == first
    assert biases_hash(first) == biases_hash(first[::-1])
    store.close()
