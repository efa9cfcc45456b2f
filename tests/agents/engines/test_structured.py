"""JSON answers from endpoints that know schemas, only JSON, or neither; what an endpoint has is found out once."""

import json
import time
from typing import Literal

import pytest
from biasscope.agents.engines.ask import ask_json
from biasscope.agents.engines.json_text import last_json_object
from biasscope.agents.engines.structured import strict_schema
from biasscope.core.calls import Message
from biasscope.core.errors import CallFailed
from biasscope.simulation.scripted import Reply, ScriptedServer, failure
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel


class Finding(BaseModel):
    found: bool
    name: str
    kind: Literal["form", "content"] = "form"


GOOD = '{"found": true, "name": "length", "kind": "content"}'


async def find(model, text="what?"):
    messages = [Message(role="user", content=text)]
    return await ask_json(model, messages, Finding, role="teacher", stage="discover")


def form_of(body):
    return (body.get("response_format") or {}).get("type", "prompt")


async def test_schema_endpoint(opened):
    with ScriptedServer(lambda body: GOOD) as server:
        model = opened(server)
        value, request_id = await find(model)
        assert value == Finding(found=True, name="length", kind="content") and len(request_id) == 24
        sent = server.chats[0]["response_format"]["json_schema"]
        assert sent["strict"] is True and sent["schema"]["required"] == ["found", "name", "kind"]
        await model.aclose()


@pytest.mark.parametrize("refused", [["json_schema"], ["json_schema", "json_object"], ["response_format"]])
async def test_refused_forms_are_remembered(opened, refused):
    with ScriptedServer(lambda body: GOOD, refuses=refused) as server:
        model = opened(server)
        last = "json_object" if refused == ["json_schema"] else "prompt"
        for k in range(3):
            assert (await find(model, f"what {k}?"))[0].name == "length"
        forms = [form_of(body) for body in server.chats]
        assert forms[0] == "json_schema" and forms[-3:] == [last] * 3
        assert forms.count("json_schema") == 1
        assert "JSON schema" in server.chats[-1]["messages"][-1]["content"]
        await model.aclose()


async def test_500_for_a_schema_steps_down_too(opened):
    def answer(body):
        return failure(500, "json_schema grammar failed") if form_of(body) == "json_schema" else Reply(text=GOOD)

    with ScriptedServer(answer) as server:
        model = opened(server)
        assert (await find(model))[0].found
        await model.aclose()


async def test_ignored_schema_is_seen_and_paid_for_once(opened, store):
    def answer(body):
        return "Sure! I think so." if form_of(body) == "json_schema" else f"```json\n{GOOD}\n```"

    with ScriptedServer(answer) as server:
        model = opened(server)
        for k in range(2):
            assert (await find(model, f"what {k}?"))[0].found
        assert [form_of(body) for body in server.chats] == ["json_schema", "json_object", "json_object"]
        [line] = store.usage("run")
        assert (line.calls, line.prompt_tokens) == (2, 30)
        await model.aclose()


async def test_a_bad_request_is_not_blamed_on_the_form(opened):
    script = [*[failure(400, "messages: odd")] * 3, GOOD, *[failure(400, "messages: odd again")] * 3]
    with ScriptedServer(script) as server:
        model = opened(server)
        with pytest.raises(CallFailed, match="odd"):
            await find(model)
        assert (await find(model, "again"))[0].found
        with pytest.raises(CallFailed, match="odd again"):
            await find(model, "and again")
        assert [form_of(b) for b in server.chats] == [
            "json_schema",
            "json_object",
            "prompt",
            "json_schema",
            # The same forms again, although one is proven: what was learnt before must not change the outcome.
            "json_schema",
            "json_object",
            "prompt",
        ]
        await model.aclose()


async def test_a_form_can_be_fixed(opened):
    with ScriptedServer(lambda body: GOOD) as server:
        model = opened(server, structured="prompt")
        await find(model)
        assert "response_format" not in server.chats[0]
        await model.aclose()


async def test_one_repair_then_malformed(opened):
    with ScriptedServer(['{"found": "perhaps", "name": 3}', GOOD, "no", "nothing", '{"found": true}'][:2]) as server:
        model = opened(server)
        assert (await find(model))[0].found
        repair = server.chats[1]["messages"]
        assert [m["role"] for m in repair] == ["user", "assistant", "user"]
        assert "found: must be true or false" in repair[2]["content"]
        await model.aclose()
    with ScriptedServer(lambda body: '{"found": true, "name": "a", "kind": "other"} and so on') as server:
        model = opened(server)
        with pytest.raises(CallFailed) as caught:
            await find(model)
        assert (caught.value.kind, len(server.chats)) == ("malformed", 2)
        assert caught.value.raw.endswith("and so on") and caught.value.request_id
        await model.aclose()


async def test_truncated_json_is_truncation(opened):
    with ScriptedServer([Reply(text='{"found": tr', finish_reason="length")]) as server:
        model = opened(server)
        with pytest.raises(CallFailed) as caught:
            await find(model)
        assert caught.value.kind == "truncated"
        await model.aclose()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (GOOD, json.loads(GOOD)),
        ('first {"a": 1}, no: {"a": 2}.', {"a": 2}),
        ('```json\n{"a": {"b": [1, "}"]}}\n```', {"a": {"b": [1, "}"]}}),
        ('{broken {"a": 1}', {"a": 1}),
        ('{"a": 1} {"b": ', {"a": 1}),
        ("[1, 2]", None),
        ('{"a": NaN}', None),
        ('{"a": 1, "a": 2}', None),
        ("", None),
    ],
)
def test_last_json_object(text, value):
    found = last_json_object(text)
    assert (found.value if found else None) == value


@pytest.mark.parametrize("text", ["{" * 100_000, '{"a":' * 50_000, '{"a": "' * 20_000, "{ " * 100_000 + "}"])
def test_hostile_text_takes_no_time(text):
    started = time.process_time()
    assert last_json_object(text) in (None, ({}, "{ }"))
    assert time.process_time() - started < 20


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.booleans()), st.text(alphabet='ab {}\n`"'))
def test_an_object_at_the_end_is_found(value, before):
    text = json.dumps(value)
    found = last_json_object(f"{before.replace('{', '(')}\n{text}")
    assert found == (value, text)


def test_strict_schema_closes_objects_and_keeps_fields_called_title():
    class Inner(BaseModel):
        title: str = "x"

    class Outer(BaseModel):
        inner: Inner
        many: list[Inner] = []

    schema = strict_schema(Outer.model_json_schema())
    inner = schema["$defs"]["Inner"]
    assert inner == {
        "type": "object",
        "properties": {"title": {"type": "string"}},
        "required": ["title"],
        "additionalProperties": False,
    }
    assert schema["required"] == ["inner", "many"] and "title" not in schema
