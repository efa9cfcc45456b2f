"""A call ends in its time, whatever the other side does; and nothing that hangs keeps the program from ending."""

import asyncio
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest
from biasscope.agents.engines.opening import open_engine
from biasscope.core.calls import Message, Request
from biasscope.core.errors import CallFailed

MODULE = """
import threading

def hangs(prompt, answer):
    threading.Event().wait()

def leaves(prompt, answer):
    raise SystemExit(0)

async def leaves_later(prompt, answer):
    raise SystemExit(0)

def runs_out(prompt, answer):
    return next(iter(()))
"""
ASKS = """
import asyncio, sys
from biasscope.agents.engines.opening import open_engine
from biasscope.core.calls import Message, Request
from biasscope.core.errors import CallFailed

async def main():
    model = open_engine({{"model": "python:own_judge:{name}", "timeout_s": 0.3}})
    texts = (Message(role="user", content="Q"), Message(role="assistant", content="a"))
    try:
        await model.complete(Request(model=model.name, messages=texts))
    except CallFailed as error:
        print(error.kind, error.reason)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("hangs", "timeout python:own_judge:hangs: no answer in 0.3 s"),
        ("leaves", "bad_request python:own_judge:leaves: SystemExit"),
        ("leaves_later", "bad_request python:own_judge:leaves_later: SystemExit"),
        ("runs_out", "bad_request python:own_judge:runs_out: RuntimeError"),
    ],
)
def test_a_callable_that_never_returns_fails_its_call_and_the_program_ends(tmp_path, name, said):
    (tmp_path / "own_judge.py").write_text(MODULE)
    done = subprocess.run(
        [sys.executable, "-c", ASKS.format(name=name)], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(said)


@asynccontextmanager
async def dripping():
    """A server that sends a byte of its answer now and then, and never all of it."""

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
        try:
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.05)
        except (ConnectionError, asyncio.CancelledError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


@pytest.mark.parametrize("kind", ["judge", "model", "scores"])
async def test_an_answer_that_drips_in_is_given_up(kind):
    async with dripping() as url:
        spec = {
            "judge": {"model": f"{url}/judge", "http": {"body": {"a": "{{ answer_a }}"}, "answer": "$.x"}},
            "model": {"model": f"openai:m@{url}/v1"},
            "scores": {"model": f"score:m@{url}"},
        }[kind]
        model = open_engine({**spec, "max_retries": 0, "timeout_s": 0.5})
        texts = (Message(role="user", content="Q"), Message(role="assistant", content="a"))
        if kind == "judge":
            texts = (*texts, Message(role="assistant", content="b"))
        try:
            async with asyncio.timeout(60):
                with pytest.raises(CallFailed) as caught:
                    await model.complete(Request(model=model.name, messages=texts))
        finally:
            await model.aclose()
        assert caught.value.kind == "timeout"
