"""The packaged models, for real."""

import asyncio
import socket

import numpy as np
import pytest
from biasscope.agents.engines.ask import ask_json
from biasscope.agents.engines.embedded import Embedded
from biasscope.agents.engines.embedder import open_embedder
from biasscope.agents.engines.opening import open_model
from biasscope.agents.engines.probe import probe
from biasscope.agents.engines.reference import parse_reference
from biasscope.core.calls import Message, Request
from biasscope.core.errors import CallFailed, EndpointError
from pydantic import BaseModel

pytestmark = pytest.mark.model
REFERENCE = {"model": "local:smollm2", "n_ctx": 1024}


class City(BaseModel):
    city: str


def request(model, text, **fields):
    return Request(model=model.name, messages=(Message(role="user", content=text),), **fields)


async def test_judge_and_teacher_share_one_server_that_stops_with_the_last(store):
    judge, teacher = (Embedded(parse_reference(REFERENCE)) for _ in range(2))
    where = [(await m.endpoint()).base_url for m in (judge, teacher)]
    assert where[0] == where[1]
    await judge.aclose()
    port = int(where[0].rsplit(":", 1)[1].split("/")[0])
    socket.create_connection(("127.0.0.1", port), timeout=2).close()
    await teacher.aclose()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=2)


async def test_answers_json_probabilities_and_limits(store):
    model = open_model(REFERENCE, run_id="run", store=store)
    answer = await model.complete(request(model, "Which is better, A or B?", max_tokens=1, top_logprobs=5))
    assert len(answer.token_logprobs[0]) >= 5 and answer.cost == 0.0
    messages = [Message(role="user", content="Name a city in France.")]
    value, _ = await ask_json(model, messages, City, role="teacher", stage="discover", max_tokens=100)
    assert value.city
    with pytest.raises(CallFailed) as caught:
        await model.complete(request(model, "word " * 5000))
    assert caught.value.kind == "too_long"
    await model.aclose()


async def test_greedy_answers_are_reproducible():
    texts = [f"Tell me something about the number {k}." for k in range(3)]
    rounds = []
    for _ in range(2):
        model = Embedded(parse_reference(REFERENCE))
        asked = [model.complete(request(model, t, max_tokens=24)) for t in texts]
        rounds.append([c.text for c in await asyncio.gather(*asked)])
        await model.aclose()
    assert rounds[0] == rounds[1]


async def test_a_file_that_is_no_model(tmp_path):
    (tmp_path / "x.gguf").write_bytes(b"not a model")
    model = Embedded(parse_reference(f"local:{tmp_path}/x.gguf"))
    with pytest.raises(EndpointError, match="is it a GGUF model"):
        await model.complete(request(model, "hello"))
    await model.aclose()


async def test_the_doctor():
    report = await probe(REFERENCE)
    assert (report.reachable, report.logprobs, report.context) == (True, True, 1024)


@pytest.mark.filterwarnings("default")
async def test_minilm(store):
    embedder = open_embedder("local:", store)
    vectors = await embedder.embed(["a cat sat down", "a kitten was sitting", "interest rates rose", "x" * 5000])
    assert vectors.shape == (4, 384) and vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
    await embedder.aclose()
