"""Annotation tasks out and decisions in: every format round, bad files in one line, what the tools themselves say."""

import csv
import json
import sys
from xml.etree import ElementTree

import pytest
from biasscope.core.errors import DataError
from biasscope.core.records import PreferencePair
from biasscope.data.annotation_export import COLUMNS, FORMATS, export_tasks
from biasscope.data.annotation_import import read_decisions
from biasscope.data.annotations import (
    LABEL_TEXTS,
    check_items,
    guidelines,
    make_annotation,
    make_task,
    new_rows,
    read_label,
    utc,
)
from hypothesis import given
from hypothesis import strategies as st

ODD = '=cmd()|"x",\r\n\u2028</View> {{7*7}} é数 <script>'


def item(number, text="right"):
    return PreferencePair(id=f"{number:024x}", prompt=f"Q{number} {ODD}", chosen=f"{text} {ODD}", rejected="=wrong")


def tasks(count=3, round="independent"):
    return [make_task(item(k), round) for k in range(count)]


def label_studio_export(path):
    """What Label Studio 1.x writes as JSON for tasks that two people have done."""
    rows = json.loads(path.read_text())
    for number, row in enumerate(rows):
        row["id"] = number + 1
        row["annotations"] = [
            {
                "id": 10 * number + k,
                "completed_by": {"id": k, "email": f"{who}@example.org"},
                "was_cancelled": False,
                "created_at": "2026-01-31T09:30:00.123456Z",
                "updated_at": f"2026-01-31T1{k}:30:00.123456Z",
                "result": [
                    {
                        "from_name": "label",
                        "to_name": "question",
                        "type": "choices",
                        "value": {
                            "choices": ["The final answers are different" if k else "The final answers are the same"]
                        },
                    },
                    {"from_name": "comment", "to_name": "question", "type": "textarea", "value": {"text": ["a", "b"]}},
                ],
            }
            for k, who in enumerate(("ada", "bob"))
        ]
        row["annotations"].append({"completed_by": 9, "was_cancelled": True, "result": []})
    return rows


def test_which_answer_is_better_is_not_said_and_the_order_is_drawn():
    made = [make_task(item(k), "independent") for k in range(200)]
    first = sum(t.answer_a.startswith("right") for t in made)
    assert 70 < first < 130
    assert made == [make_task(item(k), "independent") for k in range(200)]


def test_adjudication_shows_what_was_said_and_review_does_not():
    said = [make_annotation("r", "i", "ada", "same", comment="both 5"), make_annotation("r", "i", "bob", "different")]
    assert make_task(item(0), "adjudication", said=said).earlier == ("ada: same (both 5)", "bob: different")
    assert make_task(item(0), "review", said=said).earlier == ()


@pytest.mark.parametrize("format", FORMATS)
def test_guidelines_go_with_the_tasks(tmp_path, format):
    written = export_tasks(tmp_path / "out", format, tasks())
    assert all(path.is_file() for path in written)
    assert written[-1].read_text() == guidelines()
    for label in LABEL_TEXTS:
        assert f"**{label}**" in guidelines()
        assert f"| {label} |" in guidelines() or label == "unsure"


def test_jsonl_goes_round(tmp_path):
    path, _ = export_tasks(tmp_path, "jsonl", tasks(), annotator="ada")
    assert read_decisions(path) == []
    rows = [json.loads(line) for line in path.read_text().split("\n")[:-1]]
    assert [tuple(row) for row in rows] == [COLUMNS] * 3
    rows[1] |= {"label": " Different", "comment": "5 and 6", "time": "2026-01-31T10:30:00+01:00"}
    path.write_text("\n".join(map(json.dumps, rows)))
    [found] = read_decisions(path)
    assert (found.item_id, found.label, found.annotator) == (item(1).id, "different", "ada")
    assert (found.round, found.time) == ("independent", "2026-01-31T09:30:00.000000+00:00")


def test_csv_goes_round_and_holds_no_formula(tmp_path):
    path, _ = export_tasks(tmp_path, "csv", tasks(round="review"), annotator="=ada")
    with path.open(encoding="utf-8-sig", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == 3
    assert all(not cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())
    rows[2] |= {"label": "same", "comment": "-"}
    with path.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    [found] = read_decisions(path)
    assert (found.item_id, found.label, found.annotator, found.round) == (item(2).id, "same", "=ada", "review")


def test_label_studio_goes_round(tmp_path):
    path, config, _ = export_tasks(tmp_path, "label-studio", tasks(2))
    tree = ElementTree.parse(config)
    fields = {tag.attrib["value"].removeprefix("$") for tag in tree.iter("Text")}
    assert fields <= set(json.loads(path.read_text())[0]["data"])
    assert [c.attrib["value"] for c in tree.iter("Choice")] == list(LABEL_TEXTS.values())
    back = tmp_path / "export.json"
    back.write_text(json.dumps(label_studio_export(path)))
    found = read_decisions(back)
    assert [(d.item_id, d.annotator, d.label) for d in found] == [
        (item(k).id, f"{who}@example.org", label)
        for k in range(2)
        for who, label in (("ada", "same"), ("bob", "different"))
    ]
    assert {d.comment for d in found} == {"a\nb"}
    assert found[1].time == "2026-01-31T11:30:00.123456+00:00"


def test_argilla_goes_round(tmp_path):
    records, *_ = export_tasks(tmp_path, "argilla", tasks(2))
    rows = json.loads(records.read_text())
    rows[0]["responses"] = {
        "label": [{"value": "different", "user_id": "u1"}, {"value": "same", "user_id": "u2", "status": "discarded"}],
        "comment": [{"value": "5 and 6", "user_id": "u1"}],
    }
    back = tmp_path / "back.json"
    back.write_text(json.dumps(rows))
    [found] = read_decisions(back)
    assert (found.item_id, found.label, found.annotator, found.comment) == (item(0).id, "different", "u1", "5 and 6")
    assert found.round == "independent"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.jsonl", '{"item_id": "x"}', "line 1: has no 'label'"),
        ("a.jsonl", '{"item_id": "x", "label": "maybe"}', "label 'maybe' is none of different, same, broken, unsure"),
        ("a.jsonl", '{"item_id": "x", "label": "same", "round": "third"}', "round 'third' is none of"),
        ("a.jsonl", '{"item_id": "x", "label": "same", "time": "noon"}', "time 'noon' is not ISO 8601"),
        ("a.jsonl", "[1]", "holds no JSON object"),
        ("a.jsonl", "{", "is not JSON"),
        ("a.csv", "item_id\nx\n", "has no 'label'"),
        ("a.json", "{}", "holds no list of objects"),
        ("a.json", '[{"data": {}}]', "record 1: has neither 'annotations'"),
        ("a.json", '[{"annotations": 3, "data": {}}]', "a list is needed, got int"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.xlsx", "", "decisions come as"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError) as caught:
        read_decisions(tmp_path / name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_item_is_named(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"item_id": "x", "label": "same"}\n{"item_id": "y", "label": "same"}')
    with pytest.raises(DataError, match=r"line 1: no item 'x' in this benchmark and 1 more"):
        check_items(read_decisions(tmp_path / "a.jsonl"), {})


def test_importing_twice_adds_nothing_and_a_change_of_mind_is_kept():
    first = make_annotation("r", "i", "ada", "same", time="1")
    again = make_annotation("r", "i", "ada", "same", time="2")
    other = make_annotation("r", "i", "ada", "different", time="3")
    back = make_annotation("r", "i", "ada", "same", time="4")
    assert new_rows([first, again], []) == [first]
    assert new_rows([again], [first]) == []
    assert new_rows([other, back], [first]) == [other, back]
    assert new_rows([first, other, back], [first, other, back]) == []


@given(st.text(max_size=40))
def test_labels_and_times_are_read_or_refused(text):
    for read in (read_label, utc):
        try:
            assert read(text, "here")
        except DataError as error:
            assert str(error).startswith("here: ")


def test_label_studio_takes_the_tasks_and_the_interface(tmp_path):
    sdk = pytest.importorskip("label_studio_sdk.label_interface")
    path, config, _ = export_tasks(tmp_path, "label-studio", tasks(2))
    interface = sdk.LabelInterface(config.read_text())
    interface.validate()
    for task in label_studio_export(path):
        assert interface.validate_task({"data": task["data"]})
        assert interface.validate_annotation(task["annotations"][0])


def test_argilla_takes_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ARGILLA_API_KEY", "none")
    monkeypatch.setenv("ARGILLA_API_URL", "http://127.0.0.1:9")
    pytest.importorskip("argilla")
    import argilla._api._client

    monkeypatch.setattr(argilla._api._client.APIClient, "_validate_connection", lambda self: None)
    argilla = sys.modules["argilla"]
    records, settings, dataset, _ = export_tasks(tmp_path, "argilla", tasks(2))
    read = argilla.Settings.from_json(settings)
    read.validate()
    assert [q.name for q in read.questions] == ["label", "comment"]
    assert argilla.Dataset._load_dataset_model(dataset).name == "benchmark"
    from argilla.records._io import JsonIO

    assert [r.fields["question"] for r in JsonIO._records_from_json(records)] == [t.question for t in tasks(2)]
