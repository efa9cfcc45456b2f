"""Models that talk to a scripted server."""

import pytest
from biasscope.agents.engines.opening import open_model
from biasscope.agents.engines.reference import parse_reference
from biasscope.core.calls import Message, Request
from biasscope.core.store import Store


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "store.db")
    yield store
    store.close()


@pytest.fixture
def opened(store):
    """Open the model of a scripted server as a run would, with few retries."""

    def opened(server, *, run_id="run", budget=None, **settings):
        spec = parse_reference({"model": f"openai:m@{server.url}", "max_retries": 0, "timeout_s": 5, **settings})
        return open_model(spec, run_id=run_id, store=store, budget=budget)

    return opened


@pytest.fixture
def ask():
    """Ask a model one question."""

    async def ask(model, text="question", **fields):
        return await model.complete(Request(model=model.name, messages=(Message(role="user", content=text),), **fields))

    return ask
