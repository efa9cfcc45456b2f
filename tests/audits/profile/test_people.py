import json

import pytest
from biasscope.audits.profile.people import read_people
from biasscope.core.errors import DataError
from biasscope.core.records import PreferencePair

PAIRS = [
    PreferencePair(id=f"hash{k}", prompt=f"q{k}", chosen="a", rejected="b", source_id="twin" if k > 1 else str(k))
    for k in range(4)
]


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_labels_by_pair_id_and_by_id_in_the_data(tmp_path):
    rows = [
        {"id": "hash0", "label": " Chosen "},
        {"id": 1, "label": "tie", "annotator": "ann"},
        {"id": 1, "label": "rejected", "annotator": "bob"},
        {"id": 1, "label": "rejected", "annotator": "eve"},
        {"id": "elsewhere", "label": "chosen"},
    ]
    found = read_people(written(tmp_path / "l.jsonl", rows), PAIRS)
    assert found.by_pair == {"hash0": ("chosen",), "hash1": ("tie", "rejected", "rejected")}
    assert found.most == {"hash0": "chosen", "hash1": "rejected"}
    assert found.between_people == pytest.approx(1 / 3)
    assert found.annotators == 4
    (tmp_path / "l.csv").write_text("id,label\n0,rejected\n", encoding="utf-8")
    alone = read_people(tmp_path / "l.csv", PAIRS)
    assert (alone.by_pair, alone.between_people) == ({"hash0": ("rejected",)}, None)


def test_no_majority_is_no_label(tmp_path):
    rows = [{"id": "0", "label": label, "annotator": label} for label in ("chosen", "rejected")]
    assert read_people(written(tmp_path / "l.jsonl", rows), PAIRS).most == {}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"id": "0"}], "line 1: needs the columns id and label"),
        ([{"id": "0", "label": "A"}], "line 1: label: 'A' is none of chosen, rejected, tie"),
        ([{"id": "twin", "label": "tie"}], "line 1: id: 2 pairs of the data have 'twin'; give their pair ids"),
        ([{"id": "0", "label": "tie"}] * 2, "line 2: there is a label on '0' already; with several people give"),
        ([{"id": "0", "label": "tie", "annotator": "a"}] * 2, "line 2: 'a' has a label on '0' already"),
        ([{"id": "x", "label": "tie"}], "none of its 1 labels is of the pairs that are judged"),
    ],
)
def test_bad_rows(tmp_path, rows, said):
    with pytest.raises(DataError, match=said.replace("(", r"\(")):
        read_people(written(tmp_path / "l.jsonl", rows), PAIRS)
    with pytest.raises(DataError, match="cannot be read"):
        read_people(tmp_path / "none.jsonl", PAIRS)
