"""Suites in and out of files, and what is wrong with some files."""

import json

import pytest
from biasscope.agents.injection import RulesInjector
from biasscope.audits.taxonomy import TaxonomySettings, build_suite, chosen_biases
from biasscope.audits.taxonomy.exchange import read_suite, suite_lines
from biasscope.bias_library.taxonomy import taxonomy
from biasscope.core.errors import DataError
from biasscope.data.order import draw_order
from biasscope.data.spec import SourceSpec

ROW = {
    "question": "Which is it?",
    "original_response1": "It is this one.",
    "original_response2": "It is that one.",
    "rewritten_response1": "It is this one, plainly.",
    "rewritten_response2": "It is that one, as NIST says.",
    "label": 2,
    "bias": "authority",
}


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return SourceSpec(source=str(path))


def read(source, *names, seed=0, controls=True):
    return read_suite(source, chosen_biases(names or ["twelve"]), seed, controls=controls)


async def test_a_suite_comes_back_as_it_was(job, pairs, tmp_path):
    settings = TaxonomySettings(pairs=8, controls="all")
    suite = await build_suite(job, RulesInjector("run", seed=3), None, pairs, taxonomy(), settings)
    path = tmp_path / "suite.jsonl"
    path.write_text("".join(f"{line}\n" for line in suite_lines(suite, job.seed)), encoding="utf-8")
    again = read(SourceSpec(source=str(path)), seed=job.seed)
    assert len(again.entries) == len(suite.entries)
    ours = {(e.bias.name, e.base.id): e for e in suite.entries}
    for entry in again.entries:
        known = ours[entry.bias.name, entry.base.id]
        assert (entry.pair, entry.control) == (known.pair, known.control)
        assert (entry.base.prompt, entry.base.domain, entry.base.source) == (
            known.base.prompt, known.base.domain, known.base.source,
        )  # fmt: skip
    assert [(c.bias, c.kept) for c in again.counts] == [(c.bias, c.kept) for c in suite.counts]


def test_the_published_fields_alone_are_enough(tmp_path):
    suite = read(write(tmp_path / "s.jsonl", ROW))
    [entry] = suite.entries
    assert (entry.base.chosen, entry.base.rejected) == ("It is that one.", "It is this one.")
    assert (entry.pair.chosen, entry.pair.rejected) == ("It is that one, as NIST says.", "It is this one, plainly.")
    assert entry.bias.name == "Authority" and entry.base.source == "s.jsonl"


def test_lines_and_swaps_that_the_file_lacks_are_made(tmp_path):
    plain = {k: v for k, v in ROW.items() if not k.startswith("rewritten")}
    rows = [{**plain, "bias": name} for name in ("bandwagon", "position", "superficial-reflection", "gender")]
    suite = read(write(tmp_path / "s.jsonl", *rows), seed=5)
    assert [e.bias.name for e in suite.entries] == ["Superficial reflection", "Bandwagon", "Position", "Gender"]
    for entry in suite.entries:
        if entry.bias.name == "Position":
            assert entry.reference == draw_order(entry.base.id, 5) != entry.order
        else:
            assert entry.control is not None and entry.pair.meta["cue"]


def test_a_reflection_of_the_file_keeps_the_files_order(tmp_path):
    row = {**ROW, "bias": "superficial-reflection", "rewritten_response1": ROW["original_response1"]}
    row["rewritten_response2"] = "Wait. It is that one."
    [entry] = read(write(tmp_path / "s.jsonl", row)).entries
    assert entry.order == entry.reference == "rejected_first"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"label": "tie"}, "unreadable label"),
        ({"label": None}, "unreadable label"),
        ({"bias": "novelty"}, "unknown bias 'novelty'"),
        ({"bias": "length"}, "Length was not asked for"),
        ({"rewritten_response1": "", "rewritten_response2": ""}, "no rewritten responses"),
        ({"rewritten_response2": " "}, "an empty answer"),
        ({"rewritten_response1": "It is this one.", "rewritten_response2": "It is that one."}, "the original ones"),
        ({"original_response2": "It is this one."}, "equal answers"),
        ({"original_response1": {"a": 1}}, "dict where a text should be"),
    ],
)
def test_a_row_that_is_no_entry_says_why(tmp_path, change, reason):
    source = write(tmp_path / "s.jsonl", {**ROW, **change})
    with pytest.raises(DataError, match=f"no entry of a suite for Authority: 1 x .*{reason}"):
        read(source, "authority")


def test_bad_rows_are_left_out_and_counted(tmp_path):
    suite = read(write(tmp_path / "s.jsonl", ROW, {**ROW, "label": 3}, {**ROW, "question": "Another?"}), "authority")
    [count] = suite.counts
    assert (count.drawn, count.failed, count.kept) == (3, 1, 2)


def test_other_data_is_no_suite(tmp_path):
    source = write(tmp_path / "s.jsonl", {"prompt": "Q", "chosen": "a", "rejected": "b"})
    with pytest.raises(DataError, match="unknown bias ''"):
        read(source)
