"""Nothing is paid for twice, and nothing is paid for beyond the budget."""

import asyncio
import threading

import pytest
from biasscope.agents.engines.budget import Budget
from biasscope.agents.engines.stored import Stored
from biasscope.core.calls import Completion, Message, Model, Request
from biasscope.core.errors import BudgetReached, CallFailed
from biasscope.simulation.scripted import Reply, ScriptedServer


def request(text="q", **fields):
    return Request(model="fake", messages=(Message(role="user", content=text),), **fields)


class Fake:
    name = "fake"

    def __init__(self, **fields):
        self.fields, self.asked, self.closed = {"text": "yes", "prompt_tokens": 7, **fields}, [], False
        self.gate = asyncio.Event()
        self.gate.set()

    async def complete(self, request):
        self.asked.append(request)
        await self.gate.wait()
        return Completion(request_id=request.id, **self.fields)

    async def aclose(self):
        self.closed = True


async def test_the_second_time_costs_nothing(store):
    fake = Fake()
    model = Stored(fake, store, "run")
    assert isinstance(model, Model)
    first = await model.complete(request())
    assert await model.complete(request(role="verifier", stage="validate")) == first
    assert await Stored(fake, store, "another run").complete(request()) == first
    await model.complete(request(draw=1))
    assert len(fake.asked) == 2
    await model.aclose()
    await store.write()
    assert fake.closed


async def test_the_ledger(store):
    model = Stored(Fake(cost=0.5), store, "run")
    for _ in range(2):
        await model.complete(request())
        await model.complete(request("r"))
        await model.complete(request(role="verifier", stage="validate"))
    await Stored(Fake(cost=0.5), store, "other").complete(request())
    await store.write_completion("x", Completion(request_id="flush", text=""), True)  # writes are in order
    judge, verifier = store.usage("run")
    assert (judge.role, judge.calls, judge.cached_calls, judge.prompt_tokens, judge.cost) == ("judge", 2, 0, 14, 1.0)
    assert (verifier.stage, verifier.calls, verifier.cached_calls, verifier.cost) == ("validate", 0, 1, 0.0)
    [other] = store.usage("other")
    assert (other.calls, other.cached_calls, other.cost) == (0, 1, 0.0)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [({"finish_reason": "length"}, "truncated"), ({"text": ""}, "empty"), ({"finish_reason": "refusal"}, "refused")],
)
async def test_bad_answers_fail_again_without_paying_again_in_the_same_run(store, fields, kind):
    fake = Fake(**fields)
    for _ in range(2):
        with pytest.raises(CallFailed) as caught:
            await Stored(fake, store, "run").complete(request())
        assert (caught.value.kind, caught.value.request_id) == (kind, request().id)
    assert len(fake.asked) == 1
    assert store.usage("run")[0].calls == 1
    with pytest.raises(CallFailed):
        await Stored(fake, store, "another run").complete(request())
    assert len(fake.asked) == 2


async def test_equal_requests_in_flight_are_one_call(store):
    fake = Fake()
    fake.gate.clear()
    model = Stored(fake, store, "run")
    tasks = [asyncio.create_task(model.complete(request())) for _ in range(5)]
    await asyncio.sleep(0.01)
    fake.gate.set()
    assert len(set(map(str, await asyncio.gather(*tasks)))) == 1
    assert len(fake.asked) == 1


async def test_a_cancelled_caller_does_not_lose_what_is_paid_for(store):
    fake = Fake()
    fake.gate.clear()
    model = Stored(fake, store, "run")
    task = asyncio.create_task(model.complete(request()))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    fake.gate.set()
    await model.aclose()
    assert store.completion(request().id, "run")[0].text == "yes"


async def test_the_answer_is_on_disk_before_anyone_has_it(store, monkeypatch):
    held, seen = threading.Event(), []
    write = store._engine.begin

    def slow_begin():
        held.wait(5)
        return write()

    monkeypatch.setattr(store._engine, "begin", slow_begin)
    task = asyncio.create_task(Stored(Fake(), store, "run").complete(request()))
    await asyncio.sleep(0.05)
    seen.append((task.done(), store.completion(request().id, "run")))
    held.set()
    await task
    seen.append((task.done(), store.completion(request().id, "run")[1]))
    assert seen == [(False, None), (True, "run")]


async def test_budget_in_calls_is_kept_exactly_and_stored_answers_pass(opened, ask, store):
    with ScriptedServer(lambda body: Reply(delay=0.005)) as server:
        budget = Budget.of_run(store, "run", calls=10)
        models = [opened(server, budget=budget, max_concurrency=4), opened(server, budget=budget, max_concurrency=4)]
        asked = [ask(models[k % 2], f"question {k}") for k in range(40)]
        results = await asyncio.gather(*asked, return_exceptions=True)
        assert sum(isinstance(r, BudgetReached) for r in results) == 30
        assert len(server.chats) == 10
        done = next(k for k, r in enumerate(results) if isinstance(r, Completion))
        assert (await ask(models[0], f"question {done}")).text == "ok"
        resumed = opened(server, budget=Budget.of_run(store, "run", calls=10))
        with pytest.raises(BudgetReached, match="the budget of 10 calls is spent"):
            await ask(resumed, "a new question")
        raised = opened(server, budget=Budget.of_run(store, "run", calls=11))
        assert (await ask(raised, "a new question")).text == "ok"
        for model in (*models, resumed, raised):
            await model.aclose()


async def test_budget_in_tokens_and_money(opened, ask, store):
    with ScriptedServer(lambda body: Reply(prompt_tokens=90, completion_tokens=10)) as server:
        prices = {"price_input": 1000.0, "price_output": 1000.0, "max_concurrency": 1}
        for run_id, limit in (("tokens", {"tokens": 250}), ("money", {"cost": 0.25})):
            model = opened(server, run_id=run_id, budget=Budget.of_run(store, run_id, **limit), **prices)
            asked = [ask(model, f"{run_id} {k}") for k in range(10)]
            results = await asyncio.gather(*asked, return_exceptions=True)
            assert sum(isinstance(r, Completion) for r in results) == 3
            await model.aclose()


async def test_calls_that_bring_nothing_are_not_counted(opened, ask, store):
    with ScriptedServer([Reply(status=500), "ok"]) as server:
        model = opened(server, budget=Budget.of_run(store, "run", calls=1))
        with pytest.raises(CallFailed):
            await ask(model)
        assert (await ask(model)).text == "ok"
        await model.aclose()


async def test_no_more_calls_at_once_than_allowed(opened, ask):
    running, most = 0, 0

    def answer(body):
        return Reply(delay=0.02)

    with ScriptedServer(answer) as server:
        model = opened(server, max_concurrency=3)
        engine = model._model._model._model
        complete = engine.complete

        async def counted(request):
            nonlocal running, most
            running, most = running + 1, max(most, running + 1)
            try:
                return await complete(request)
            finally:
                running -= 1

        engine.complete = counted
        await asyncio.gather(*(ask(model, str(k)) for k in range(12)))
        assert most == 3
        await model.aclose()
