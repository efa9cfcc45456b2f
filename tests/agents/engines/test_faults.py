"""Every fault of an endpoint ends as a failure with its kind, or as a broken machine with one line."""

import time

import pytest
from biasscope.agents.engines.openai_compatible import OpenAICompatible
from biasscope.agents.engines.reference import parse_reference
from biasscope.core.calls import Message, Request
from biasscope.core.errors import CallFailed, ConfigError, EndpointError
from biasscope.simulation.scripted import Reply, ScriptedServer, failure

LONG = "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens"
FAULTS = {
    "server error": (Reply(status=500), "server"),
    "rate limit": (Reply(status=429), "server"),
    "dropped": (Reply(drop=True), "connection"),
    "hang": (Reply(delay=60), "timeout"),
    "empty": (Reply(text=""), "empty"),
    "no content": (Reply(text=None), "empty"),
    "blank": (Reply(text=" \n"), "empty"),
    "truncated": (Reply(text="half an ans", finish_reason="length"), "truncated"),
    "refusal": (Reply(text=None, refusal="I cannot help with that."), "refused"),
    "filter": (Reply(text="", finish_reason="content_filter"), "refused"),
    "filter as 400": (failure(400, "The response was filtered", code="content_filter"), "refused"),
    "too long": (failure(400, LONG), "too_long"),
    "too large": (Reply(status=413), "too_long"),
    "bad request": (failure(400, "messages: something is odd"), "bad_request"),
    "no JSON": (Reply(body=b"<html>welcome</html>"), "server"),
    "no choices": (Reply(body=b'{"choices": []}'), "server"),
    "null": (Reply(body=b"null"), "server"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_faults_of_one_call(fault, opened, ask):
    reply, kind = FAULTS[fault]
    with ScriptedServer([reply, "fine"]) as server:
        model = opened(server, timeout_s=0.3)
        with pytest.raises(CallFailed) as caught:
            await ask(model)
        assert caught.value.kind == kind
        assert "\n" not in caught.value.reason
        assert (await ask(model, "another question")).text == "fine"
        await model.aclose()


BROKEN = {
    "key": (failure(401, "Incorrect API key"), "OPENAI_API_KEY"),
    "denied": (Reply(status=403), "access was denied"),
    "model": (failure(404, "The model `m` does not exist", code="model_not_found"), "check the model's name"),
    "money": (failure(429, "You exceeded your quota", code="insufficient_quota"), "no credit"),
    "reasoning": (failure(400, "Unsupported value: 'temperature' does not support 0"), "set reasoning: true"),
}


@pytest.mark.parametrize("fault", BROKEN)
async def test_faults_that_stop_a_run(fault, opened, ask):
    reply, words = BROKEN[fault]
    with ScriptedServer([reply]) as server:
        model = opened(server)
        with pytest.raises(EndpointError) as caught:
            await ask(model)
        assert words in str(caught.value) and "'openai:m'" in str(caught.value) and "\n" not in str(caught.value)
        await model.aclose()


async def test_retries_wait_as_long_as_they_are_told(opened, ask):
    with ScriptedServer([Reply(status=429, headers={"retry-after": "1"}), Reply(drop=True), "fine"]) as server:
        model = opened(server, max_retries=2)
        started = time.perf_counter()
        assert (await ask(model)).text == "fine"
        assert time.perf_counter() - started >= 1.0
        assert len(server.chats) == 3
        await model.aclose()


async def test_a_key_is_sent_and_never_shown(opened, ask, monkeypatch, caplog):
    secret, header = "sk-verysecretkey", "team-secret-value"
    monkeypatch.setenv("TEAM_KEY", secret)
    monkeypatch.setenv("TEAM_HEADER", header)
    caplog.set_level("DEBUG")
    echo = lambda body, headers: failure(401, f"bad {headers['authorization']} {headers['x-team']}")  # noqa: E731
    with ScriptedServer(echo) as server:
        model = opened(server, api_key_env="TEAM_KEY", headers={"x-team": "$TEAM_HEADER"})
        with pytest.raises(EndpointError) as caught:
            await ask(model)
        assert server.requests[0].headers["authorization"] == f"Bearer {secret}"
        engine = OpenAICompatible(
            parse_reference(
                {"model": f"openai:m@{server.url}", "api_key_env": "TEAM_KEY", "headers": {"x-team": header}}
            )
        )
        shown = [str(caught.value), repr(caught.value), caplog.text, repr(engine), repr(engine.spec), engine.name]
        shown += [repr(engine._chat), str(engine._chat)]
        assert caught.value.__cause__ is None and caught.value.__suppress_context__
        assert not [s for s in shown if secret in s or header in s]
        await engine.aclose()
        await model.aclose()


async def test_what_is_sent(opened, ask):
    with ScriptedServer(lambda body: "ok") as server:
        model = opened(server, run_id="run-7", extra_body={"top_p": 0.9})
        await ask(model, role="teacher", stage="perturb", max_tokens=50, temperature=0.7, seed=3, top_logprobs=4)
        thinking = opened(server, reasoning=True)
        await ask(thinking, max_tokens=50)
        plain, thought = server.chats
        headers = server.requests[0].headers
        assert [headers[f"x-biasscope-{k}"] for k in ("run", "role", "stage")] == ["run-7", "teacher", "perturb"]
        sent = {"max_tokens": 50, "temperature": 0.7, "seed": 3, "logprobs": True, "top_logprobs": 4, "top_p": 0.9}
        assert {k: plain[k] for k in sent} == sent
        assert plain["messages"] == [{"role": "user", "content": "question"}]
        assert thought["max_completion_tokens"] == 50 and not {"temperature", "max_tokens"} & set(thought)
        await model.aclose()
        await thinking.aclose()


async def test_fields_that_an_endpoint_does_not_know_are_left_out_from_then_on(opened, ask):
    with ScriptedServer(lambda body: "ok", refuses=["seed", "logprobs"]) as server:
        model = opened(server)
        await ask(model, "one", top_logprobs=2)
        await ask(model, "two", top_logprobs=2)
        assert [("seed" in b, "logprobs" in b) for b in server.chats][-2:] == [(False, False)] * 2
        assert len(server.chats) == 4
        await model.aclose()


async def test_what_comes_back(opened, ask):
    reply = Reply(
        text="The answer",
        reasoning="Let me see.",
        logprobs=[{"The": -0.25, "An": -1.5}, {" answer": -0.5}],
        prompt_tokens=100,
        completion_tokens=20,
        cached_tokens=60,
    )
    with ScriptedServer([reply]) as server:
        model = opened(server, price_input=2.0, price_output=10.0)
        completion = await ask(model, top_logprobs=2)
        assert (completion.text, completion.reasoning, completion.served_by) == ("The answer", "Let me see.", "m")
        assert completion.token_logprobs == ({"The": -0.25, "An": -1.5}, {" answer": -0.5})
        assert (completion.prompt_tokens, completion.cached_prompt_tokens, completion.completion_tokens) == (
            100,
            60,
            20,
        )
        assert completion.cost == pytest.approx((100 * 2 + 20 * 10) / 1e6)
        await model.aclose()


async def test_thinking_in_the_text_is_split_off_with_its_tokens(opened, ask):
    tokens = [{"<think>": -0.1}, {"so A": -0.2}, {"</think>": -0.3}, {"\n\n": -0.4}, {"A": -0.5, "B": -1.0}]
    with ScriptedServer(lambda body: Reply(text="<think>so A</think>\n\nA", logprobs=tokens)) as server:
        model = opened(server)
        completion = await ask(model, top_logprobs=2)
        assert (completion.text, completion.reasoning) == ("A", "so A")
        assert completion.token_logprobs == ({"A": -0.5, "B": -1.0},)
        await model.aclose()


async def test_one_token_verdicts_are_answers_though_cut_off(opened, ask):
    reply = Reply(text="A", finish_reason="length", logprobs=[{"A": -0.1, "B": -2.4}])
    with ScriptedServer([reply, reply, reply]) as server:
        model = opened(server)
        assert (await ask(model, max_tokens=1, top_logprobs=5)).token_logprobs == ({"A": -0.1, "B": -2.4},)
        for fields in ({"max_tokens": 1}, {"max_tokens": 500, "top_logprobs": 5}):
            with pytest.raises(CallFailed, match="raise max_tokens"):
                await ask(model, **fields)
        await model.aclose()


async def test_text_that_no_encoding_holds(opened):
    answer = b'{"choices": [{"finish_reason": "stop", "message": {"content": "half \\ud83d pair"}}]}'
    with ScriptedServer([Reply(body=answer), "ok"]) as server:
        model = opened(server)
        broken = Message.model_construct(role="user", content="lone \ud800 surrogate \x00")
        completion = await model.complete(Request.model_construct(model=model.name, messages=(broken,)))
        assert completion.text == "half ? pair"
        assert server.chats[0]["messages"][0]["content"] == "lone ? surrogate \x00"
        long = Message(role="user", content="x" * 100_000)
        assert (await model.complete(Request(model=model.name, messages=(long,)))).text == "ok"
        await model.aclose()


async def test_a_dead_endpoint_stops_after_ten_failures_in_a_row(opened, ask):
    with ScriptedServer([*["ok"] * 3, *[Reply(status=503)] * 30]) as server:
        model = opened(server, max_concurrency=1)
        for k in range(3):
            await ask(model, f"good {k}")
        for k in range(10):
            with pytest.raises(CallFailed):
                await ask(model, f"bad {k}")
        with pytest.raises(EndpointError, match="looks dead: 10 calls in a row failed"):
            await ask(model, "one more")
        assert len(server.chats) == 13
        await model.aclose()


async def test_failures_between_successes_do_not_add_up(opened, ask):
    script = [Reply(status=503) if k % 10 else Reply() for k in range(60)]
    with ScriptedServer(script) as server:
        model = opened(server, max_concurrency=1)
        kinds = []
        for k in range(60):
            try:
                kinds.append((await ask(model, str(k))).finish_reason)
            except CallFailed as failed:
                kinds.append(failed.kind)
        assert kinds.count("stop") == 6 and kinds.count("server") == 54
        await model.aclose()


async def test_keep_alive_can_be_switched_off(ask):
    with ScriptedServer(lambda body: "ok") as server:
        for keep_alive in (True, False):
            spec = parse_reference({"model": f"openai:m@{server.url}", "keep_alive": keep_alive})
            model = OpenAICompatible(spec)
            await ask(model)
            assert bool(model._http._transport._pool.connections) is keep_alive
            await model.aclose()


def test_a_budget_in_money_needs_prices(opened):
    from biasscope.agents.engines.budget import Budget

    with ScriptedServer() as server, pytest.raises(ConfigError, match="set price_input and price_output"):
        opened(server, budget=Budget(cost=1.0))
