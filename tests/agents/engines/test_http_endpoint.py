"""Every fault of an endpoint of one's own ends as a failure with its kind, or as a broken machine with one line."""

import json

import pytest
from biasscope.agents.engines.opening import open_engine
from biasscope.agents.judges.compare import CompareJudge
from biasscope.core.errors import CallFailed, ConfigError, EndpointError
from biasscope.core.records import PreferencePair
from biasscope.simulation.scripted import Reply, ScriptedServer

PAIR = PreferencePair(id="0" * 24, prompt="Q", chosen="good", rejected="bad")
BODY = {"q": "{{ prompt }}", "answers": ["{{ answer_a }}", "{{ answer_b }}"]}
FINE = Reply(body=json.dumps({"result": {"winner": "A"}}).encode())
FAULTS = {
    "rate limit": (Reply(status=429), "server"),
    "server error": (Reply(status=500), "server"),
    "hang": (Reply(delay=60), "timeout"),
    "dropped": (Reply(drop=True), "connection"),
    "no JSON": (Reply(body=b"<html>welcome</html>"), "malformed"),
    "nested too deeply": (Reply(body=b"[" * 100_000 + b"]" * 100_000), "malformed"),
    "path finds nothing": (Reply(body=b'{"result": {}}'), "malformed"),
    "path finds a mapping": (Reply(body=b'{"result": {"winner": {"a": 1}}}'), "malformed"),
    "null": (Reply(body=b"null"), "malformed"),
    "bad request": (Reply(status=400), "bad_request"),
    "too large": (Reply(status=413), "too_long"),
}


def opened(server, **settings):
    call = {"body": BODY, "answer": "$.result.winner", **settings.pop("http", {})}
    url = server.url.removesuffix("/v1") + "/judge"
    model = open_engine({"model": url, "http": call, "max_retries": 0, "timeout_s": 0.3, **settings})
    return CompareJudge(model, "run")


async def judged(judge):
    given = {"arm": "original", "rejected_text": PAIR.rejected, "order": "rejected_first", "stage": "judge"}
    return await judge.judge(PAIR, **given)


@pytest.mark.parametrize("fault", FAULTS)
async def test_faults_of_one_call(fault):
    reply, kind = FAULTS[fault]
    with ScriptedServer([reply, FINE]) as server:
        judge = opened(server)
        with pytest.raises(CallFailed) as caught:
            await judged(judge)
        assert caught.value.kind == kind and "\n" not in caught.value.reason
        assert (await judged(judge)).verdict == "rejected"
        assert server.requests[-1].body == {"q": "Q", "answers": ["bad", "good"]}
        await judge.model.aclose()


@pytest.mark.parametrize("status", [401, 402, 403, 404, 405])
async def test_faults_that_stop_a_run(status):
    with ScriptedServer([Reply(status=status)]) as server:
        judge = opened(server)
        with pytest.raises(EndpointError) as caught:
            await judged(judge)
        assert "/judge" in str(caught.value) and "\n" not in str(caught.value)
        await judge.model.aclose()


async def test_what_passes_is_tried_again_and_a_word_that_is_no_verdict_is_invalid():
    odd = Reply(body=b'{"result": {"winner": "both are fine"}}')
    with ScriptedServer([Reply(status=429, headers={"retry-after": "0"}), odd]) as server:
        judge = opened(server, max_retries=1)
        assert (await judged(judge)).verdict == "invalid"
        assert len(server.requests) == 2
        await judge.model.aclose()


@pytest.mark.parametrize(
    ("http", "words"),
    [
        ({"answer": "$..[["}, "JSON path"),
        ({"body": {"q": "{{ prompt"}}, "no template"),
        ({"body": {"q": "{{ label }}"}}, "uses label"),
    ],
)
def test_a_wrong_path_or_template_is_one_line(http, words):
    with pytest.raises(ConfigError) as caught:
        open_engine({"model": "http://127.0.0.1:9/j", "http": {"body": BODY, "answer": "$.x", **http}})
    assert words in str(caught.value) and "\n" not in str(caught.value)
