"""The store keeps what it is given, once, and gives it back."""

import asyncio
import json

import numpy as np
import pytest
import sqlalchemy as sa
from biasscope.core.calls import Completion
from biasscope.core.errors import StoreError
from biasscope.core.ids import content_id
from biasscope.core.records import Judgment, PreferencePair
from biasscope.core.store import Store
from biasscope.core.tables import RECORDS, metadata
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path):
    store = Store(tmp_path / "store.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url"))
    yield store
    store.close()


def pair(k: int) -> PreferencePair:
    return PreferencePair(id=f"p{k}", prompt=f"question {k}", chosen="yes", rejected="no")


async def test_writing_twice_keeps_one_row(store):
    await store.write(*[pair(k) for k in range(10)])
    await store.write(*[pair(k) for k in range(12)])
    assert store.count(PreferencePair) == 12
    assert store.get(PreferencePair, "p3") == pair(3)
    assert store.get(PreferencePair, "nothing") is None
    assert [p.id for p in store.get_many(PreferencePair, ["p9", "gone", "p1"])] == ["p9", "p1"]


async def test_many_writers_at_once_lose_nothing(store):
    await asyncio.gather(*(store.write(pair(k)) for k in range(2000)))
    assert store.count(PreferencePair) == 2000


async def test_a_cancelled_writer_leaves_its_rows_and_a_store_that_goes_on(store):
    tasks = [asyncio.create_task(store.write(pair(k))) for k in range(500)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await store.write(pair(500))
    assert store.count(PreferencePair) == 501


async def test_select_by_columns(store):
    rows = [
        Judgment(id=f"j{k}", run_id="r", pair_id=f"p{k}", arm=arm, order="chosen_first", verdict="chosen", judge="m")
        for k, arm in enumerate(["original", "placebo", "original"])
    ]
    await store.write(*rows)
    assert [j.id for j in store.select(Judgment, run_id="r", arm="original")] == ["j0", "j2"]
    assert store.count(Judgment, run_id="r", arm=["original", "placebo"]) == 3
    assert store.select(Judgment, run_id="other") == []


async def test_another_run_meets_only_usable_completions(store):
    await store.write_completion("first", Completion(request_id="a", text="fine"), ok=True)
    await store.write_completion("first", Completion(request_id="b", text="cut", finish_reason="length"), ok=False)
    assert store.completion("a", "second") == (Completion(request_id="a", text="fine"), "first")
    assert store.completion("b", "second") is None
    assert store.completion("b", "first")[0].text == "cut"


async def test_ledger_counts_each_request_once(store):
    done = Completion(request_id="a", text="x", prompt_tokens=10, completion_tokens=2, cost=0.5)
    for _ in range(3):
        await asyncio.wrap_future(store.write_usage("r", "judge", "validate", done, cached=False))
    await asyncio.wrap_future(store.write_usage("s", "judge", "validate", done, cached=True))
    [line] = store.usage("r")
    assert (line.calls, line.cached_calls, line.prompt_tokens, line.completion_tokens, line.cost) == (1, 0, 10, 2, 0.5)
    [line] = store.usage("s")
    assert (line.calls, line.cached_calls, line.cost) == (0, 1, 0.0)


async def test_ledger_of_some_requests(store):
    for name, cost in (("a", 0.5), ("b", None), ("c", 2.0)):
        done = Completion(request_id=name, text="x", prompt_tokens=10, completion_tokens=2, cost=cost)
        await asyncio.wrap_future(store.write_usage("r", "judge", "validate", done, cached=False))
    some = store.usage_of("r", ["a", "b", "gone"])
    assert (some.calls, some.prompt_tokens, some.completion_tokens, some.cost) == (2, 20, 4, 0.5)
    assert store.usage_of("r", []).cost is None


def test_pairs_keep_their_order_and_sets(store):
    assert store.write_pairs("r", "target", (pair(k) for k in (3, 1, 2))) == 3
    store.write_pairs("r", "search", [pair(1)])
    assert [p.id for p in store.pairs("r", "target")] == ["p3", "p1", "p2"]
    assert store.pair_ids("r", "confirm") == []
    assert store.run_ids() == ["r"]


def test_vectors_and_notes(store):
    vector = np.arange(4, dtype=np.float32)
    store.write_vectors("m", [("t", vector)])
    assert np.array_equal(store.vectors("m", ["t", "u"])["t"], vector)
    store.write_note("r", "progress", {"done": 1})
    store.write_note("r", "progress", {"done": 2})
    assert store.note("r", "progress") == {"done": 2}
    assert store.note("r", "nothing") is None


def test_migrations_give_the_tables_that_the_code_expects(store):
    inspector = sa.inspect(store._engine)
    for table in metadata.tables.values():
        assert {c["name"] for c in inspector.get_columns(table.name)} == {c.name for c in table.c}
        assert {i["name"] for i in inspector.get_indexes(table.name)} == {i.name for i in table.indexes}


def test_a_file_that_is_no_database_is_one_clear_line(tmp_path):
    (tmp_path / "bad.db").write_text("not a database" * 100)
    with pytest.raises(StoreError, match=r"bad\.db.*not a database"):
        Store(tmp_path / "bad.db")


async def test_a_failing_write_reaches_its_caller(store):
    with store._engine.begin() as connection:
        connection.execute(sa.text("DROP TABLE pairs"))
    with pytest.raises(StoreError, match="pairs"):
        await store.write(pair(1))
    store.write_note("r", "still", "alive")
    assert store.note("r", "still") == "alive"


@settings(max_examples=25, deadline=None)
@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back_as_it_was(tmp_path_factory, text):
    store = Store(tmp_path_factory.mktemp("s") / "store.db")
    record = PreferencePair(id=content_id(text), prompt=text, chosen=text, rejected="")
    store.write_now(record)
    assert store.get(PreferencePair, record.id) == record
    store.close()


async def test_an_answer_and_its_ledger_line_are_written_together(store):
    done = Completion(request_id="q", text="yes", prompt_tokens=7, completion_tokens=3)
    await store.write_call("r", "judge", "judge", done, ok=True)
    assert store.completion("q", "r") == (done, "r")
    await asyncio.wrap_future(store.write_usage("r", "judge", "validate", done, cached=True))
    await asyncio.wrap_future(store.write_usage("r", "judge", "judge", done, cached=True))
    judged, validated = store.usage("r")
    assert (judged.calls, judged.cached_calls, judged.prompt_tokens, judged.completion_tokens) == (1, 0, 7, 3)
    assert (validated.calls, validated.cached_calls, validated.prompt_tokens) == (0, 1, 0)


def test_a_judgment_written_before_there_were_scores_still_loads(tmp_path):
    store = Store(tmp_path / "store.db")
    old = {
        "id": "j1",
        "run_id": "run",
        "pair_id": "p1",
        "arm": "original",
        "order": "chosen_first",
        "verdict": "chosen",
        "judge": "m#reasoning",
        "perturbation_id": "",
        "p_rejected": None,
        "tie_mass": None,
        "reasoning": "because",
        "request_id": "r1",
        "draw": 0,
    }
    with store._engine.begin() as connection:
        row = {"id": "j1", "run_id": "run", "arm": "original", "pair_id": "p1", "body": json.dumps(old)}
        connection.execute(RECORDS[Judgment].insert(), [row])
    [judgment] = store.select(Judgment, run_id="run")
    assert (judgment.verdict, judgment.score_chosen, judgment.score_rejected) == ("chosen", None, None)
    store.close()
