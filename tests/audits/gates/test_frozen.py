import gzip
import json

import pytest
from biasscope.apps.cli.main import main
from biasscope.audits.frozen import FrozenBias, FrozenPair, freeze, read_frozen, seal, write_frozen
from biasscope.bias_library.library import load_library
from biasscope.core.errors import DataError, LibraryError
from biasscope.core.records import ORIGINAL, PLACEBO, Perturbation, PreferencePair, Validation, bias_arm
from biasscope.data.order import draw_order
from biasscope.runs.jobs import open_store
from frozen_worlds import frozen_world
from hypothesis import given
from hypothesis import strategies as st
from world_runs import settings, start, write_sources


@pytest.fixture(scope="module")
def frozen(easy):
    return frozen_world(easy, 12, ("authority", "nautical"))


@pytest.fixture(scope="module")
def discovered(easy, server, tmp_path_factory):
    """A discovery run with a locked part, small but with valid biases."""
    folder = tmp_path_factory.mktemp("discovered")
    write_sources(folder / "data", easy, 30, 130)
    checks = {"seeds": False, "batch": 80, "confirm_share": 0.4, "manipulation_checks": 4, "truncation_control": False}
    more = {"discovery": {"iterations": 1}, "validation": checks}
    return start(settings(folder / "data", folder / "space", server.url, **more)).folder


@pytest.mark.parametrize("name", ["set.jsonl", "set.jsonl.gz"])
def test_what_is_written_is_read_again(frozen, tmp_path, name):
    path, again = tmp_path / name, tmp_path / f"again-{name}"
    write_frozen(frozen, path)
    assert read_frozen(path) == frozen
    write_frozen(read_frozen(path), again)
    assert again.read_bytes() == path.read_bytes()
    assert frozen.arms == (ORIGINAL, PLACEBO, *(bias_arm(b.id) for b in frozen.head.biases))
    assert frozen.text(0, ORIGINAL) == frozen.pairs[0].pair.rejected
    assert frozen.text(0, PLACEBO) == frozen.pairs[0].placebo
    assert frozen.text(0, bias_arm("no such")) is None


def test_a_changed_text_is_refused(frozen, tmp_path):
    path = tmp_path / "set.jsonl"
    write_frozen(frozen, path)
    path.write_text(path.read_text().replace("Final answer", "Last answer", 1))
    with pytest.raises(DataError, match=r"were frozen with .* the file was changed"):
        read_frozen(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:1], "holds no pair"),
        (lambda lines: [lines[0], *lines[2:]], "the file was changed"),
        (lambda lines: [lines[0].replace('"version":1', '"version":2'), *lines[1:]], "line 1: version: must be 1"),
        (lambda lines: [lines[0].replace("biasscope-frozen", "other"), *lines[1:]], "line 1: format: must be"),
        (lambda lines: [lines[0], lines[1].replace('"order"', '"oder"'), *lines[2:]], "line 2: order: is needed"),
        (
            lambda lines: [lines[0].replace('"placebo"', '"original"'), *lines[1:]],
            "line 2: the reference is 'original'",
        ),
        (lambda lines: [lines[0], "{", *lines[2:]], "line 2: not JSON"),
        (lambda lines: [lines[0], "[1]", *lines[2:]], "line 2: a list where an object"),
        (lambda lines: ["{}"], "holds no pair"),
        (lambda lines: [], "holds no pair"),
    ],
)
def test_broken_files_are_named_with_their_line(frozen, tmp_path, change, message):
    path = tmp_path / "set.jsonl"
    write_frozen(frozen, path)
    path.write_text("\n".join(change(path.read_text().splitlines())))
    with pytest.raises(DataError, match=message):
        read_frozen(path)


def test_an_unknown_bias_in_a_pair(frozen, tmp_path):
    path = tmp_path / "set.jsonl"
    write_frozen(frozen, path)
    head, first, *rest = path.read_text().splitlines()
    item = json.loads(first)
    item["texts"]["feedbeef"] = "text"
    path.write_text("\n".join([head, json.dumps(item), *rest]))
    with pytest.raises(DataError, match="line 2: has the bias 'feedbeef', which the first line does not name"):
        read_frozen(path)


def test_other_files(tmp_path, frozen):
    with pytest.raises(DataError, match="ends in"):
        read_frozen(tmp_path / "set.json")
    with pytest.raises(DataError, match="ends in"):
        write_frozen(frozen, tmp_path / "set.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_frozen(tmp_path / "none.jsonl")
    with pytest.raises(DataError, match="cannot be written"):
        write_frozen(frozen, tmp_path / "no" / "set.jsonl")
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(b"{}\n" * 900)[:40])
    with pytest.raises(DataError, match="broken gzip"):
        read_frozen(tmp_path / "cut.jsonl.gz")


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1))
def test_any_text_survives(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("texts") / "set.jsonl"
    pair = PreferencePair(id="p", prompt=text, chosen=text + "a", rejected=text + "b")
    item = FrozenPair(pair=pair, order="chosen_first", placebo=text, texts={"b": text})
    bias = FrozenBias(id="b", name=text, definition=text, status="valid")
    made = seal([item], [bias], run=text, judge=text, part="search")
    write_frozen(made, path)
    assert read_frozen(path) == made


def test_freezing_a_run(discovered):
    store = open_store(discovered)
    run_id = discovered.run_id
    frozen = freeze(store, run_id)
    library = load_library(store, run_id)
    accepted = {e.bias.id: e for e in library if e.status in ("valid", "confirmed")}
    assert accepted
    assert {b.id for b in frozen.head.biases} == accepted.keys()
    assert (frozen.head.part, frozen.head.run, frozen.head.reference) == ("confirm", "trial", "placebo")
    assert {item.pair.id for item in frozen.pairs} <= set(store.pair_ids(run_id, "confirm"))
    validations = {v.bias_id: v for v in store.select(Validation, run_id=run_id) if v.iteration == -1}
    for bias in frozen.head.biases:
        assert bias.effect == validations[bias.id].effect
        assert sum(bias.id in item.texts for item in frozen.pairs) >= validations[bias.id].n
    made = {(p.pair_id, p.arm): p for p in store.select(Perturbation, run_id=run_id)}
    for item in frozen.pairs:
        assert item.order == draw_order(item.pair.id, 0)
        assert item.placebo == made[item.pair.id, PLACEBO].text
        for bias_id, text in item.texts.items():
            assert text == made[item.pair.id, bias_arm(bias_id)].text
            assert made[item.pair.id, bias_arm(bias_id)].answer_change != "changed"

    some = freeze(store, run_id, biases=[frozen.head.biases[0].name], part="all", limit=20)
    assert len(some.pairs) == 20
    assert [b.id for b in some.head.biases] == [frozen.head.biases[0].id]
    assert len(freeze(store, run_id, part="all").pairs) > len(frozen.pairs)
    with pytest.raises(LibraryError, match="no bias 'no such' in this library"):
        freeze(store, run_id, biases=["no such"])
    with pytest.raises(LibraryError, match="has no rewrites of these biases on its confirm pairs"):
        freeze(store, run_id, biases=[next(e.bias.id for e in library if e.status == "seed")])
    store.close()


def test_a_run_without_a_valid_bias(server, small_data, tmp_path):
    more = {"discovery": {"iterations": 1}, "validation": {"smallest_effect": 90}}
    folder = start(settings(small_data, tmp_path, server.url, **more)).folder
    store = open_store(folder)
    with pytest.raises(LibraryError, match="no bias of the run 'trial' is valid: name those to freeze with --bias"):
        freeze(store, folder.run_id)
    store.close()


def test_the_command(discovered, tmp_path, monkeypatch, capsys):
    def call(*args):
        monkeypatch.setattr("sys.argv", ["biasscope", "library", "freeze", *map(str, args), "-w", str(workspace)])
        try:
            main()
        except SystemExit as stop:
            assert stop.code in (0, 2, None)
        return capsys.readouterr()

    workspace = discovered.path.parent
    said = call(tmp_path / "set.jsonl.gz").out
    frozen = read_frozen(tmp_path / "set.jsonl.gz")
    assert f"{len(frozen.pairs)} confirm pairs with {len(frozen.head.biases)} biases" in said
    assert frozen.digest in said
    assert "note:" not in said
    bias = frozen.head.biases[0].id[:10]
    assert "note: biases were accepted" in call(
        tmp_path / "s.jsonl", "--pairs", "search", "--bias", bias, "--limit", "5"
    ).out.replace("\n", " ")
    assert len(read_frozen(tmp_path / "s.jsonl").pairs) == 5
    assert "--pairs 'some': is none of confirm, search, all" in call(tmp_path / "s.jsonl", "--pairs", "some").err
    assert "no run 'x'" in call(tmp_path / "s.jsonl", "--run", "x").err
