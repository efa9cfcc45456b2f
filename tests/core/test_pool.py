"""Failed items become rows, broken machines stop the run, nothing in flight is lost."""

import asyncio

import pytest
from biasscope.core.errors import BudgetReached, CallFailed
from biasscope.core.pool import run_all, stream_all
from biasscope.core.progress import Progress
from biasscope.core.records import Failure
from biasscope.core.store import Store


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "s.db")
    yield store
    store.close()


async def run(store, items, work, width=4, stage="judge@0"):
    return await run_all(
        items,
        work,
        store=store,
        run_id="r",
        stage=stage,
        subject=str,
        progress=Progress(store, "r"),
        width=width,
    )


async def test_results_keep_the_order_and_failures_are_rows(store):
    async def work(k):
        await asyncio.sleep(0.001 * (5 - k))
        if k == 2:
            raise CallFailed("refused", "declined", "no", "req")
        return k * 10

    assert await run(store, range(5), work) == [0, 10, None, 30, 40]
    [row] = store.select(Failure, run_id="r")
    assert (row.stage, row.kind, row.subject, row.reason, row.raw) == ("judge@0", "refused", "2", "declined", "no")
    assert store.note("r", "progress")["failures"] == 1


async def test_a_stage_that_starts_again_forgets_failures_that_went_away(store):
    async def failing(k):
        raise CallFailed("timeout", "no answer")

    async def fine(k):
        return k

    await run(store, [1], failing)
    await run(store, [1], failing, stage="judge@1")
    await run(store, [1], fine)
    assert [f.stage for f in store.select(Failure, run_id="r")] == ["judge@1"]


async def test_a_stop_lets_items_in_flight_finish(store):
    finished = []

    async def work(k):
        if k == 0:
            await asyncio.sleep(0.001)
            raise BudgetReached("10 calls are spent")
        await asyncio.sleep(0.01)
        finished.append(k)

    with pytest.raises(BudgetReached):
        await run(store, range(100), work, width=4)
    assert finished == [1, 2, 3]


async def test_never_more_in_flight_than_the_width(store):
    flying, most = 0, 0

    async def work(k):
        nonlocal flying, most
        flying += 1
        most = max(most, flying)
        await asyncio.sleep(0.001)
        flying -= 1

    await run(store, range(50), work, width=7)
    assert most == 7


async def test_nothing_to_do(store):
    async def work(k):
        raise AssertionError("never called")

    assert await run(store, [], work) == []


async def streamed(store, items, work, width=4):
    found = []
    async for pair in stream_all(
        items,
        work,
        store=store,
        run_id="r",
        stage="make",
        subject=str,
        progress=Progress(store, "r"),
        width=width,
        total=5,
    ):
        found.append(pair)
    return found


async def test_a_stream_gives_items_in_order_with_failures_as_rows(store):
    async def work(k):
        await asyncio.sleep(0.001 * (5 - k))
        if k == 2:
            raise CallFailed("refused", "declined", "no", "req")
        return k * 10

    assert await streamed(store, range(5), work) == [(0, 0), (1, 10), (2, None), (3, 30), (4, 40)]
    [row] = store.select(Failure, run_id="r")
    assert (row.stage, row.subject) == ("make", "2")
    assert store.note("r", "progress")["done"] == 5


async def test_a_stream_holds_no_more_than_its_width(store):
    held, most, pulled = 0, 0, []

    def items():
        for k in range(50):
            pulled.append(k)
            yield k

    async def work(k):
        nonlocal held, most
        held += 1
        most = max(most, held)
        await asyncio.sleep(0.001 if k else 0.05)  # the first one is slow and holds up the rest
        held -= 1
        return k

    seen = []
    async for item, _ in stream_all(
        items(), work, store=store, run_id="r", stage="s", subject=str, progress=Progress(store, "r"), width=4, total=50
    ):
        seen.append(item)
        assert len(pulled) - len(seen) <= 4
    assert seen == list(range(50))
    assert most == 4


async def test_a_broken_stream_lets_items_in_flight_finish(store):
    finished = []

    async def work(k):
        if k == 1:
            raise BudgetReached("the budget of 1 call is spent")
        await asyncio.sleep(0.02)
        finished.append(k)
        return k

    with pytest.raises(BudgetReached):
        await streamed(store, range(100), work)
    assert finished == [0, 2, 3, 4]  # one more was begun when the first came to its end
