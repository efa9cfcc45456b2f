"""A benchmark on disk: read back, by `datasets`, by the loader of pairs, and by Croissant's own library."""

import hashlib
import json

import datasets
import pytest
from biasscope.core.errors import DataError
from biasscope.core.records import PreferencePair
from biasscope.data.benchmark import JSONL, PARQUET, BenchmarkRow, make_row, read_rows, write_rows
from biasscope.data.card import Card, card_markdown
from biasscope.data.croissant import FieldInfo, croissant
from biasscope.data.sources import load
from biasscope.data.spec import SourceSpec

ODD = "é数\u2028\x00 \ud83d <b>\r\n"


def row(k, seed=0):
    source = PreferencePair(
        id=f"{k:024x}",
        prompt=f"Question {k}",
        chosen=f"right {k}",
        rejected=f"wrong {k}",
        domain="Math",
        source="judgebench.parquet",
        source_id=f"s{k}",
        meta={"subset": "livebench-math", "model": "m"},
    )
    return make_row(
        source,
        f"surely wrong {k} {ODD}",
        seed=seed,
        bias="certainty",
        bias_id="b1",
        bias_definition="Prefers sure words.",
        perturbation_id="p",
        teacher="t",
        filter_judges="j",
        filter_judges_before="",
        answers_differ_by="exact",
    )


@pytest.fixture
def folder(tmp_path):
    rows = [row(k) for k in range(40)]
    write_rows(tmp_path, rows)
    splits = (("test", PARQUET),)
    (tmp_path / "README.md").write_text(card_markdown(Card("T", "s", (), (), splits, len(rows), "MIT"), tmp_path))
    fields = [FieldInfo(name, str(info.description)) for name, info in BenchmarkRow.model_fields.items()]
    document = croissant(
        tmp_path,
        name="T",
        description="s",
        licence="MIT",
        date="2026-01-31",
        splits=splits,
        fields=fields,
        others=[JSONL],
    )
    (tmp_path / "croissant.json").write_text(json.dumps(document))
    return tmp_path


def test_positions_are_drawn_and_the_hash_is_that_of_the_text():
    rows = [row(k) for k in range(200)]
    assert 70 < sum(r.chosen_first for r in rows) < 130
    assert all(r.chosen.startswith("right") and r.rejected.startswith("surely wrong") for r in rows)
    assert all("\x00" not in r.rejected and "\r" not in r.rejected for r in rows)
    assert rows[0].perturbation_hash == hashlib.sha256(rows[0].rejected.encode()).hexdigest()
    assert [r.chosen_first for r in rows] != [row(k, seed=1).chosen_first for k in range(200)]


def test_both_files_come_back(folder):
    expected = [row(k) for k in range(40)]
    assert read_rows(folder) == expected
    assert read_rows(folder / JSONL) == expected


def test_datasets_loads_the_folder(folder, tmp_path):
    loaded = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    assert list(loaded) == ["test"]
    assert loaded["test"].column_names == list(BenchmarkRow.model_fields)
    assert loaded["test"][3] == row(3).model_dump(mode="json")
    lines = datasets.load_dataset("json", data_files=str(folder / JSONL), cache_dir=str(tmp_path / "cache2"))
    assert lines["train"].to_list() == loaded["test"].to_list()


@pytest.mark.parametrize("name", [PARQUET, JSONL])
def test_the_loader_of_pairs_reads_it_as_judgebench(folder, name):
    loaded = load(SourceSpec(source=str(folder / name)))
    assert (loaded.report.preset, loaded.report.pairs) == ("judgebench", 40)
    assert {p.source_id: (p.chosen, p.rejected) for p in loaded.pairs} == {
        r.pair_id: (r.chosen, r.rejected) for r in (row(k) for k in range(40))
    }


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.jsonl", "{", "cannot be read as a benchmark"),
        ("x.jsonl", '{"pair_id": "x"}', "row 1: original_id: Field required"),
        ("x.jsonl", "", "holds no items"),
        ("x.parquet", "nothing", "cannot be read as a benchmark"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError) as caught:
        read_rows(tmp_path / name)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(DataError, match="holds no benchmark"):
        read_rows(tmp_path)


def test_croissant_lists_files_with_hashes_and_every_field(folder):
    document = json.loads((folder / "croissant.json").read_text())
    for file in document["distribution"]:
        assert file["sha256"] == hashlib.sha256((folder / file["contentUrl"]).read_bytes()).hexdigest()
    assert [f["name"] for f in document["recordSet"][0]["field"]] == list(BenchmarkRow.model_fields)


@pytest.mark.filterwarnings("ignore")
def test_croissants_own_library_reads_the_records(folder):
    mlcroissant = pytest.importorskip("mlcroissant")
    dataset = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    records = list(dataset.records(record_set="test"))
    assert len(records) == 40
    assert records[0]["test/label"].decode() == row(0).label
