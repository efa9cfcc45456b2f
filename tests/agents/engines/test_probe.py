"""The doctor says what works and, for what does not, the next step."""

import pytest
from biasscope.agents.engines.probe import probe, probe_embedder
from biasscope.simulation.scripted import Reply, ScriptedServer

YES = Reply(text='{"answer": "yes"}', logprobs=[{"yes": -0.1}])


async def test_a_healthy_endpoint():
    with ScriptedServer(lambda body: YES, models=["m"], context=4096) as server:
        report = await probe(f"openai:m@{server.url}")
        assert (report.reachable, report.structured, report.logprobs) == (True, "json_schema", True)
        assert (report.context, report.reason, report.name) == (4096, "", f"m@{server.url}")
        assert len(server.chats) == 3
        assert server.requests[0].headers["x-biasscope-stage"] == "probe"


async def test_a_plain_endpoint():
    with ScriptedServer(lambda body: "yes", refuses=["response_format", "logprobs"]) as server:
        report = await probe(f"openai:m@{server.url}")
        assert (report.reachable, report.structured, report.logprobs, report.context) == (True, "", False, None)
        assert "no JSON answer" in report.notes[0]


@pytest.mark.parametrize(
    ("script", "words"),
    [([Reply(drop=True)] * 2, "is the endpoint running"), ([Reply(status=401)], "put a valid key")],
)
async def test_a_broken_endpoint(script, words):
    with ScriptedServer(script) as server:
        report = await probe(f"openai:m@{server.url}")
        assert not report.reachable and words in report.reason


async def test_what_is_no_model():
    assert "write one of" in (await probe("gpt-4o")).reason
    assert "/nowhere.gguf" in (await probe("local:/nowhere.gguf")).reason
    assert (await probe({"model": "openai:m", "slots": "x"})).reference == "openai:m"


async def test_embedders():
    with ScriptedServer() as server:
        report = await probe_embedder(f"openai:e@{server.url}")
        assert (report.reachable, report.dimensions) == (True, 32)
    assert "no embedder" in (await probe_embedder("local:word2vec")).reason
    assert "is the endpoint running" in (await probe_embedder("openai:e@http://127.0.0.1:9/v1")).reason
