"""The card of a data set: metadata that the hub reads, and text that stays text."""

import yaml
from biasscope.data.card import Card, Section, Table, card_markdown, size_category
from hypothesis import given
from hypothesis import strategies as st


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


def test_metadata_is_what_the_hub_reads():
    found = metadata(card_markdown(card(tags=("llm-judge",), sources=("ScalerLab/JudgeBench",))))
    assert found["license"] == "mit"
    assert found["source_datasets"] == ["ScalerLab/JudgeBench"]
    assert found["size_categories"] == ["n<1K"]
    assert found["configs"] == [
        {"config_name": "default", "data_files": [{"split": "test", "path": "data/test.parquet"}]}
    ]
    assert metadata(card_markdown(card(licence="House licence 3")))["license_name"] == "House licence 3"
    assert metadata(card_markdown(card(licence="")))["license"] == "unknown"
    assert [size_category(n) for n in (999, 1000, 99_999, 100_000, 10**6)] == [
        "n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "n>1M",
    ]  # fmt: skip


def test_tables_bullets_and_warnings():
    section = Section("Counts", ("How many.", ("one", "two"), Table(("bias", "items"), (("a|b", 3),))))
    text = card_markdown(card(sections=(section,), warnings=("not human-verified",)))
    assert "> **Warning.** not human-verified\n" in text
    assert "## Counts\n\nHow many.\n\n- one\n- two\n\n| bias | items |\n| --- | --: |\n| a\\|b | 3 |\n" in text


@given(st.text(), st.text())
def test_no_text_breaks_out(title, cell):
    section = Section(title, (cell, (cell,), Table(("x",), ((cell,),))))
    text = card_markdown(card(title=title, sections=(section,), warnings=(cell,), tags=(title,)))
    front, body = text.split("\n---\n", 1)
    assert yaml.safe_load(front.removeprefix("---\n"))["configs"][0]["config_name"] == "default"
    assert "<" not in body
    assert sum(line.startswith("## ") for line in body.split("\n")) == 1
