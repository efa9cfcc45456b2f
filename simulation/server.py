"""A world over HTTP, OpenAI-compatible: /v1/chat/completions, /v1/embeddings, /v1/models.

A small protocol of our own on asyncio, because a discovery run makes tens of thousands of calls and an application
framework would cost more than the answers. HTTP/1.1 with keep-alive, pipelining and chunked requests.
"""

import asyncio
import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
from typing import Any
from urllib.parse import unquote

from ..core.errors import EndpointError
from .spec import WorldSpec
from .world import World

_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 413: "Payload Too Large"}
_LARGEST = 64 * 2**20


def serve(world: World, host: str = "127.0.0.1", port: int = 8080) -> None:
    """Answer until interrupted. Raises EndpointError when the address cannot be had."""
    asyncio.run(_serve(world, _listen(host, port)))


class WorldServer:
    """A world behind a free port while the context lasts; `url` ends in /v1.

    In a thread by default; `process=True` takes a process of its own, so that the client's event loop has its core.
    """

    def __init__(self, world: World, process: bool = False, host: str = "127.0.0.1", port: int = 0) -> None:
        self._world, self._process, self._host, self._port = world, process, host, port
        self._child: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.url = ""

    def __enter__(self) -> "WorldServer":
        port = self._start_process() if self._process else self._start_thread()
        self.url = f"http://{self._host}:{port}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        if self._child is not None and self._child.stdin is not None and self._child.stdout is not None:
            self._child.stdin.close()  # the child ends with its input, also when this process is killed
            self._child.wait(timeout=10)
            self._child.stdout.close()
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join(timeout=10)

    def _start_thread(self) -> int:
        listener = _listen(self._host, self._port)
        ready = threading.Event()

        async def run() -> None:
            self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
            ready.set()
            await _serve(self._world, listener, self._stopped)

        self._thread = threading.Thread(target=lambda: asyncio.run(run()), name="world", daemon=True)
        self._thread.start()
        ready.wait(timeout=10)
        return int(listener.getsockname()[1])

    def _start_process(self) -> int:
        self._child = subprocess.Popen(
            [sys.executable, "-m", __name__, self._host, str(self._port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.write(self._world.spec.model_dump_json() + "\n")
        self._child.stdin.flush()
        said = self._child.stdout.readline()
        if not said.strip().isdigit():
            raise EndpointError(f"the world's server did not start on {self._host}:{self._port}; see its message above")
        return int(said)


def respond(world: World, method: str, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
    """Status and JSON for one HTTP request."""
    route = path.split("?")[0].rstrip("/").removeprefix("/v1")
    models = {m: {"id": m, "object": "model", "created": 0, "owned_by": "world"} for m in world.spec.models}
    if route == "/models":
        return 200, {"object": "list", "data": list(models.values())}
    if route.startswith("/models/"):
        name = unquote(route.removeprefix("/models/"))
        return (200, models[name]) if name in models else (404, _error(f"The model {name!r} does not exist"))
    if route not in ("/chat/completions", "/embeddings"):
        return 404, _error(f"no such path: {path}; there are /v1/chat/completions, /v1/embeddings and /v1/models")
    if method != "POST":
        return 405, _error(f"{path} takes POST, got {method}")
    try:
        asked = json.loads(body)
        if not isinstance(asked, dict):
            raise ValueError("the body must be a JSON object")
        return 200, world.answer(asked) if route == "/chat/completions" else world.embeddings(asked)
    except (ValueError, TypeError, RecursionError) as error:
        return 400, _error(str(error))


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}


class _Connection(asyncio.Protocol):
    def __init__(self, world: World, live: set[asyncio.Transport]) -> None:
        self._world, self._live = world, live
        self._data = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._live.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._live.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        while not self._transport.is_closing() and self._one():
            pass

    def _one(self) -> bool:
        """Answer one request from the buffer; False when it is not all there yet."""
        end = self._data.find(b"\r\n\r\n")
        if end < 0:
            if len(self._data) > 2**16:
                self._send(400, _error("the request's head is too long"), last=True)
            return False
        first, *lines = self._data[:end].decode("latin-1").split("\r\n")
        method, _, rest = first.partition(" ")
        path = rest.rpartition(" ")[0]
        heads = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        size = heads.get("content-length", "0")
        chunked = heads.get("transfer-encoding", "").lower() == "chunked"
        if not path or not size.isdigit():
            self._send(400, _error(f"not an HTTP request: {first[:80]!r}"), last=True)
            return False
        if int(size) > _LARGEST or len(self._data) > 2 * _LARGEST:
            self._send(413, _error(f"a body may have at most {_LARGEST} bytes"), last=True)
            return False
        try:
            found = _chunks(self._data, end + 4) if chunked else _sized(self._data, end + 4, int(size))
        except ValueError as error:
            self._send(400, _error(str(error)), last=True)
            return False
        if found is None:
            if heads.get("expect", "").lower() == "100-continue" and len(self._data) == end + 4:
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return False
        body, used = found
        del self._data[:used]
        status, answer = respond(self._world, method, path, body)
        stream, usage = "choices" in answer and b'"stream"' in body, False
        if stream:
            wanted = json.loads(body)
            options = wanted.get("stream_options")
            stream, usage = bool(wanted.get("stream")), bool(isinstance(options, dict) and options.get("include_usage"))
        last = heads.get("connection", "").lower() == "close"
        self._send(status, _events(answer, usage) if stream else answer, last)
        return True

    def _send(self, status: int, answer: dict[str, Any] | bytes, last: bool) -> None:
        """A JSON object, or the events of a stream."""
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        kind = "text/event-stream" if isinstance(answer, bytes) else "application/json"
        head = f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        self._transport.write((head + ("Connection: close\r\n" if last else "") + "\r\n").encode() + body)
        if last:
            self._transport.close()


def _sized(data: bytearray, start: int, size: int) -> tuple[bytes, int] | None:
    return (bytes(data[start : start + size]), start + size) if len(data) >= start + size else None


def _chunks(data: bytearray, start: int) -> tuple[bytes, int] | None:
    body, at = bytearray(), start
    while (line := data.find(b"\r\n", at)) >= 0:
        size = int(data[at:line].split(b";")[0], 16)
        if size < 0:
            raise ValueError(f"a chunk cannot have {size} bytes")
        if len(data) < line + 4 + size:
            return None
        if size == 0:
            return bytes(body), line + 4
        body += data[line + 2 : line + 2 + size]
        at = line + 4 + size
    return None


def _events(answer: dict[str, Any], usage: bool) -> bytes:
    """A whole answer as a stream: one delta, one end, and the usage where it is asked for."""
    shared = {"id": answer["id"], "object": "chat.completion.chunk", "created": answer["created"]}
    shared["model"] = answer["model"]
    choice = answer["choices"][0]
    delta = {"index": 0, "delta": choice["message"], "logprobs": choice["logprobs"], "finish_reason": None}
    ended = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": choice["finish_reason"]}
    parts = [{**shared, "choices": [delta]}, {**shared, "choices": [ended]}]
    if usage:
        parts = [{**part, "usage": None} for part in parts] + [{**shared, "choices": [], "usage": answer["usage"]}]
    return "".join(f"data: {json.dumps(part)}\n\n" for part in parts).encode() + b"data: [DONE]\n\n"


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), backlog=1024)
    except (OSError, OverflowError) as error:
        raise EndpointError(f"cannot listen on {host}:{port}: {error}; choose another port") from error


async def _serve(world: World, listener: socket.socket, stopped: asyncio.Event | None = None) -> None:
    live: set[asyncio.Transport] = set()
    server = await asyncio.get_running_loop().create_server(lambda: _Connection(world, live), sock=listener)
    try:
        await (stopped or asyncio.Event()).wait()
    finally:
        server.close()
        for transport in list(live):
            transport.abort()


def _child(host: str, port: int) -> None:
    """The process behind `WorldServer(process=True)`: a world on standard input, the port on standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    world = World(WorldSpec.model_validate_json(sys.stdin.readline()))

    async def run() -> None:
        listener = _listen(host, port)
        print(listener.getsockname()[1], flush=True)
        stopped, loop = asyncio.Event(), asyncio.get_running_loop()

        def wait() -> None:
            sys.stdin.read()
            loop.call_soon_threadsafe(stopped.set)

        threading.Thread(target=wait, daemon=True).start()
        await _serve(world, listener, stopped)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]))
