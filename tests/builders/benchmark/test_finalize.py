"""The final set: who decided what, and when it may call itself human-verified."""

import itertools

import pytest
from biasscope.builders.benchmark.finalize import finalise
from biasscope.core.errors import DataError
from biasscope.core.records import Item
from biasscope.data.annotations import make_annotation

CLOCK = itertools.count()


def item(k, answers="exact"):
    return Item(
        id=f"i{k}",
        run_id="r",
        pair_id=f"p{k}",
        source_pair_id=f"s{k}",
        bias_id="b",
        perturbation_id="x",
        misled=("j",),
        misled_before=(),
        answers=answers,
    )


def said(k, label, who, round="independent", by_program=False):
    time = f"2026-01-01T00:00:00.{next(CLOCK):06d}+00:00"
    return make_annotation("r", f"p{k}", who, label, round=round, by_program=by_program, time=time)


def both(k, label, by_program=False):
    return [said(k, label, "ada", by_program=by_program), said(k, label, "bob", by_program=by_program)]


def test_a_set_that_people_decided_on_is_human_verified():
    items = [item(k) for k in range(4)]
    rows = [*both(0, "different"), *both(1, "same"), *both(2, "different"), *both(3, "broken")]
    final = finalise("r", items, rows)
    assert [(i.pair_id, by) for i, by in final.kept] == [("p0", "people"), ("p2", "people")]
    assert [(d.subject, d.reason) for d in final.drops] == [
        ("p1", "annotators find the answers the same"),
        ("p3", "annotators find the item broken"),
    ]
    assert final.human_verified
    assert final.decided == {"agreement": 4}
    assert final.agreement.items == 4


def test_it_refuses_while_items_wait_and_says_for_what():
    items = [item(k) for k in range(4)]
    disagree = [said(1, "same", "ada"), said(1, "different", "bob")]
    split = [said(2, "same", "ada"), said(2, "different", "bob"), said(2, "same", "cyd", "review"),
             said(2, "different", "dan", "review")]  # fmt: skip
    with pytest.raises(DataError) as caught:
        finalise("r", items, [*both(0, "different"), *disagree, *split])
    assert "3 of 4 items wait for people (1 for review, 1 for adjudication, 1 for independent)" in str(caught.value)


def test_without_people_it_is_never_human_verified_and_drops_what_nobody_settled():
    items = [item(0), item(1, "panel"), item(2, "unsettled")]
    final = finalise("r", items, [], without_people=True)
    assert [(i.pair_id, by) for i, by in final.kept] == [("p0", "exact"), ("p1", "panel")]
    assert [d.reason for d in final.drops] == ["nobody settled whether the answers differ"]
    assert not final.human_verified


def test_one_item_without_people_makes_the_set_not_verified():
    final = finalise("r", [item(0), item(1)], both(0, "different"), without_people=True)
    assert [by for _, by in final.kept] == ["people", "exact"]
    assert not final.human_verified


def test_people_who_did_everything_are_believed_whatever_the_option():
    assert finalise("r", [item(0)], both(0, "different"), without_people=True).human_verified


def test_programs_can_drop_but_never_verify():
    rows = [*both(0, "different", by_program=True), *both(1, "same", by_program=True)]
    with pytest.raises(DataError, match="2 of 2 items wait for people"):
        finalise("r", [item(0), item(1)], rows)
    final = finalise("r", [item(0), item(1)], rows, without_people=True)
    assert [(i.pair_id, by) for i, by in final.kept] == [("p0", "exact")]
    assert [d.reason for d in final.drops] == ["annotators find the answers the same (programs)"]
    assert not final.human_verified and final.programs == 4
    people_disagree = [*rows, *both(1, "different")]
    assert len(finalise("r", [item(0), item(1)], people_disagree, without_people=True).kept) == 2


def test_one_person_twice_is_no_second_annotator():
    rows = [said(0, "different", "ada"), said(0, "different", "ada", "review")]
    with pytest.raises(DataError, match="1 for independent"):
        finalise("r", [item(0)], rows)
