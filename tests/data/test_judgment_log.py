"""Logs of verdicts become judgments; published accuracy comes out of the published rows."""

import gzip
import json
import math
import os
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from biasscope.core.errors import DataError
from biasscope.core.records import PreferencePair
from biasscope.data.judgment_log import read_judgments
from biasscope.data.sources import load
from biasscope.data.spec import SourceSpec
from biasscope.validators.agreement import cohen_kappa
from hypothesis import given, settings
from hypothesis import strategies as st

OWN = {"prompt": "2 + 2?", "answer_a": "4", "answer_b": "5", "verdict": "A"}


def read(tmp_path, *rows, **more):
    file = tmp_path / "log.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_judgments(file, run_id="run", **more)


@pytest.mark.parametrize(
    ("row", "verdict", "order"),
    [
        ({"verdict": "A", "label": "A"}, "chosen", "chosen_first"),
        ({"verdict": "B", "label": "A"}, "rejected", "chosen_first"),
        ({"verdict": "B", "label": "B"}, "chosen", "rejected_first"),
        ({"verdict": 1, "label": 2}, "rejected", "rejected_first"),
        ({"verdict": "A>>B", "label": "B>A"}, "rejected", "rejected_first"),
        ({"verdict": "tie", "label": "A"}, "tie", "chosen_first"),
        ({"verdict": None, "label": "A"}, "invalid", "chosen_first"),
    ],
)
def test_a_log_of_ones_own(tmp_path, row, verdict, order):
    log = read(tmp_path, {**OWN, **row, "judge": "prod", "id": 7})
    [judgment], [pair] = log.judgments, log.pairs
    assert (judgment.verdict, judgment.order, judgment.judge, judgment.run_id) == (verdict, order, "prod", "run")
    best = "4" if order == "chosen_first" else "5"
    assert (pair.chosen, pair.source_id, judgment.pair_id) == (best, "7", pair.id) and not log.unlabelled


def test_without_labels_a_side_keeps_its_name_when_the_answers_come_swapped(tmp_path):
    swapped = {**OWN, "answer_a": "5", "answer_b": "4"}
    log = read(tmp_path, OWN, swapped)
    [pair] = log.pairs
    assert [(j.verdict, j.order) for j in log.judgments] == [
        ("chosen", "chosen_first"),
        ("rejected", "rejected_first"),
    ]
    assert pair.chosen == "4" and log.unlabelled == {pair.id}


def test_scores_follow_their_answers(tmp_path):
    log = read(tmp_path, {**OWN, "label": "B", "score_a": 0.5, "score_b": -1})
    assert (log.judgments[0].score_chosen, log.judgments[0].score_rejected) == (-1.0, 0.5)


def test_repeated_verdicts_are_repetitions(tmp_path):
    log = read(tmp_path, OWN, {**OWN, "verdict": "B"}, OWN)
    assert [j.draw for j in log.judgments] == [0, 1, 2]
    with pytest.raises(DataError, match=r"line 2: a second verdict of 'logged' on the same pair, order and repetition"):
        read(tmp_path, {**OWN, "repetition": 1}, {**OWN, "repetition": 1})


def test_an_item_finds_its_pair(tmp_path):
    row = {"item": "x1", "judge": "j", "method": "CoT", "winner": 1, "label": 1, "swap": True}
    pair = PreferencePair(id="p", prompt="q", chosen="c", rejected="r", source_id="x1")
    log = read(tmp_path, row, {**row, "item": "x2"}, pairs=[pair])
    assert [j.pair_id == "p" for j in log.judgments] == [True, False] and log.pairs == (pair,)
    assert (log.judgments[0].verdict, log.judgments[0].order) == ("chosen", "rejected_first")
    assert log.judgments[0].judge == "j#CoT"
    with pytest.raises(DataError, match="'x1' is that of two pairs"):
        read(tmp_path, row, pairs=[pair, pair.model_copy(update={"id": "p2"})])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"prompt": "q"}, "line 1: is no verdict: it has prompt; a log needs"),
        ({**OWN, "verdict": "perhaps"}, "verdict = 'perhaps' is none of A, B, tie, 1 and 2"),
        ({**OWN, "label": "tie"}, "label is a tie"),
        ({**OWN, "repetition": 0}, "repetition = 0 is no whole number"),
        ({**OWN, "score_a": "high", "score_b": 1}, "the score 'high' is no number"),
        ({"item": "x", "judge": "j", "decision_as_shown": "A"}, "neither label_AB nor model_shown_A"),
    ],
)
def test_what_no_layout_fits_is_named(tmp_path, row, said):
    with pytest.raises(DataError, match=said):
        read(tmp_path, row)


def test_an_empty_log_is_an_error(tmp_path):
    with pytest.raises(DataError, match="no rows"):
        read(tmp_path)


def test_the_example_of_the_documentation_is_read(tmp_path):
    text = (Path(__file__).parents[2] / "docs/contrasts.md").read_text(encoding="utf-8")
    example = text.partition("```json\n")[2].partition("```")[0]
    (tmp_path / "log.jsonl").write_text(example, encoding="utf-8")
    log = read_judgments(tmp_path / "log.jsonl", run_id="run")
    assert [(j.verdict, j.order, j.judge) for j in log.judgments] == [
        ("rejected", "chosen_first", "prod-v3"),
        ("rejected", "rejected_first", "prod-v3"),
        ("tie", "chosen_first", "prod-v3"),
    ]
    assert len(log.pairs) == 2 and len(log.unlabelled) == 1 and log.judgments[2].score_chosen == 0.4


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from("AB"), st.one_of(st.none(), st.sampled_from(["A", "B", "tie"])), st.booleans(), st.text(max_size=20)
)
def test_swapping_what_is_shown_changes_the_order_alone(tmp_path_factory, label, verdict, swap, text):
    flip = {"A": "B", "B": "A", "tie": "tie", None: None}
    row = {"prompt": "q" + text, "answer_a": "one" + text, "answer_b": "two", "verdict": verdict, "label": label}
    other = {**row, "answer_a": row["answer_b"], "answer_b": row["answer_a"]}
    other |= {"verdict": flip[verdict], "label": flip[label]}
    log = read(tmp_path_factory.mktemp("log"), *((other, row) if swap else (row, other)))
    one, two = log.judgments
    assert len(log.pairs) == 1 and one.pair_id == two.pair_id
    assert one.verdict == two.verdict and one.order != two.order


@pytest.fixture(scope="module")
def folder() -> Path:
    named = os.environ.get("BIASSCOPE_TEST_DATA")
    if not named:
        pytest.skip("set BIASSCOPE_TEST_DATA to the folder of the data sets")
    return Path(named)


def rows_of(file):
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.shared_data
def test_every_published_accuracy_comes_out_of_the_imported_judgments(folder):
    """Per subset, judge and method: accuracy without and with the swap, both, agreement, and its kappa."""
    log = read_judgments(folder / "judge_runs.jsonl.gz", run_id="run")
    rows = rows_of(folder / "judge_runs.jsonl.gz")
    assert len(log.judgments) == len(rows) == 34_811
    groups = defaultdict(dict)
    for row, judgment in zip(rows, log.judgments, strict=True):
        if row["dataset"] == "llmbar":
            groups[row["subset"], row["judge"], row["method"]][row["item"], row["swap"]] = judgment
    published = rows_of(folder / "judge_runs_published_stats.jsonl.gz")
    assert len(published) == len(groups) == 185
    for row in published:
        group, said = groups[row["subset"], row["judge"], row["method"]], row["published"]
        items = sorted({item for item, _ in group})
        right = {swap: [group[i, swap].verdict == "chosen" for i in items] for swap in (False, True)}
        verdicts = {swap: [group[i, swap].verdict for i in items] for swap in (False, True)}
        both = [one and two for one, two in zip(*right.values(), strict=True)]
        same = [one == two for one, two in zip(*verdicts.values(), strict=True)]
        mine = {"correct_False": right[False], "correct_True": right[True], "correct_both": both, "equal": same}
        for name, hits in mine.items():
            assert said[name] == f"{sum(hits)} / {len(hits)} = {sum(hits) / len(hits) * 100}%", (row, name)
        average = 100 * (sum(right[False]) + sum(right[True])) / (2 * len(items))
        assert math.isclose(float(said["correct_average"].rstrip("%")), average), row


@pytest.mark.shared_data
def test_what_else_the_published_runs_hold(folder):
    pairs = load(SourceSpec(source=str(folder / "llmbar.jsonl.gz"))).pairs
    log = read_judgments(folder / "judge_runs.jsonl.gz", run_id="run", pairs=pairs)
    assert len(log.pairs) == 411
    assert Counter(j.verdict for j in log.judgments if j.judge.endswith("#reward_model")) == Counter(
        {"chosen": 832, "rejected": 568}
    )
    for judgment in log.judgments:
        if judgment.score_chosen is not None:
            assert (judgment.verdict == "chosen") == (judgment.score_chosen > judgment.score_rejected)
    assert len({j.id for j in log.judgments}) == 34_811
    unlabelled = [j for j in log.judgments if j.pair_id in log.unlabelled]
    assert len(unlabelled) == 1_705 and {j.draw for j in unlabelled} == {0, 1, 2}
    # The swapped order of a position study is the same pair.
    assert len(log.unlabelled) * 2 >= len({(j.pair_id, j.order) for j in unlabelled}) > len(log.unlabelled)


@pytest.mark.shared_data
def test_the_kappa_between_the_two_orders_is_the_published_one_where_every_verdict_could_be_read(folder):
    rows = [r for r in rows_of(folder / "judge_runs.jsonl.gz") if r["dataset"] == "llmbar"]
    groups = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        groups[row["subset"], row["judge"], row["method"]][row["swap"]][row["item"]] = str(row["winner"])
    compared, off = 0, []
    for row in rows_of(folder / "judge_runs_published_stats.jsonl.gz"):
        plain, swapped = (groups[row["subset"], row["judge"], row["method"]][swap] for swap in (False, True))
        if "None" in (*plain.values(), *swapped.values()):
            continue
        compared += 1
        kappa = cohen_kappa(list(plain.values()), [swapped[item] for item in plain])
        if not math.isclose(kappa, row["published"]["kappa_agreement"], abs_tol=1e-9):
            off.append((row["subset"], row["judge"], row["method"], kappa, row["published"]["kappa_agreement"]))
    assert off == [] and compared == 165
