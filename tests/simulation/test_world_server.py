import http.client
import json
import socket
from urllib.parse import urlsplit

import numpy as np
import openai
import pytest
from biasscope.core.errors import EndpointError
from biasscope.simulation.pairs import world_pairs
from biasscope.simulation.server import WorldServer, serve
from world_asking import ask, judge, text_of


@pytest.fixture(scope="module")
def server(easy):
    with WorldServer(easy) as running:
        yield running


@pytest.fixture
def connection(server):
    at = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    yield at
    at.close()


def post(connection, path, body):
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    return response.status, json.loads(response.read())


@pytest.mark.parametrize("process", [False, True])
def test_the_openai_client_gets_what_the_world_answers(easy, process):
    pair = world_pairs(easy, 1)[0]
    body = judge(pair.prompt, pair.chosen, pair.rejected, temperature=0, seed=0)
    with WorldServer(easy, process=process) as running, openai.OpenAI(base_url=running.url, api_key="none") as client:
        assert [model.id for model in client.models.list()] == easy.spec.models
        reply = client.chat.completions.create(**body)
        assert reply.choices[0].message.content == text_of(easy.answer(body))
        assert reply.usage is not None and reply.usage.prompt_tokens > 100
        parts = list(client.chat.completions.create(**body, stream=True))
        assert "".join(p.choices[0].delta.content or "" for p in parts if p.choices) == text_of(easy.answer(body))
        assert all(p.choices and p.usage is None for p in parts)
        parts = list(client.chat.completions.create(**body, stream=True, stream_options={"include_usage": True}))
        assert parts[-1].usage == reply.usage and [p.usage for p in parts[:-1]] == [None] * (len(parts) - 1)
        assert client.models.retrieve(easy.spec.models[0]).id == easy.spec.models[0]
        with pytest.raises(openai.NotFoundError, match="'gpt-9' does not exist"):
            client.models.retrieve("gpt-9")
        vectors = client.embeddings.create(
            model="m", input=["nautical imagery", "seafaring language", "length bias"], encoding_format="float"
        )
        near, far = (np.dot(vectors.data[0].embedding, vectors.data[i].embedding) for i in (1, 2))
        assert near > 0.7 > 0.4 > far


def test_bad_requests_are_answered_in_kind(connection, easy):
    assert post(connection, "/v1/chat/completions", {"model": "m"})[0] == 400
    assert post(connection, "/v1/chat/completions", [1])[0] == 400
    assert post(connection, "/v1/embeddings", {"input": 3})[0] == 400
    wrong = {
        "temperature": [[1], "hot", -1, 3, True],
        "top_logprobs": ["many", 21, -1],
        "max_tokens": [0, 1.5, "8"],
        "max_completion_tokens": [0],
        "n": [0, 2],
    }
    for name, values in wrong.items():
        for value in values:
            body = judge("q", "one", "other", logprobs=True) | {name: value}
            status, said = post(connection, "/v1/chat/completions", body)
            assert status == 400 and repr(name) in said["error"]["message"], (name, value)
    assert post(connection, "/v1/chat/completions", judge("q", "one", "other", top_logprobs=2))[0] == 400
    for content in (None, 7, {}):
        assert post(connection, "/v1/chat/completions", {"messages": [{"role": "user", "content": content}]})[0] == 400
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": None}, {"role": "user", "content": "b"}]
    assert post(connection, "/v1/chat/completions", {"messages": turns})[0] == 200
    for odd in ({"response_format": {"json_schema": [1]}}, {"temperature": 1e-9}, {"response_format": "json"}):
        assert post(connection, "/v1/chat/completions", judge("q", "one", "other", **odd))[0] == 200
    assert post(connection, "/v1/embeddings", {"input": "a", "stream": True})[0] == 200
    assert post(connection, "/v1/nowhere", {})[0] == 404
    connection.request("GET", "/v1/chat/completions")
    assert connection.getresponse().read() and post(connection, "/v1/embeddings", {"input": "a"})[0] == 200


def test_chunked_and_pipelined_requests(server, easy):
    body = json.dumps(ask(question="q", tail="hello")).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
    sized = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % 5 + body[:5] + b"\r\n%x\r\n" % (len(body) - 5)
    chunked += body[5:] + b"\r\n0\r\n\r\n"
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port), timeout=10) as raw:
        raw.sendall(sized + chunked[:100])
        raw.sendall(chunked[100:] + b"GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n")
        received = b""
        while part := raw.recv(65536):
            received += part
    assert received.count(b"HTTP/1.1 200 OK") == 3 and received.count(b"chat.completion") == 2
    with socket.create_connection((address.hostname, address.port), timeout=10) as raw:
        raw.sendall(b"nonsense\r\n\r\n")
        assert b" 400 " in raw.recv(65536)
    with socket.create_connection((address.hostname, address.port), timeout=10) as raw:
        raw.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nabcdef\r\n")
        assert b" 400 " in raw.recv(65536)


def test_a_taken_port_is_one_clear_line(easy, server):
    with pytest.raises(EndpointError, match="choose another port"):
        serve(easy, "127.0.0.1", urlsplit(server.url).port or 0)
