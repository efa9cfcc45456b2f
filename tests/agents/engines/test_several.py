"""Several addresses of one model: spread, health, and a server process that is killed in the middle of a run."""

import asyncio
import contextlib
import subprocess
import sys
import threading
import time

import pytest
from biasscope.agents.engines.opening import open_engine
from biasscope.agents.engines.reference import parse_reference
from biasscope.core.calls import Message, Request
from biasscope.core.errors import CallFailed, ConfigError, EndpointError
from biasscope.simulation.scripted import Reply, ScriptedServer
from world_runs import FaultyWorld, over, results, settings, start, write_sources

VICTIM = """
import json, sys
from biasscope.simulation.scripted import Reply, ScriptedServer, failure
from biasscope.simulation.world import load_world

world, log = load_world("easy"), open(sys.argv[1], "a")

def answer(body):
    log.write(json.dumps(body, sort_keys=True) + "\\n")
    log.flush()
    try:
        return Reply(body=json.dumps(world.answer(body)).encode(), delay=0.005)
    except ValueError as error:
        return failure(400, str(error))

with ScriptedServer(answer, keep=1) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


def ask(number, model="m"):
    return Request(model=model, messages=(Message(role="user", content=f"question {number}"),))


def reference(*urls, **more):
    return {"model": "openai:m@" + ",".join(urls), "max_concurrency": 4, "max_retries": 1, **more}


async def test_requests_are_spread_and_equal_beginnings_stay_together():
    with ScriptedServer(lambda b: "one") as one, ScriptedServer(lambda b: "two") as two:
        model = open_engine(reference(one.url, two.url))
        answers = [(await model.complete(ask(n))).text for n in range(40)]
        again = [(await model.complete(ask(n))).text for n in range(40)]
        await model.aclose()
    assert model.name == f"m@{one.url}"
    assert answers == again
    assert 8 < answers.count("one") < 32


async def test_a_full_address_gives_way():
    with ScriptedServer(lambda b: Reply(delay=0.2)) as one, ScriptedServer(lambda b: Reply(delay=0.2)) as two:
        model = open_engine(reference(one.url, two.url))
        await asyncio.gather(*(model.complete(ask(1)) for _ in range(8)))
        await model.aclose()
        assert (len(one.chats), len(two.chats)) == (4, 4)


async def test_a_dead_address_is_left_out_and_comes_back():
    with ScriptedServer(lambda b: "one") as one:
        with ScriptedServer(lambda b: "two") as two:
            port = int(two.url.split(":")[2].split("/")[0])
        model = open_engine(reference(one.url, two.url))
        assert {(await model.complete(ask(n))).text for n in range(20)} == {"one"}
        with ScriptedServer(lambda b: "two", port=port) as two:
            for _ in range(400):
                if "two" in {(await model.complete(ask(n))).text for n in range(20)}:
                    break
                await asyncio.sleep(0.05)
            else:
                pytest.fail("the address that is back is not asked again")
        await model.aclose()


async def test_all_addresses_dead_is_a_failed_call():
    with ScriptedServer() as one, ScriptedServer() as two:
        urls = one.url, two.url
    model = open_engine(reference(*urls, max_retries=0))
    with pytest.raises(CallFailed) as failed:
        await model.complete(ask(1))
    await model.aclose()
    assert failed.value.kind == "connection"


async def test_an_address_without_the_model_is_left_out_until_none_is_left():
    with ScriptedServer(lambda b: "one") as one, ScriptedServer(models=["other"]) as two:
        model = open_engine(reference(one.url, two.url))
        assert {(await model.complete(ask(n))).text for n in range(10)} == {"one"}
        await model.aclose()
        model = open_engine(reference(two.url, two.url + "/"))
        with pytest.raises(EndpointError, match="not found"):
            await model.complete(ask(1))
        await model.aclose()


def test_addresses_are_written_in_three_ways():
    urls = ("http://a/v1", "http://b/v1")
    one = parse_reference("openai:m@http://a/v1,http://b/v1")
    assert one.addresses == urls and one.at_once == 16 and one.base_url == urls[0]
    assert parse_reference({"model": "openai:m", "base_url": list(urls)}).addresses == urls
    assert parse_reference({"model": "openai:m@http://a/v1", "endpoints": [urls[1]]}).addresses == urls
    with pytest.raises(ConfigError, match="no http address"):
        parse_reference({"model": "openai:m@http://a/v1", "endpoints": ["b"]})
    with pytest.raises(ConfigError, match="runs in this process"):
        parse_reference({"model": "local:x.gguf", "endpoints": ["http://b/v1"]})


def test_a_server_killed_in_the_middle_of_a_run_changes_nothing(easy, tmp_path):
    write_sources(tmp_path / "data", easy, 24, 24)
    log = tmp_path / "victim.jsonl"
    command = [sys.executable, "-c", VICTIM, str(log)]
    with (
        FaultyWorld(easy) as server,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as victim,
    ):
        whole = start(settings(tmp_path / "data", tmp_path / "whole", server.url))
        calls = sum(server.asked.values())
        server.asked.clear()
        dead = victim.stdout.readline().strip()

        def kill():
            while not log.exists() or len(log.read_text().splitlines()) < calls // 6:
                time.sleep(0.002)
            victim.kill()

        watcher = threading.Thread(target=kill)
        watcher.start()
        more = {role: {"endpoints": [dead]} for role in ("judge", "teacher")}
        both = start(over(settings(tmp_path / "data", tmp_path / "both", server.url), more))
        watcher.join()
        victim.wait()
        with contextlib.suppress(BrokenPipeError):
            victim.stdin.close()
    answered = set(log.read_text().splitlines()[:-1])
    assert len(answered) >= calls // 6 - 1
    twice = answered & set(server.asked)
    assert len(twice) <= 2 * 8, "what was in flight at the two roles, at most"
    assert max(server.asked.values()) == 1
    expected, found = results(whole.folder), results(both.folder)
    expected.pop("report"), found.pop("report")
    assert found == expected
