"""Batch APIs over real HTTP: what is sent, what comes back, what a killed process finds again, what is paid once."""

import asyncio
import contextlib
import json
import threading
from collections import Counter

import pytest
from biasscope.agents.engines.opening import open_engine, open_model
from biasscope.agents.engines.reference import parse_reference
from biasscope.core.calls import Message, Request
from biasscope.core.errors import CallFailed, ConfigError, EndpointError
from biasscope.core.store import Store
from biasscope.simulation.batches import BatchDesk
from biasscope.simulation.scripted import Reply, ScriptedServer, failure

QUICK = {"quiet_s": 0.05, "poll_s": 0.01}


@pytest.fixture
def store(tmp_path):
    with contextlib.closing(Store(tmp_path / "store.db")) as opened:
        yield opened


def ask(number, **more):
    return Request(model="m", messages=(Message(role="user", content=f"question {number}"),), **more)


def echo(body):
    return f"answer to {body['messages'][-1]['content']}"


def reference(server, batch=None, **more):
    return {"model": f"openai:m@{server.url}", "batch": {**QUICK, **(batch or {})}, "max_retries": 2, **more}


async def answers(model, requests):
    return await asyncio.gather(*(model.complete(r) for r in requests), return_exceptions=True)


async def asked_once(server, store, requests, batch=None, **more):
    model = open_model(reference(server, batch, **more), run_id="run", store=store)
    try:
        return await answers(model, requests)
    finally:
        await model.aclose()


async def test_what_is_asked_together_is_one_batch(store):
    desk = BatchDesk()
    with ScriptedServer(echo, batches=desk) as server:
        found = await asked_once(server, store, [ask(n) for n in range(30)])
        assert [c.text for c in found] == [f"answer to question {n}" for n in range(30)]
        assert {c.prompt_tokens for c in found} == {10}
        assert len(desk.batches) == 1 and len(desk.lines) == 30
        assert not server.chats, "nothing is asked by itself"
        again = await asked_once(server, store, [ask(n) for n in range(30)])
        assert again == found and len(desk.batches) == 1
    [batch] = desk.batches.values()
    line = json.loads(desk.files[batch["input_file_id"]].splitlines()[0])
    assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
    assert line["body"]["messages"] == [{"role": "user", "content": "question 0"}]
    assert batch["completion_window"] == "24h"
    assert store.usage("run")[0].calls == 30


async def test_an_answer_is_that_of_the_model_asked_directly(store):
    with ScriptedServer(echo, batches=BatchDesk()) as server:
        [batched] = await asked_once(server, store, [ask(1)])
        direct = open_engine({"model": f"openai:m@{server.url}"})
        plain = await direct.complete(ask(1))
        name = open_model(reference(server), run_id="run", store=store).name
        assert direct.name == name
        await direct.aclose()
    assert batched.model_copy(update={"seconds": 0}) == plain.model_copy(update={"seconds": 0})


async def test_many_requests_are_several_batches(store):
    desk = BatchDesk()
    with ScriptedServer(echo, batches=desk) as server:
        await asked_once(server, store, [ask(n) for n in range(25)], {"requests": 10})
    sizes = [len(desk.files[b["input_file_id"]].splitlines()) for b in desk.batches.values()]
    assert sum(sizes) == 25 and max(sizes) <= 10


async def test_repetitions_of_a_question_are_lines_of_their_own(store):
    desk = BatchDesk()
    with ScriptedServer(echo, batches=desk) as server:
        await asked_once(server, store, [ask(1, draw=k) for k in range(3)])
    assert len(set(desk.lines)) == 3


async def test_failed_lines_are_asked_again_and_fail_as_they_do_online(store):
    """A server error goes into another batch, a bad request and a refusal are failures, the rest is kept."""
    times = Counter()

    def answer(body):
        text = body["messages"][-1]["content"]
        times[text] += 1
        if text == "question 1":
            return failure(500, "overloaded") if times[text] == 1 else "late"
        if text == "question 2":
            return failure(400, "no such thing")
        if text == "question 3":
            return Reply(refusal="I will not")
        return Reply(body=b"<html>") if text == "question 4" else "fine"

    desk = BatchDesk()
    with ScriptedServer(answer, batches=desk) as server:
        found = await asked_once(server, store, [ask(n) for n in range(5)])
    assert [getattr(f, "text", getattr(f, "kind", f)) for f in found] == [
        "fine",
        "late",
        "bad_request",
        "refused",
        "server",
    ]
    assert times["question 1"] == 2 and times["question 0"] == 1


async def test_expired_lines_go_into_another_batch_and_are_given_up_in_the_end(store):
    late = Counter()

    def expires(body):
        text = body["messages"][-1]["content"]
        late[text] += 1
        return text == "question 0" or (text == "question 1" and late[text] == 1)

    desk = BatchDesk(expires=expires)
    with ScriptedServer(echo, batches=desk) as server:
        never, second, first = await asked_once(server, store, [ask(0), ask(1), ask(2)])
    assert isinstance(never, CallFailed) and never.kind == "server"
    assert "ended without an answer" in never.reason
    assert (second.text, first.text) == ("answer to question 1", "answer to question 2")
    assert [b["status"] for b in desk.batches.values()] == ["expired"] * 3, (
        "the first and the two that max_retries gives"
    )
    assert len(desk.lines) == len(set(desk.lines)) == 2


async def test_too_many_tokens_at_once_is_halved(store):
    desk = BatchDesk(most_lines=8)
    with ScriptedServer(echo, batches=desk) as server:
        found = await asked_once(server, store, [ask(n) for n in range(20)])
    assert [c.text for c in found] == [f"answer to question {n}" for n in range(20)]
    assert len(desk.lines) == 20


async def test_a_batch_refused_for_some_lines_goes_again_without_them(store):
    wrong = lambda body: body["messages"][-1]["content"] == "question 3"  # noqa: E731
    desk = BatchDesk(wrong=wrong)
    with ScriptedServer(echo, batches=desk) as server:
        found = await asked_once(server, store, [ask(n) for n in range(6)])
    assert [n for n, f in enumerate(found) if isinstance(f, CallFailed)] == [3]
    assert found[3].kind == "bad_request" and "not valid" in found[3].reason
    assert len(desk.lines) == 5


async def test_an_endpoint_without_batches_and_a_wrong_key_stop_the_run_in_one_line(store, monkeypatch):
    with ScriptedServer(echo) as server:
        found = await asked_once(server, store, [ask(1), ask(2)])
    assert {type(f) for f in found} == {EndpointError}
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-mine")
    with ScriptedServer(echo, api_key="other", batches=BatchDesk()) as server:
        [denied] = await asked_once(server, store, [ask(1)])
    assert isinstance(denied, EndpointError) and "access was denied" in str(denied)
    assert "sk-secret-of-mine" not in str(denied) and "\n" not in str(denied)


async def test_a_cancelled_batch_stops_the_run_and_its_answers_are_kept(store):
    desk = BatchDesk(cancels=lambda number: number == 0)
    requests = [ask(n) for n in range(8)]
    with ScriptedServer(echo, batches=desk) as server:
        found = await asked_once(server, store, requests)
        assert [type(f).__name__ for f in found] == ["Completion"] * 4 + ["EndpointError"] * 4
        assert "cancelled" in str(found[-1]) and "resume" in str(found[-1])
        again = await asked_once(server, store, requests)
    assert [c.text for c in again] == [f"answer to question {n}" for n in range(8)]
    assert len(desk.lines) == len(set(desk.lines)) == 8


async def test_patience_ends_a_day_and_the_next_one_collects(store):
    hold = threading.Event()
    desk = BatchDesk(hold=hold)
    requests = [ask(n) for n in range(5)]
    with ScriptedServer(echo, batches=desk) as server:
        stopped = await asked_once(server, store, requests, {"patience_h": 0.05 / 3600})
        assert {type(f) for f in stopped} == {EndpointError} and "is not done after" in str(stopped[0])
        hold.set()
        found = await asked_once(server, store, requests)
    assert [c.text for c in found] == [f"answer to question {n}" for n in range(5)]
    assert len(desk.batches) == 1


async def test_answers_that_are_asked_for_later_come_from_the_same_batch(store):
    """A resumed run asks for some of its lines in its first wave only."""
    hold = threading.Event()
    desk = BatchDesk(hold=hold)
    with ScriptedServer(echo, batches=desk) as server:
        await asked_once(server, store, [ask(n) for n in range(6)], {"patience_h": 0.05 / 3600})
        hold.set()
        model = open_model(reference(server), run_id="run", store=store)
        first = await answers(model, [ask(0), ask(1)])
        rest = await answers(model, [ask(n) for n in range(2, 8)])
        await model.aclose()
    assert [c.text for c in (*first, *rest)] == [f"answer to question {n}" for n in range(8)]
    assert len(desk.batches) == 2 and len(desk.lines) == 8


@pytest.mark.parametrize("retries", [0, 2])
async def test_a_batch_whose_id_got_lost_is_found_by_its_name(store, retries):
    desk = BatchDesk(loses_reply=lambda number: number == 0)
    with ScriptedServer(echo, batches=desk) as server:
        found = await asked_once(server, store, [ask(1), ask(2)], max_retries=retries)
    assert [c.text for c in found] == ["answer to question 1", "answer to question 2"]
    assert len(desk.batches) == 1


async def test_a_note_without_its_batch_is_sent_anew(store):
    """The process died after its note and before the provider heard of it."""
    desk = BatchDesk()
    with ScriptedServer(echo, batches=desk) as server:
        await asked_once(server, store, [ask(1), ask(2)])
        [note] = store.notes("run", "batch:").values()
        with contextlib.closing(Store(store.url.replace("store.db", "other.db"))) as other:
            other.write_note("run", "batch:never-sent", {**note, "id": None})
            found = await asked_once(server, other, [ask(1), ask(2)])
            kept = other.notes("run", "batch:")
    assert [c.text for c in found] == ["answer to question 1", "answer to question 2"]
    assert len(desk.batches) == 2
    assert kept.pop("batch:never-sent")["lines"] == [] and len(kept) == 1


async def test_a_look_that_fails_now_and_then_is_no_end(store):
    looks = Counter()

    class Shaky(BatchDesk):
        def respond(self, received, answer):
            if received.method == "GET" and "/batches/" in received.path:
                looks["n"] += 1
                if looks["n"] <= 3:
                    return 503, b"{}"
            return super().respond(received, answer)

    with ScriptedServer(echo, batches=Shaky()) as server:
        [found] = await asked_once(server, store, [ask(1)], max_retries=0)
    assert found.text == "answer to question 1" and looks["n"] > 3


def test_what_can_be_asked_in_batches():
    spec = parse_reference({"model": "openai:m@http://a/v1", "batch": True})
    assert spec.batch is not None and spec.at_once == 10_000
    assert parse_reference({"model": "openai:m@http://a/v1", "batch": False}).batch is None
    for wrong in ({"model": "openai:m@http://a/v1,http://b/v1"}, {"model": "local:x.gguf"}):
        with pytest.raises(ConfigError, match="one address"):
            parse_reference({**wrong, "batch": True})
