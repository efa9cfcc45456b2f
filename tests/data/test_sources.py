import csv
import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from biasscope.core.errors import DataError
from biasscope.core.ids import content_id
from biasscope.data.report import Tally
from biasscope.data.sources import iter_pairs, load
from biasscope.data.spec import Columns, SourceSpec
from pydantic import ValidationError

Rows = list[dict[str, Any]]


def _jsonl(path: Path, rows: Rows) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def _load(tmp_path: Path, rows: Rows, **spec: Any) -> Any:
    return load(SourceSpec(source=_jsonl(tmp_path / "rows.jsonl", rows), **spec))


def _plain(n: int) -> Rows:
    return [
        {"prompt": f"q{i}", "chosen": f"good {i}", "rejected": f"bad {i}", "id": str(i), "domain": "ab"[i % 4 == 0]}
        for i in range(n)
    ]


# Presets, each with the rows of its data set's form

AB = {"question": "Q", "response_A": "right", "response_B": "wrong"}
PRESETS: dict[str, tuple[str, Rows, list[tuple[str, str]]]] = {
    "judgebench file": (
        "judgebench",
        [AB | {"label": 1, "domain": "reason", "pair_id": "x"}, AB | {"question": "R", "label": 2, "domain": "code"}],
        [("right", "Reasoning"), ("wrong", "Coding")],
    ),
    "judgebench hub": (
        "judgebench",
        [
            AB | {"label": "B>A", "source": "mmlu-pro-math"},
            AB | {"question": "R", "label": "A>B", "source": "mmlu-pro-law"},
        ],
        [("wrong", "Math"), ("right", "Knowledge")],
    ),
    "rewardbench hub": (
        "rewardbench",
        [
            {
                "prompt": s,
                "chosen": "right",
                "rejected": "wrong",
                "chosen_model": "m",
                "rejected_model": "n",
                "subset": s,
                "id": 1,
            }
            for s in (
                "alpacaeval-easy",
                "mt-bench-hard",
                "llmbar-adver-manual",
                "xstest-should-refuse",
                "hep-go",
                "math-prm",
            )
        ],
        [("right", d) for d in ("Chat", "Chat Hard", "Chat Hard", "Safety", "Reasoning", "Reasoning")],
    ),
    "rewardbench file": (
        "rewardbench",
        [AB | {"label": 1, "chosen_model": "m", "rejected_model": "n", "subset": "refusals-offensive", "id": 1}],
        [("right", "Safety")],
    ),
    "llmbar": (
        "llmbar",
        [{"input": "Q", "output_1": "wrong", "output_2": "right", "label": 2, "subset": "Natural"}],
        [("right", "Natural")],
    ),
    "evalbiasbench": (
        "evalbiasbench",
        [
            {
                "id": "e",
                "bias": "length bias",
                "instruction": "Q",
                "response1": "right",
                "response2": "wrong",
                "label": 1,
            }
        ],
        [("right", "length bias")],
    ),
    "ultrafeedback": (
        "ultrafeedback",
        [{"id": 1, "prompt": "Q", "chosen": "right", "rejected": "wrong", "score_chosen": 8.5, "score_rejected": 8}],
        [("right", "all")],
    ),
    "ultrafeedback hub": (
        "ultrafeedback",
        [
            {
                "prompt": "Q",
                "prompt_id": "h",
                "chosen": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "right"}],
                "rejected": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "wrong"}],
                "score_chosen": 8.5,
                "score_rejected": 8,
            }
        ],
        [("right", "all")],
    ),
    "rmbench": (
        "rmbench",
        [
            {
                "id": 1,
                "prompt": "Q",
                "chosen": ["r1", "r2", "r3"],
                "rejected": ["w1", "w2", "w3"],
                "domain": "safety-refuse",
            }
        ],
        [("r1", "Safety"), ("r2", "Safety"), ("r3", "Safety")],
    ),
    "judgebiasbench": (
        "judgebiasbench",
        [
            {
                "question": "Q",
                "original_response1": "wrong",
                "original_response2": "right",
                "rewritten_response1": "wrong!!",
                "rewritten_response2": "right.",
                "label": "response2",
            }
        ],
        [("right", "all")],
    ),
    "judgebiasbench context": (
        "judgebiasbench",
        [{"question": "Q", "response1": "right", "response2": "wrong", "label": "response1"}],
        [("right", "all")],
    ),
    "edited": (
        "edited",
        [
            {
                "id": "q",
                "question": "Q",
                "original_response": "right",
                "manipulated_response": "right right",
                "bias_type": "v",
            }
        ],
        [("right", "v")],
    ),
    "conversation": (
        "pairs",
        [
            {
                "chosen": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "right"}],
                "rejected": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "wrong"}],
            }
        ],
        [("right", "all")],
    ),
}


@pytest.mark.parametrize("name", sorted(PRESETS))
@pytest.mark.parametrize("auto", [True, False])
def test_presets(tmp_path: Path, name: str, auto: bool) -> None:
    preset, rows, expected = PRESETS[name]
    pairs, report = _load(tmp_path, rows, preset="auto" if auto else preset)
    assert [(p.chosen, p.domain) for p in pairs] == expected
    assert report.preset == preset and report.pairs == len(expected) and not report.dropped


def test_rmbench_styles(tmp_path: Path) -> None:
    pairs, _ = _load(tmp_path, PRESETS["rmbench"][1], styles="all")
    assert len(pairs) == 9
    styles = {(p.meta["style_chosen"], p.meta["style_rejected"]) for p in pairs}
    assert len(styles) == 9 and ("concise", "markdown") in styles


def test_judgebiasbench_rewritten_answers(tmp_path: Path) -> None:
    pairs, _ = _load(tmp_path, PRESETS["judgebiasbench"][1], responses="rewritten")
    assert (pairs[0].chosen, pairs[0].rejected) == ("right.", "wrong!!")


def test_models_and_source_are_kept(tmp_path: Path) -> None:
    pair = _load(tmp_path, PRESETS["rewardbench hub"][1]).pairs[0]
    assert pair.meta == {"subset": "alpacaeval-easy", "model_chosen": "m", "model_rejected": "n"}
    assert (pair.source, pair.source_id) == ("rows.jsonl", "1")
    assert pair.id == content_id("pair", pair.prompt, pair.chosen, pair.rejected)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": 1, "turns": ["a", "b"], "outputs": {"m": ["x", "y"]}}, "self-preference"),
        ({"text": "[[A]]", "source_parsed": "A", "true_verdict": "first"}, "log of judge verdicts"),
        ({"judge": "m", "winner": 1, "label": 1, "item": "x"}, "log of judge verdicts"),
        ({"judge": "m", "bias": "length", "flip_rate": 1.0}, "log of judge verdicts"),
        ({"q": "x", "good": "y"}, "no preset fits the columns \\['good', 'q'\\]"),
    ],
)
def test_other_data_is_named(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        _load(tmp_path, [row])


# Column mapping

MAPPED = Columns(prompt="q", answer_a="x", answer_b="y", label="best")


@pytest.mark.parametrize(
    ("labels", "chosen"),
    [
        ([1, 2], "xy"),
        ([0, 1], "xy"),
        (["A>B", "B>A"], "xy"),
        (["B", "A"], "yx"),
        (["second", "first"], "yx"),
        (["model_a", "model_b"], "xy"),
        ([2.0, 1.0], "yx"),
        (["m1", "m2"], "xy"),
        (["1", "2"], "xy"),
    ],
)
def test_label_conventions(tmp_path: Path, labels: list[Any], chosen: str) -> None:
    rows = [{"q": f"q{i}", "x": f"x{i}", "y": f"y{i}", "best": v, "ma": "m1", "mb": "m2"} for i, v in enumerate(labels)]
    columns = MAPPED.model_copy(update={"model_a": "ma", "model_b": "mb"})
    pairs, report = _load(tmp_path, rows, columns=columns)
    assert [p.chosen for p in pairs] == [f"{c}{i}" for i, c in enumerate(chosen)]
    assert pairs[0].meta["model_chosen"] == {"x": "m1", "y": "m2"}[chosen[0]]
    assert sum(report.positions.values()) == 2


def test_ties_and_unreadable_labels_are_counted_and_shown(tmp_path: Path) -> None:
    rows = [{"q": f"q{i}", "x": "x", "y": "y", "best": v} for i, v in enumerate(["A", "A=B", "??", None, "tie", "who"])]
    pairs, report = _load(tmp_path, rows, columns=MAPPED)
    assert len(pairs) == 1
    assert report.dropped == {"unreadable label": 3, "tie": 2}
    assert report.dropped_examples["unreadable label"] == ["line 3: '??'", "line 4: None", "line 6: 'who'"]


def test_ones_alone_are_not_guessed(tmp_path: Path) -> None:
    rows = [{"q": f"q{i}", "x": "x", "y": "y", "best": 1} for i in range(3)]
    with pytest.raises(DataError, match=r"columns\.labels"):
        _load(tmp_path, rows, columns=MAPPED)
    told = MAPPED.model_copy(update={"labels": "0/1"})
    assert {p.chosen for p in _load(tmp_path, rows, columns=told).pairs} == {"y"}
    own = MAPPED.model_copy(update={"label_values": {"1": "A"}})
    assert {p.chosen for p in _load(tmp_path, rows, columns=own).pairs} == {"x"}


def test_mapping_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'best'"):
        _load(tmp_path, [{"q": "q", "x": "x", "y": "y"}], columns=MAPPED)
    with pytest.raises(DataError, match="'dom'"):
        _load(tmp_path, _plain(1), columns=Columns(prompt="prompt", chosen="chosen", rejected="rejected", domain="dom"))
    with pytest.raises(DataError, match="preset 'llmbar' needs"):
        _load(tmp_path, _plain(1), preset="llmbar")
    with pytest.raises(ValidationError, match="either chosen and rejected"):
        Columns(prompt="p", chosen="c", label="l")
    with pytest.raises(ValidationError, match="exclude each other"):
        SourceSpec(source="x.csv", preset="llmbar", columns=MAPPED)


# What is left out, what is changed


def test_everything_odd_is_counted(tmp_path: Path) -> None:
    rows = [
        {"prompt": "a\r\nb", "chosen": "c\rd", "rejected": "e\x00\x1b[2J", "id": None},
        {"prompt": "a\nb", "chosen": "c\nd", "rejected": "e\ufffd\ufffd[2J", "id": None},
        {"prompt": "p", "chosen": "same ", "rejected": "same", "id": 1},
        {"prompt": "p", "chosen": "", "rejected": "x", "id": 1},
        {"prompt": "p", "chosen": "x", "rejected": None, "id": 1},
        {"prompt": " ", "chosen": "x", "rejected": "y", "id": 1},
        {"prompt": ["t1", "t2"], "chosen": "x\ud800", "rejected": "y", "id": 1},
        {"prompt": "p", "chosen": "x", "rejected": "y", "id": 2},
        {"prompt": "p", "chosen": "y", "rejected": "x", "id": 3},
        {"prompt": "p", "chosen": {"no": "text"}, "rejected": "x", "id": 3},
        {"prompt": "p", "chosen": "x"},
    ]
    pairs, report = _load(tmp_path, rows)
    assert report.rows == 11 and report.pairs == len(pairs) == 4
    assert pairs[0].chosen == "c\nd" and pairs[0].rejected == "e\ufffd\ufffd[2J"
    assert pairs[1].prompt == "Turn 1:\nt1\n\nTurn 2:\nt2" and pairs[1].chosen == "x\ufffd"
    assert report.dropped == {
        "empty answer": 2,
        "duplicate": 1,
        "equal answers": 1,
        "empty prompt": 1,
        "unreadable text": 1,
        "missing field": 1,
    }
    assert report.oddities == {
        "null id": 2,
        "no id": 2,
        "CRLF": 1,
        "bare CR": 1,
        "NUL": 1,
        "control character": 1,
        "U+FFFD": 1,
        "several turns": 1,
        "lone surrogate": 1,
        "repeated prompt": 1,
        "contradicts another pair": 1,
    }


def _chat(*turns: tuple[str, str]) -> Rows:
    return [{"role": role, "content": text} for role, text in turns]


ODD_ROWS: dict[str, tuple[dict[str, Any], str]] = {
    "a list of answers": ({"prompt": "q", "chosen": ["a", "b"], "rejected": "c"}, "2 texts where one answer should be"),
    "true for an answer": ({"prompt": "q", "chosen": True, "rejected": "c"}, "bool where a text should be"),
    "an object": ({"prompt": {"a": 1}, "chosen": "a", "rejected": "c"}, "dict where a text should be"),
    "nested messages": ({"prompt": [_chat(("user", "q"))], "chosen": "a", "rejected": "c"}, "list where a text"),
    "other conversations": (
        {
            "prompt": "q",
            "chosen": _chat(("user", "q"), ("assistant", "a")),
            "rejected": _chat(("user", "r"), ("assistant", "b")),
        },
        "the two answers follow different chat messages",
    ),
    "the user speaks last": (
        {"prompt": "q", "chosen": _chat(("user", "a")), "rejected": "c"},
        "of the role 'user', not of the assistant",
    ),
}


@pytest.mark.parametrize("name", sorted(ODD_ROWS))
@pytest.mark.parametrize("suffix", ["jsonl", "json", "parquet"])
def test_odd_rows_are_left_out_with_their_place(tmp_path: Path, name: str, suffix: str) -> None:
    odd, said = ODD_ROWS[name]
    path = tmp_path / f"x.{suffix}"
    place = {"jsonl": "line 2", "json": "item 2", "parquet": "row 2"}[suffix]
    if suffix == "parquet":
        # A parquet column has one type: the good row is empty, and left out too.
        pq.write_table(pa.Table.from_pylist([dict.fromkeys(odd), odd]), path)
        with pytest.raises(DataError, match=r"among 2 rows: .*1 unreadable text") as caught:
            load(SourceSpec(source=str(path)))
        assert "\n" not in str(caught.value)
        return
    rows = [*_plain(1), odd]
    path.write_text("\n".join(map(json.dumps, rows)) if suffix == "jsonl" else json.dumps(rows))
    report = load(SourceSpec(source=str(path))).report
    assert (report.pairs, report.dropped) == (1, {"unreadable text": 1})
    [example] = report.dropped_examples["unreadable text"]
    assert example.startswith(f"{place}: ") and said in example


def test_odd_values_that_can_be_read_are_counted(tmp_path: Path) -> None:
    rows = [
        {"prompt": 12, "chosen": 1.5, "rejected": "b", "id": "1"},
        {"prompt": "q\ud800", "chosen": "a", "rejected": "b", "id": "\udfff"},
        {"prompt": float("nan"), "chosen": "a", "rejected": "b", "id": "3"},
    ]
    pairs, report = _load(tmp_path, rows)
    assert (pairs[0].prompt, pairs[0].chosen, pairs[1].prompt, pairs[1].source_id) == ("12", "1.5", "q\ufffd", "\ufffd")
    assert report.oddities == {"number as text": 2, "lone surrogate": 2}
    assert report.dropped == {"empty prompt": 1}


def test_numbers_too_large_for_a_label_or_score(tmp_path: Path) -> None:
    report = _load(tmp_path, [AB | {"label": 10**400}, AB | {"label": 1}, AB | {"label": 2, "question": "R"}]).report
    assert report.dropped == {"unreadable label": 1}
    scored = _plain(1)[0] | {"score_chosen": 10**400, "score_rejected": 1, "source": "x"}
    assert _load(tmp_path, [scored]).report.pairs == 1


def test_conversations_bring_their_prompt(tmp_path: Path) -> None:
    before = (("user", "hi"), ("assistant", "yes?"), ("user", "why?"))
    row = {"chosen": _chat(*before, ("assistant", "a")), "rejected": _chat(*before, ("assistant", "b"))}
    whole = "User: hi\n\nAssistant: yes?\n\nUser: why?"
    for given in (row, row | {"prompt": "hi"}):
        pairs, report = _load(tmp_path, [given])
        assert [(p.prompt, p.chosen, p.rejected) for p in pairs] == [(whole, "a", "b")]
        assert report.oddities["several turns"] == 1
    # The column says it where there is one turn: the conversation may hold a system message that is not the question.
    single = {
        "chosen": _chat(("user", "hi"), ("assistant", "a")),
        "rejected": _chat(("user", "hi"), ("assistant", "b")),
    }
    assert _load(tmp_path, [single | {"prompt": "hi there"}]).pairs[0].prompt == "hi there"
    turns = {"prompt": ["one", "two"], "chosen": ["a", "b"], "rejected": ["c", "d"], "id": "1", "domain": "x"}
    pairs, _ = _load(tmp_path, [turns | {"chosen": "last", "rejected": "end"}, turns])
    assert [p.chosen for p in pairs] == ["last", "Turn 1:\na\n\nTurn 2:\nb"]


def test_a_style_without_an_answer_is_one_pair_less(tmp_path: Path) -> None:
    row = {"prompt": "q", "chosen": ["a", None, "c"], "rejected": ["d", "e", "f"], "domain": "chat", "id": "1"}
    report = _load(tmp_path, [row]).report
    assert (report.preset, report.pairs, report.dropped) == ("rmbench", 2, {"empty answer": 1})


def test_scores_can_tie_or_contradict(tmp_path: Path) -> None:
    base = {"chosen": "x", "rejected": "y"}
    scores = [(8, 8), (7, 9), (9, 7), (None, 3)]
    rows = [
        base | {"id": i, "prompt": f"q{i}", "score_chosen": a, "score_rejected": b} for i, (a, b) in enumerate(scores)
    ]
    pairs, report = _load(tmp_path, rows)
    assert [p.prompt for p in pairs] == ["q2", "q3"]
    assert report.dropped == {"tie": 1, "scores contradict": 1}


def test_domains_limit_and_max_chars(tmp_path: Path) -> None:
    rows = _plain(200)
    rows[0]["chosen"] = "long" * 100
    pairs, report = _load(tmp_path, rows, domains=("b",), max_chars=50, limit=20)
    assert {p.domain for p in pairs} == {"b"} and len(pairs) == 20
    assert report.dropped == {"other domain": 150, "over the limit": 29, "too long": 1}
    with pytest.raises(DataError, match=r"no usable pair in the domains \['z'\] among 200 rows: 200 other domain"):
        _load(tmp_path, rows, domains=("z",))


def test_same_content_in_another_order(tmp_path: Path) -> None:
    rows = _plain(300)
    mixed = rows.copy()
    random.Random(5).shuffle(mixed)
    one, two = _load(tmp_path, rows, limit=30, seed=2), _load(tmp_path, mixed, limit=30, seed=2)
    assert one.pairs == two.pairs and one.report == two.report
    assert one.report.domains == {"a": 23, "b": 7}
    assert _load(tmp_path, rows).report.data_hash == _load(tmp_path, mixed).report.data_hash
    assert _load(tmp_path, rows, limit=30, seed=3).report.data_hash != one.report.data_hash


def test_a_column_of_ids_is_no_domain(tmp_path: Path) -> None:
    rows = [row | {"domain": f"d{i}"} for i, row in enumerate(_plain(1001))]
    with pytest.raises(DataError, match="more than 1000 domains"):
        _load(tmp_path, rows)


def test_builtin() -> None:
    pairs, report = load(SourceSpec(source="builtin"))
    assert len(pairs) == report.pairs == 400
    assert set(report.domains.values()) == {100}
    assert pairs[0].source == "builtin" and pairs[0].meta["right_answer"]
    assert [len(load(SourceSpec(source="builtin", limit=n)).pairs) for n in (8, 500)] == [8, 500]
    assert load(SourceSpec(source="builtin", limit=8, domains=("code",))).report.domains == {"code": 8}


# Files


@pytest.mark.parametrize(
    "name", ["x.jsonl", "x.jsonl.gz", "x.json", "x.csv", "x.tsv", "x.csv.gz", "x.parquet", "folder"]
)
def test_every_kind_of_file_reads_the_same(tmp_path: Path, name: str) -> None:
    rows = _plain(300)
    rows[3]["chosen"] = 'quoted "text", with a\nline and \u2028 a separator'
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
        pq.write_table(pa.Table.from_pylist(rows), path / "part.parquet")
    elif name.endswith("parquet"):
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=50)
    else:
        opened = gzip.open if name.endswith("gz") else open
        with opened(path, "wt", encoding="utf-8", newline="") as file:  # type: ignore[operator]
            if "json" in name:
                lines = [json.dumps(row) for row in rows]
                file.write("[" + ",\n".join(lines) + "]" if name.endswith("json") else "\n".join(lines) + "\n\n")
            else:
                writer = csv.DictWriter(file, list(rows[0]), delimiter="\t" if "tsv" in name else ",")
                writer.writeheader()
                writer.writerows(rows)
    pairs, report = load(SourceSpec(source=str(path)))
    assert [(p.prompt, p.chosen, p.rejected, p.domain, p.source_id) for p in pairs] == [
        (r["prompt"], r["chosen"], r["rejected"], r["domain"], r["id"]) for r in rows
    ]
    assert (report.rows, report.dropped, report.oddities) == (300, {}, {})


GOOD = b'{"prompt": "q", "chosen": "a", "rejected": "b"}\n'
BROKEN = {
    "line.jsonl": (GOOD * 2 + b'{"prompt": "q"\n' + GOOD, r"line 3: not JSON: .* at column"),
    "kind.jsonl": (GOOD + b"[1]\n", r"line 2: a list where an object"),
    "bytes.jsonl": (GOOD + b'{"prompt": "\xff"}\n', r"line 2: not UTF-8 \(byte 0xff at position 12\)"),
    "empty.jsonl": (b"\n\n", r"holds no rows"),
    "cut.jsonl.gz": (gzip.compress(GOOD * 50)[:-12], r"after line \d+: broken gzip"),
    "plain.jsonl.gz": (GOOD, r"after line 0: broken gzip"),
    "one.json": (GOOD, r"holds one object"),
    "text.json": (b'[{"prompt": "q"},\n{]', r"line 2: not JSON"),
    "short.csv": (
        b"prompt,chosen,rejected\nq,a,b\nq,a\n",
        r"row 2 \(ends at line 3\): 2 fields where the header has 3",
    ),
    "quote.csv": (b'prompt,chosen,rejected\nq,a,b\nq,"a"x,b\n', r"row 2 \(line 3\): "),
    "twice.csv": (b"prompt,chosen,chosen\n1,2,3\n", r"line 1: column names \['chosen'\] occur twice"),
    "no.parquet": (b"PAR1 nothing", r"not readable as parquet: "),
    "no.parquet.gz": (b"x", r"unknown file type"),
    "notes.txt": (b"x", r"unknown file type '.txt'"),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_broken_files_are_named_with_place_and_reason(tmp_path: Path, name: str) -> None:
    content, said = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=re.escape(name) + r".*" + said) as caught:
        load(SourceSpec(source=str(tmp_path / name)))
    assert "\n" not in str(caught.value)


def test_a_damaged_row_group_says_after_which_row(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.Table.from_pylist(_plain(2000)), path, row_group_size=1000, compression="gzip")
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 400] = b"\x00" * 400
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"x\.parquet: .*not readable as parquet: "):
        load(SourceSpec(source=str(path)))


def test_bom_and_blank_lines(tmp_path: Path) -> None:
    (tmp_path / "bom.jsonl").write_bytes(b"\xef\xbb\xbf" + GOOD + b"\n")
    assert load(SourceSpec(source=str(tmp_path / "bom.jsonl"))).report.pairs == 1


def test_relative_paths_and_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _jsonl(tmp_path / "here.jsonl", _plain(2))
    monkeypatch.chdir(tmp_path)
    assert load(SourceSpec(source="here.jsonl")).report.pairs == 2
    for missing in ("there.jsonl", "some/where.csv", "/no/such/file.parquet", "nothing"):
        with pytest.raises(DataError, match="check the path"):
            load(SourceSpec(source=missing))
    with pytest.raises(DataError, match="belong to hub data sets"):
        load(SourceSpec(source="here.jsonl", split="test"))


@pytest.mark.parametrize("name", [n for n in BROKEN if n not in ("notes.txt", "no.parquet.gz", "empty.jsonl")])
def test_a_broken_file_of_a_folder_is_named_like_one_alone(tmp_path: Path, name: str) -> None:
    content, said = BROKEN[name]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / name).write_bytes(content)
    with pytest.raises(DataError, match=re.escape(f"data/{name}") + r".*" + said) as caught:
        load(SourceSpec(source=str(tmp_path / "data")))
    assert "\n" not in str(caught.value)


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("data")
    (folder / "deep").mkdir(parents=True)
    _jsonl(folder / "a.jsonl", _plain(2))
    _jsonl(folder / "deep" / "b.jsonl", [*_plain(3), {"prompt": "q", "chosen": [1, 2], "rejected": "b"}])
    (folder / "numbers.csv").write_text("x\n1\n")
    pairs, report = load(SourceSpec(source="data"))
    assert len(pairs) == 3
    assert report.notes == ["not read, since the other files are of another type: numbers.csv"]
    assert report.dropped == {"duplicate": 2, "unreadable text": 1}
    assert report.dropped_examples["unreadable text"][0].startswith("deep/b.jsonl line 4: ")


def test_splits_of_a_folder(tmp_path: Path) -> None:
    _jsonl(tmp_path / "train.jsonl", _plain(5))
    _jsonl(tmp_path / "test.jsonl", _plain(2))
    assert load(SourceSpec(source=str(tmp_path), split="test")).report.pairs == 2
    with pytest.raises(DataError, match=r"the splits \['test', 'train'\]: choose one"):
        load(SourceSpec(source=str(tmp_path)))
    with pytest.raises(DataError, match=r"the splits \['test', 'train'\]: there is none named 'dev'"):
        load(SourceSpec(source=str(tmp_path), split="dev"))


def test_a_json_file_may_hold_lines(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(GOOD + b"\n" + GOOD.replace(b"q", b"r"))
    assert load(SourceSpec(source=str(tmp_path / "x.json"))).report.pairs == 2
    (tmp_path / "y.json").write_bytes(GOOD + b"[")
    with pytest.raises(DataError, match=r"y\.json: line 2: not JSON"):
        load(SourceSpec(source=str(tmp_path / "y.json")))


def test_hub_data_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fake(name: str, config: str | None, split: str | None, streaming: bool) -> Any:
        asked.append((name, config, split, streaming))
        if name == "no/loader":
            raise ConnectionError("Couldn't reach the hub\nlong trace")
        return _plain(5) if split else {"test": _plain(5), "train": _plain(9)}

    monkeypatch.setattr("datasets.load_dataset", fake)
    monkeypatch.setattr("huggingface_hub.HfApi.dataset_info", lambda *args, **options: None)
    pairs, _ = load(SourceSpec(source="owner/name", split="test", config="en"))
    assert len(pairs) == 5 and pairs[0].source == "owner/name"
    assert asked == [("owner/name", "en", "test", True)]
    with pytest.raises(DataError, match=r"the splits \['test', 'train'\]: choose one"):
        load(SourceSpec(source="owner/name"))
    with pytest.raises(DataError, match=r"'no/loader' cannot be opened: Couldn't reach the hub$"):
        load(SourceSpec(source="no/loader"))


def test_streaming_reads_no_further_than_asked(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(GOOD + b"broken\n")
    tally = Tally("x")
    stream = iter_pairs(SourceSpec(source=str(path)), tally)
    assert next(stream).prompt == "q"
    assert tally.rows == 1
    with pytest.raises(DataError, match="line 2"):
        next(stream)
