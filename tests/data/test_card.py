"""The card of a data set: metadata that the hub reads, and text that stays text."""

import datasets
import pytest
import yaml
from biasscope.data.card import Card, Section, Table, card_markdown, size_category
from hypothesis import given
from hypothesis import strategies as st


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("set")
    (made / "data").mkdir()
    (made / "data" / "test.parquet").write_bytes(b"rows")
    return made


def card(**more):
    values = {
        "title": "Hard pairs",
        "summary": "Pairs.",
        "warnings": (),
        "sections": (),
        "splits": (("test", "data/test.parquet"),),
        "items": 12,
        "licence": "MIT",
    }
    return Card(**{**values, **more})


def metadata(text):
    return yaml.safe_load(text.split("---\n")[1])


def test_metadata_is_what_the_hub_reads(folder):
    found = metadata(card_markdown(card(tags=("llm-judge",), sources=("ScalerLab/JudgeBench",)), folder))
    assert found["license"] == "mit"
    assert found["source_datasets"] == ["ScalerLab/JudgeBench"]
    assert found["size_categories"] == ["n<1K"]
    [config] = found["configs"]
    assert config["config_name"] == "default"
    assert config["data_files"] == [{"split": "test", "path": "data/test.parquet"}]
    assert metadata(card_markdown(card(licence="House licence 3"), folder))["license_name"] == "House licence 3"
    assert metadata(card_markdown(card(licence=""), folder))["license"] == "unknown"
    assert [size_category(n) for n in (999, 1000, 99_999, 100_000, 10**6)] == [
        "n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "n>1M",
    ]  # fmt: skip


def test_tables_bullets_and_warnings(folder):
    section = Section("Counts", ("How many.", ("one", "two"), Table(("bias", "items"), (("a|b", 3),))))
    text = card_markdown(card(sections=(section,), warnings=("not human-verified",)), folder)
    assert "> **Warning.** not human-verified\n" in text
    assert "## Counts\n\nHow many.\n\n- one\n- two\n\n| bias | items |\n| --- | --: |\n| a\\|b | 3 |\n" in text


@given(st.text(), st.text())
def test_no_text_breaks_out(folder, title, cell):
    section = Section(title, (cell, (cell,), Table(("x",), ((cell,),))))
    text = card_markdown(card(title=title, sections=(section,), warnings=(cell,), tags=(title,)), folder)
    front, body = text.split("\n---\n", 1)
    assert yaml.safe_load(front.removeprefix("---\n"))["configs"][0]["config_name"] == "default"
    assert "<" not in body
    assert sum(line.startswith("## ") for line in body.split("\n")) == 1


def test_sets_of_one_name_are_not_taken_for_each_other(tmp_path):
    """`datasets` caches by the folder's last name, and every run calls it the same."""
    found = []
    for run, texts in (("first", "ab"), ("second", "c")):
        folder = tmp_path / run / "data"
        folder.mkdir(parents=True)
        (folder / "train.jsonl").write_text("".join(f'{{"text": "{text}"}}\n' for text in texts))
        made = card(splits=(("train", "train.jsonl"),))
        (folder / "README.md").write_text(card_markdown(made, folder))
        loaded = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))["train"]
        found.append([row["text"] for row in loaded])
    assert found == [["a", "b"], ["c"]]
