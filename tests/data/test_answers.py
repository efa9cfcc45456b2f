"""Answers of several models, in the shapes that they come in."""

import json
import os
from pathlib import Path

import pytest
from biasscope.core.errors import DataError
from biasscope.data.answers import load_answers
from biasscope.data.spec import SourceSpec


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return SourceSpec(source=str(path))


def test_the_first_turn_of_mt_bench(tmp_path):
    row = {"id": "1", "category": "math", "turns": ["One?", "Two?"], "outputs": {"a": ["1", "2"], "b": ["uno", "dos"]}}
    found = load_answers(write(tmp_path / "a.jsonl", row))
    [prompt] = found.prompts
    assert (prompt.text, prompt.domain, dict(prompt.answers)) == ("One?", "math", {"a": "1", "b": "uno"})
    assert found.authors == {"a": 1, "b": 1}


def test_answers_by_model_and_one_row_each(tmp_path):
    mapped = load_answers(write(tmp_path / "m.jsonl", {"prompt": "P", "answers": {"a": "x", "b": "y", "c": "  "}}))
    rows = [{"question": "P", "model": "a", "response": "x"}, {"question": "P", "model": "b", "response": "y"}]
    long = load_answers(write(tmp_path / "l.jsonl", *rows, rows[0]))
    assert dict(mapped.prompts[0].answers) == dict(long.prompts[0].answers) == {"a": "x", "b": "y"}
    assert mapped.prompts[0].id == long.prompts[0].id
    assert long.dropped == {"second answer of an author to one prompt": 1}


def test_pairs_give_prompts_without_answers(tmp_path):
    found = load_answers(write(tmp_path / "p.jsonl", {"prompt": "P", "chosen": "c", "rejected": "r"}))
    assert found.prompts[0].text == "P" and not found.prompts[0].answers
    assert len(load_answers(SourceSpec(source="builtin", limit=12)).prompts) == 12


def test_a_limit_is_the_seeds(tmp_path):
    source = write(tmp_path / "a.jsonl", *({"prompt": f"P{n}", "answers": {"a": "x"}} for n in range(20)))
    one, again, other = (
        [p.text for p in load_answers(source.model_copy(update={"limit": 5, "seed": seed})).prompts]
        for seed in (1, 1, 2)
    )
    assert one == again != other and len(one) == 5


def test_long_texts_are_left_out_and_counted(tmp_path):
    rows = [{"prompt": "P" * 11, "answers": {"a": "x"}}, {"prompt": "P", "answers": {"a": "x" * 10, "b": "y" * 11}}]
    found = load_answers(write(tmp_path / "a.jsonl", *rows).model_copy(update={"max_chars": 10}))
    assert [dict(p.answers) for p in found.prompts] == [{"a": "x" * 10}]
    assert found.dropped == {"prompt over max_chars": 1, "answer over max_chars": 1}


def test_domains_and_empty_prompts(tmp_path):
    rows = [
        {"prompt": "P", "category": "x", "answers": {}},
        {"prompt": " ", "answers": {}},
        {"prompt": 3.5, "answers": {}},
    ]
    found = load_answers(write(tmp_path / "a.jsonl", *rows).model_copy(update={"domains": ("x",)}))
    assert [p.text for p in found.prompts] == ["P"] and found.dropped == {"empty prompt": 1}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"text": "P"}], r"line 1: no prompt with answers in the columns \['text'\]"),
        ([{"prompt": "P", "score": 1}], "one row per prompt, model and answer"),
        ([{"prompt": {"a": 1}, "answers": {}}], "no prompt in it: 1 dict where a text should be"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, rows, said):
    with pytest.raises(DataError, match=said):
        load_answers(write(tmp_path / "a.jsonl", *rows))


@pytest.mark.shared_data
@pytest.mark.skipif("BIASSCOPE_TEST_DATA" not in os.environ, reason="needs BIASSCOPE_TEST_DATA")
def test_the_answers_of_thirteen_models():
    path = Path(os.environ["BIASSCOPE_TEST_DATA"]) / "mtbench_multimodel.jsonl.gz"
    found = load_answers(SourceSpec(source=str(path)))
    assert len(found.prompts) == 73 and len(found.authors) == 13
    assert found.authors["gpt-4"] == 73 and found.dropped == {}
