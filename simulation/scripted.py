"""A local OpenAI-compatible server that answers what a test tells it to, faults included.

    with ScriptedServer([Reply(status=429, headers={"retry-after": "1"}), "fine"]) as server:
        ...                      # talk to server.url
    server.requests              # what was received, in order

The script is a list (each request takes the next reply) or a function of the request body, or of body and headers.
It runs on one thread with plain asyncio: several thousand requests per second, no dependency.
"""

import asyncio
import dataclasses
import hashlib
import inspect
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from .batches import BatchDesk

Body = dict[str, Any]
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclasses.dataclass(frozen=True)
class Reply:
    """One answer. The defaults are a healthy one; each field after `finish_reason` is a way to be otherwise."""

    text: str | None = "ok"
    finish_reason: str = "stop"
    status: int = 200
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    error: Mapping[str, Any] | None = None
    """The `error` object of an answer whose status is not 200."""
    body: bytes | None = None
    """Raw bytes instead of JSON made from the other fields."""
    delay: float = 0.0
    """Seconds before answering; an hour is a hang."""
    drop: bool = False
    """Close the connection without an answer."""
    refusal: str | None = None
    reasoning: str | None = None
    """Sent as `reasoning_content`."""
    logprobs: Sequence[Mapping[str, float]] | None = None
    """For each token the alternatives; the first is the token that was drawn."""
    prompt_tokens: int = 10
    completion_tokens: int = 5
    cached_tokens: int = 0


@dataclasses.dataclass(frozen=True)
class Received:
    """One request as it came in; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Body
    method: str = "POST"
    content: bytes = b""
    """The body as it came, for what is no JSON."""


Script = Sequence[Reply | str] | Callable[[Body], Reply | str] | Callable[[Body, Mapping[str, str]], Reply | str]


def vector_of(text: str, dimensions: int = 32) -> list[float]:
    """A vector made from the hash of a text: equal texts agree, others are about orthogonal."""
    digest = hashlib.shake_256(text.encode("utf-8", "surrogatepass")).digest(dimensions)
    return [byte / 127.5 - 1.0 for byte in digest]


class ScriptedServer:
    """Serves `/v1/chat/completions`, `/v1/embeddings` and `/v1/models` on a free loopback port.

    `batches`: serves `/v1/files` and `/v1/batches` too; the script answers their lines.
    `models`: names that exist, others answer 404. `api_key`: others answer 401. `refuses`: body fields, or types of
    `response_format`, that answer 400. `context`: tokens told by `/v1/models`. A list that is used up answers 500.
    `keep`: how many received requests to remember (all when None).
    """

    def __init__(
        self,
        script: Script = (),
        *,
        models: Sequence[str] = (),
        api_key: str | None = None,
        refuses: Sequence[str] = (),
        context: int | None = None,
        embed: Callable[[str], Sequence[float]] = vector_of,
        keep: int | None = None,
        port: int = 0,
        batches: BatchDesk | None = None,
    ) -> None:
        self._answer = _as_function(script)
        self._models, self._api_key, self._refuses = tuple(models), api_key, frozenset(refuses)
        self._context, self._embed, self._port, self._batches = context, embed, port, batches
        self.requests: deque[Received] = deque(maxlen=keep)
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="scripted-server", daemon=True)
        self._ready = threading.Event()
        self._stop = asyncio.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        if not self.url:
            raise OSError(f"port {self._port} cannot be opened")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """Close every connection and end the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()

    @property
    def chats(self) -> list[Body]:
        """Bodies of the chat requests received so far."""
        return [r.body for r in list(self.requests) if r.path.endswith("/chat/completions")]

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        try:
            server = await asyncio.start_server(self._connection, "127.0.0.1", self._port, limit=1 << 20, backlog=512)
        except OSError:
            self._ready.set()
            return
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (received := await _read(reader)) is not None:
                self.requests.append(received)
                reply = self._reply_to(received)
                if reply.delay:
                    await asyncio.sleep(reply.delay)
                if reply.drop:
                    break
                writer.write(_http(reply, self._payload(received, reply)))
                await writer.drain()
                if received.headers.get("connection", "").lower() == "close":
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the other side has gone, or the server stops
        finally:
            writer.close()

    def _reply_to(self, received: Received) -> Reply:
        if self._api_key is not None and received.headers.get("authorization") != f"Bearer {self._api_key}":
            shown = received.headers.get("authorization", "").removeprefix("Bearer ")
            return failure(401, f"Incorrect API key provided: {shown}", code="invalid_api_key")
        if received.path.endswith("/models"):
            return Reply()
        if self._batches is not None and (found := self._batches.respond(received, self._line)) is not None:
            status, body = found
            return Reply(status=status, body=body, drop=status == 0)
        model = received.body.get("model", "")
        if self._models and model not in self._models:
            return failure(404, f"The model `{model}` does not exist", code="model_not_found")
        form = (received.body.get("response_format") or {}).get("type")
        for field in self._refuses:
            if field == form or field in received.body:
                named = "response_format" if field == form else field
                return failure(400, f"Unsupported parameter: '{named}' ({field}) is not supported", param=named)
        if received.path.endswith("/embeddings"):
            return Reply()
        reply = self._answer(received.body, received.headers)
        return Reply(text=reply) if isinstance(reply, str) else reply

    def _line(self, body: Body, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Status and JSON of one line of a batch, as if it had been asked by itself."""
        received = Received("/v1/chat/completions", headers, body)
        reply = self._reply_to(received)
        return reply.status, self._payload(received, reply)

    def _payload(self, received: Received, reply: Reply) -> bytes:
        if reply.body is not None:
            return reply.body
        if reply.status != 200:
            message = f"scripted {reply.status}"
            return json.dumps({"error": reply.error or {"message": message, "type": "scripted"}}).encode()
        if received.path.endswith("/models"):
            names = self._models or ("scripted",)
            extra = {} if self._context is None else {"max_model_len": self._context}
            return json.dumps(
                {"object": "list", "data": [{"id": n, "object": "model", **extra} for n in names]}
            ).encode()
        if received.path.endswith("/embeddings"):
            return _embeddings(received.body, self._embed)
        return _chat(received.body, reply)


def failure(status: int, message: str, code: str | None = None, param: str | None = None) -> Reply:
    """An error answer in the form OpenAI gives it."""
    return Reply(
        status=status, error={"message": message, "type": "invalid_request_error", "code": code, "param": param}
    )


def _as_function(script: Script) -> Callable[[Body, Mapping[str, str]], Reply | str]:
    if callable(script):
        if len(inspect.signature(script).parameters) > 1:
            return script  # type: ignore[return-value]
        return lambda body, _: script(body)  # type: ignore[call-arg]
    queue = deque(script)
    return lambda body, _: queue.popleft() if queue else failure(500, "the script is used up")


async def _read(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines) if k}
    content = await reader.readexactly(int(headers.get("content-length", 0)))
    is_json = content and not headers.get("content-type", "").startswith("multipart/")
    method, path = first.split(" ")[:2]
    return Received(path, headers, json.loads(content) if is_json else {}, method, content)


def _http(reply: Reply, payload: bytes) -> bytes:
    lines = [f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, 'Scripted')}", f"content-length: {len(payload)}"]
    headers = {"content-type": "application/json", **reply.headers}
    lines += [f"{k}: {v}" for k, v in headers.items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + payload


def _chat(body: Body, reply: Reply) -> bytes:
    message: Body = {"role": "assistant", "content": reply.text}
    if reply.refusal is not None:
        message["refusal"] = reply.refusal
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    choice: Body = {"index": 0, "finish_reason": reply.finish_reason, "message": message}
    if reply.logprobs is not None and body.get("logprobs"):
        choice["logprobs"] = {"content": [_token(alternatives) for alternatives in reply.logprobs]}
    usage = {
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "total_tokens": reply.prompt_tokens + reply.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
    }
    answer = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", ""),
        "choices": [choice],
        "usage": usage,
    }
    return json.dumps(answer).encode()


def _token(alternatives: Mapping[str, float]) -> Body:
    entries = [{"token": t, "logprob": p, "bytes": None} for t, p in alternatives.items()]
    return {**entries[0], "top_logprobs": entries}


def _embeddings(body: Body, embed: Callable[[str], Sequence[float]]) -> bytes:
    given = body.get("input", [])
    texts = [given] if isinstance(given, str) else given
    data = [{"object": "embedding", "index": k, "embedding": list(embed(str(t)))} for k, t in enumerate(texts)]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return json.dumps({"object": "list", "model": body.get("model", ""), "data": data, "usage": usage}).encode()
