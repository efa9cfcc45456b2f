"""Annotation in the store: who is asked what, decisions in, nothing lost."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from biasscope.builders.annotating import annotations, import_decisions, item_ids, progress, queue, tasks
from biasscope.core.errors import DataError
from biasscope.core.records import Drop, Item, PreferencePair
from biasscope.core.store import Store
from biasscope.data.annotations import Decision


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path):
    opened = Store(tmp_path / "store.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url"))
    for k in range(3):
        opened.write_now(PreferencePair(id=f"p{k}", prompt=f"Q{k}", chosen="right", rejected="wrong"))
    opened.replace_outcome("r", [], [item(k) for k in range(3)])
    yield opened
    opened.close()


def item(k):
    return Item(
        id=f"i{k}",
        run_id="r",
        pair_id=f"p{k}",
        source_pair_id="s",
        bias_id="b",
        perturbation_id="x",
        misled=("j",),
        misled_before=(),
        answers="exact",
    )


def said(item_id, label, who, round=None):
    return Decision("file, line 1", item_id, label, who, round)


def test_two_label_alone_then_two_more_then_all_together(store):
    assert [i for i, _ in queue(store, "r", "ada")] == ["p0", "p1", "p2"]
    import_decisions(store, "r", [said("p0", "same", "ada"), said("p1", "different", "Ada ")])
    import_decisions(store, "r", [said("p0", "different", "bob"), said("p1", "different", "bob")])
    assert queue(store, "r", "ada") == [("p2", "independent")]
    assert queue(store, "r", "cyd") == [("p0", "review"), ("p2", "independent")]
    [task] = tasks(store, "r", [("p0", "review")])
    assert task.earlier == () and {task.answer_a, task.answer_b} == {"right", "wrong"}
    import_decisions(store, "r", [said("p0", "same", "cyd", "review"), said("p0", "different", "dan", "review")])
    assert queue(store, "r", "eve")[0] == ("p0", "adjudication")
    [task] = tasks(store, "r", [("p0", "adjudication")])
    assert task.earlier == ("ada: same", "bob: different", "cyd: same", "dan: different")
    import_decisions(store, "r", [said("p0", "broken", "ada", "adjudication")])
    assert [s.label for s in progress(store, "r").values()] == ["broken", "different", None]


def test_what_programs_say_is_kept_apart(store):
    import_decisions(store, "r", [said("p0", "same", "model a"), said("p0", "same", "model b")], by_program=True)
    assert progress(store, "r", people_only=False)["p0"].label == "same"
    assert queue(store, "r", "ada")[0] == ("p0", "independent")
    assert annotations(store, "r", people_only=True) == []


def test_all_or_none_and_twice_is_once(store):
    good = [said("p0", "same", ""), said("p1", "same", "u7")]
    with pytest.raises(DataError, match="does not say who decided"):
        import_decisions(store, "r", good)
    with pytest.raises(DataError, match="no item 'nope'"):
        import_decisions(store, "r", [*good, said("nope", "same", "x")], annotator="ada")
    assert annotations(store, "r") == []
    first = import_decisions(store, "r", good, annotator="ada", names={"u7": "Bob"})
    assert (first.added, first.repeated, first.annotators) == (2, 0, ("ada", "bob"))
    assert import_decisions(store, "r", good, annotator="ada", names={"u7": "Bob"})[:2] == (0, 2)


def test_a_new_outcome_leaves_annotations_alone(store):
    import_decisions(store, "r", [said("p0", "same", "ada")])
    drop = Drop(id="d", run_id="r", stage="filter", subject="p1", reason="not misled")
    store.replace_outcome("r", [drop], [item(0)])
    assert item_ids(store, "r") == ["p0"]
    assert store.select(Drop, run_id="r") == [drop]
    assert len(annotations(store, "r")) == 1
    with pytest.raises(DataError, match="has no items"):
        item_ids(store, "other")


def test_one_file_does_not_say_two_things_at_once(store):
    with pytest.raises(DataError, match="'Ada' says 'same' of the item that was 'different' at file, line 1; keep one"):
        import_decisions(store, "r", [said("p0", "different", "ada"), said("p0", "same", "Ada")])
    assert annotations(store, "r") == []
    first, later = (said("p0", "different", "ada"), said("p0", "same", "ada")._replace(time="2026-01-02T00:00:00Z"))
    import_decisions(store, "r", [first._replace(time="2026-01-01T00:00:00Z"), later])
    import_decisions(store, "r", [said("p0", "same", "bob"), said("p0", "same", "bob")])
    assert progress(store, "r")["p0"].label == "same"


def test_people_who_label_at_the_same_time_lose_nothing(store):
    """Each with a connection of their own, while the benchmark's outcome is written anew beside them."""
    people = ["ada", "bob", "cyd", "dan"]

    def label(who):
        with contextlib.closing(Store(store.url)) as mine:
            for k in range(3):
                import_decisions(mine, "r", [said(f"p{k}", "same" if who < "c" else "different", who)])

    def rebuild():
        with contextlib.closing(Store(store.url)) as mine:
            for k in range(20):
                mine.write_now(PreferencePair(id=f"other{k}", prompt="Q", chosen="right", rejected="wrong"))

    with ThreadPoolExecutor(5) as pool:
        for done in [pool.submit(rebuild), *(pool.submit(label, who) for who in people)]:
            done.result()
    found = annotations(store, "r")
    assert sorted((a.item_id, a.annotator) for a in found) == [(f"p{k}", who) for k in range(3) for who in people]
    assert store.count(PreferencePair) == 23
