"""Embedders give unit vectors in order; stored ones are not asked for again."""

import numpy as np
import pytest
from biasscope.agents.engines.embedder import open_embedder
from biasscope.core.errors import EndpointError
from biasscope.simulation.scripted import Reply, ScriptedServer, vector_of


async def test_endpoint_vectors_are_normalised_in_order_and_stored(store):
    texts = [f"text {k}" for k in range(150)] + ["text 0", "", "lone \ud800"]
    with ScriptedServer() as server:
        embedder = open_embedder(f"openai:e@{server.url}", store)
        vectors = await embedder.embed(texts)
        assert vectors.shape == (153, 32) and vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
        np.testing.assert_array_equal(vectors[0], vectors[150])
        expected = np.asarray(vector_of("text 7"))
        np.testing.assert_allclose(vectors[7], expected / np.linalg.norm(expected), atol=1e-6)
        calls = len(server.requests)
        again = await embedder.embed([*texts, "a new one"])
        np.testing.assert_array_equal(again[:153], vectors)
        assert [r.body["input"] for r in list(server.requests)[calls:]] == [["a new one"]]
        assert (await embedder.embed([])).shape[0] == 0
        await embedder.aclose()


@pytest.mark.parametrize(
    ("body", "words"),
    [(b'{"data": []}', "No embedding data"), (b"<html>", "not what this API gives")],
)
async def test_what_is_no_vector_stops_with_one_line(body, words, monkeypatch):
    with ScriptedServer() as server:
        monkeypatch.setattr(server, "_reply_to", lambda received: Reply(body=body))
        embedder = open_embedder({"model": f"openai:e@{server.url}", "max_retries": 0})
        with pytest.raises(EndpointError, match=words):
            await embedder.embed(["x"])
        await embedder.aclose()
