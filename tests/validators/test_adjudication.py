"""Two independent annotators, two more on disagreement, adjudication; kappa against a value worked by hand."""

import itertools

import pytest
from biasscope.core.errors import DataError
from biasscope.core.records import Annotation
from biasscope.validators.adjudication import (
    annotator_name,
    independent_agreement,
    open_items,
    standing,
    standings,
)
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa

CLOCK = itertools.count()


def said(annotator, label, round="independent", item="i", time=None):
    k = next(CLOCK)
    stamp = time or f"2026-01-01T00:{k // 60 % 60:02d}:{k % 60:02d}+00:00"
    return Annotation(id=f"a{k}", run_id="r", item_id=item, annotator=annotator, label=label, round=round, time=stamp)


def test_agreement_of_two_decides_and_later_rows_do_not():
    rows = [said("ada", "different"), said("bob", "different"), said("cyd", "same", "review")]
    found = standing(rows)
    assert (found.label, found.how, found.needs) == ("different", "agreement", None)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([], (None, "independent")),
        (["different"], (None, "independent")),
        (["different", "same"], (None, "review")),
        (["unsure", "unsure"], (None, "review")),
        (["different", "same", "different"], (None, "review")),
        (["different", "same", "different", "different"], ("different", None)),
        (["different", "same", "same", "different"], (None, "adjudication")),
        (["unsure", "same", "same", "same"], ("same", None)),
        (["unsure", "unsure", "unsure", "same"], (None, "adjudication")),
        (["different", "same", "broken", "different"], (None, "adjudication")),
    ],
)
def test_a_third_and_a_fourth_are_asked_on_disagreement(labels, expected):
    rows = [said(f"p{k}", label, "independent" if k < 2 else "review") for k, label in enumerate(labels)]
    found = standing(rows)
    assert (found.label, found.needs) == expected


def test_adjudication_stands_above_all_and_may_give_an_item_up():
    rows = [said("ada", "different"), said("bob", "same"), said("eve", "unsure", "adjudication")]
    assert standing(rows).label == "unsure"
    assert standing([*rows, said("ada", "same", "adjudication")]).label == "same"
    assert standing([*rows, said("ada", "same", "adjudication")]).how == "adjudication"


def test_the_newest_row_of_an_annotator_counts_and_nobody_reviews_himself():
    rows = [said("ada", "different"), said("bob", "same"), said("bob", "different")]
    assert standing(rows).label == "different"
    own = [said("ada", "different"), said("bob", "same"), said("ada", "same", "review"), said("bob", "same", "review")]
    assert standing(own).reviews == ()
    assert standing(own).needs == "review"


def test_a_third_independent_annotator_is_a_reviewer():
    rows = [said("ada", "different"), said("bob", "same"), said("cyd", "different"), said("dan", "different")]
    found = standing(rows)
    assert [a.annotator for a in found.independent] == ["ada", "bob"]
    assert (found.label, found.how) == ("different", "review")


def test_what_each_annotator_can_label():
    rows = [said("ada", "different", item="x"), said("ada", "same", item="y"), said("bob", "different", item="y")]
    found = standings(["x", "y", "z"], rows)
    assert open_items(found, " Ada ") == [("z", "independent")]
    assert open_items(found, "bob") == [("x", "independent"), ("z", "independent")]
    assert open_items(found, "cyd") == [("x", "independent"), ("y", "review"), ("z", "independent")]


def test_one_person_is_one_annotator_however_the_name_is_written():
    assert annotator_name("  Ada\t Lovelace ") == annotator_name("ada lovelace")
    with pytest.raises(DataError, match="is no name"):
        annotator_name("  ")


def test_kappa_as_worked_by_hand():
    """10 items: 6 both different, 2 both same, 2 split. Observed 8/10; categories 14/20 and 6/20,
    expected 0.49 + 0.09 = 0.58; kappa = (0.8 - 0.58) / (1 - 0.58) = 0.22 / 0.42."""
    labels = [("different", "different")] * 6 + [("same", "same")] * 2 + [("different", "same")] * 2
    rows = [said(who, label, item=str(k)) for k, two in enumerate(labels) for who, label in zip("ab", two, strict=True)]
    found = independent_agreement(standings([str(k) for k in range(10)], rows).values())
    assert found.kappa == pytest.approx(0.22 / 0.42)
    assert (found.items, found.agreed, found.raw) == (10, 8, 0.8)
    assert found.annotators == ("a", "b")
    table = [[2, 0]] * 6 + [[0, 2]] * 2 + [[1, 1]] * 2
    assert found.kappa == pytest.approx(fleiss_kappa(table))


@given(st.permutations(range(6)))
def test_the_order_of_rows_does_not_matter(order):
    rows = [
        said("ada", "different", time="1"),
        said("bob", "same", time="2"),
        said("bob", "unsure", time="3"),
        said("cyd", "different", "review", time="4"),
        said("dan", "same", "review", time="5"),
        said("dan", "different", "review", time="6"),
    ]
    found = standing([rows[k] for k in order])
    assert (found.label, found.how) == ("different", "review")
