"""The scripted server says what it is told and remembers what it was asked."""

import json
import time

import httpx
import pytest
from biasscope.simulation.scripted import Reply, ScriptedServer, failure, vector_of


def chat(server, **body):
    return httpx.post(f"{server.url}/chat/completions", json={"model": "m", "messages": [], **body})


def test_replies_come_in_order_and_requests_are_kept():
    with ScriptedServer(["first", Reply(status=429, headers={"retry-after": "3"}), Reply(text=None)]) as server:
        assert chat(server, n=1).json()["choices"][0]["message"]["content"] == "first"
        limited = chat(server, n=2)
        assert (limited.status_code, limited.headers["retry-after"]) == (429, "3")
        assert chat(server, n=3).json()["choices"][0]["message"]["content"] is None
        used_up = chat(server, n=4)
        assert used_up.status_code == 500 and "used up" in used_up.json()["error"]["message"]
        assert [body["n"] for body in server.chats] == [1, 2, 3, 4]


def test_function_sees_body_and_headers():
    with ScriptedServer(lambda body, headers: f"{body['model']} {headers['x-role']}") as server:
        answer = httpx.post(f"{server.url}/chat/completions", json={"model": "m"}, headers={"X-Role": "judge"})
        assert answer.json()["choices"][0]["message"]["content"] == "m judge"
    with ScriptedServer(lambda body: Reply(text="x" * 100_000, finish_reason="length")) as server:
        choice = chat(server).json()["choices"][0]
        assert (len(choice["message"]["content"]), choice["finish_reason"]) == (100_000, "length")


def test_faults_of_the_wire():
    with ScriptedServer([Reply(drop=True), Reply(body=b"<html>"), Reply(delay=0.2)]) as server:
        with pytest.raises(httpx.RemoteProtocolError):
            chat(server)
        assert chat(server).text == "<html>"
        started = time.perf_counter()
        assert chat(server).status_code == 200
        assert time.perf_counter() - started >= 0.2


def test_a_hanging_request_does_not_keep_the_server_from_stopping():
    with ScriptedServer([Reply(delay=3600)]) as server, pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server.url}/chat/completions", json={}, timeout=0.1)


def test_models_keys_and_fields_that_are_not_taken():
    with ScriptedServer(lambda body: "ok", models=["m"], api_key="k", refuses=["json_schema"], context=2048) as server:
        key = {"authorization": "Bearer k"}
        post = lambda **body: httpx.post(f"{server.url}/chat/completions", json=body, headers=key)  # noqa: E731
        assert chat(server).status_code == 401
        assert post(model="other").json()["error"]["code"] == "model_not_found"
        assert post(model="m", response_format={"type": "json_schema"}).json()["error"]["param"] == "response_format"
        assert post(model="m", response_format={"type": "json_object"}).status_code == 200
        [listed] = httpx.get(f"{server.url}/models", headers=key).json()["data"]
        assert (listed["id"], listed["max_model_len"]) == ("m", 2048)


def test_embeddings_depend_on_the_text_alone():
    with ScriptedServer() as server:
        data = httpx.post(f"{server.url}/embeddings", json={"input": ["a", "b", "a"]}).json()["data"]
        assert [d["index"] for d in data] == [0, 1, 2]
        assert data[0]["embedding"] == data[2]["embedding"] == vector_of("a") != data[1]["embedding"]


def test_logprobs_only_when_asked_for():
    with ScriptedServer(lambda body: Reply(logprobs=[{"A": -0.1, "B": -2.0}])) as server:
        assert "logprobs" not in chat(server).json()["choices"][0]
        [token] = chat(server, logprobs=True).json()["choices"][0]["logprobs"]["content"]
        assert (token["token"], [t["token"] for t in token["top_logprobs"]]) == ("A", ["A", "B"])


def test_failure_has_the_form_of_openai():
    reply = failure(400, "no", code="c", param="p")
    assert json.loads(json.dumps(reply.error)) == {
        "message": "no",
        "type": "invalid_request_error",
        "code": "c",
        "param": "p",
    }
