"""Answers through a provider's batch API (`/v1/files` and `/v1/batches`): within a day, and cheaper.

`BatchTransport` stands where the network is for the client of one model, so that requests, retries and the reading of
answers are those of `openai_compatible`. A chat request waits until nothing new has been asked for a moment; what
waits by then goes out as one batch.

A process may die at any moment. A batch is a note in the store before the provider hears of it, and carries the note's
name as metadata; a later process finds it by its id, or by that name where the id had not come back, and waits for it
instead of sending its lines again. The note keeps the lines that were answered, whose answers can be fetched again.
"""

import asyncio
import hashlib
import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
import openai
from openai.types import Batch

from ...core.errors import BrokenMachine, EndpointError
from ...core.store import Store
from .faults import failure_from
from .reference import BatchSettings, ModelSpec

REQUEST_HEADER = "x-biasscope-request"
_URL: Any = "/v1/chat/completions"
_MOST_BYTES = 100 * 2**20
"""Of one input file; providers take 200 MB."""
_FAILED_LOOKS = 30
"""Looks in a row at a batch that may fail, each with its retries: a night's network has gaps."""
_OVER = ("completed", "failed", "expired", "cancelled")
_TAG = "biasscope"

Answer = tuple[int, Any]
"""HTTP status and JSON of one line."""


@dataclass
class _Line:
    body: bytes
    answer: asyncio.Future[Answer]


@dataclass
class _Sent:
    """A batch as its note tells it. `id` is the provider's, None until it has come back."""

    key: str
    lines: Sequence[str]
    id: str | None = None
    at: float = field(default_factory=time.time)


class BatchTransport(httpx2.AsyncBaseTransport):
    """Chat requests as lines of batches. `online` speaks to the provider; `name` is the model's identity.

    Raises EndpointError from a request when batches cannot be had, were cancelled or take longer than the settings'
    patience; a run that is resumed waits for those that are still worked on.
    """

    def __init__(
        self,
        spec: ModelSpec,
        *,
        name: str,
        store: Store,
        run_id: str,
        online: openai.AsyncOpenAI,
        secrets: Sequence[str],
    ) -> None:
        self._spec, self._name, self._store, self._run_id = spec, name, store, run_id
        self._settings = spec.batch or BatchSettings()
        self._online, self._secrets = online, tuple(secrets)
        self._earlier: dict[str, _Sent] | None = None
        self._waiting: dict[str, _Line] = {}
        self._gathered: list[str] = []
        self._ready: dict[str, Answer] = {}
        self._enough = asyncio.Event()
        self._gathering: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._watched: set[str] = set()
        self._broken: BrokenMachine | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer to one chat request, when its batch is done."""
        body = await request.aread()
        # The request's id beside its body: repetitions of a question are lines of their own.
        id = hashlib.sha256(request.headers.get(REQUEST_HEADER, "").encode() + b"\n" + body).hexdigest()[:32]
        status, answer = await self._answer(id, body)
        # What is asked again is asked at once, for one batch: a provider's load is no matter a day later.
        headers = {} if status == 200 else {"retry-after-ms": "1"}
        return httpx2.Response(status, json=answer, headers=headers, request=request)

    async def aclose(self) -> None:
        """Stop waiting; what was sent goes on at the provider."""
        tasks = [*self._tasks, *([self._gathering] if self._gathering else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._online.close()

    async def _answer(self, id: str, body: bytes) -> Answer:
        if self._broken is not None:
            raise self._broken
        if self._earlier is None:
            self._earlier = self._read_notes()
        if (line := self._waiting.get(id)) is None:
            earlier = self._earlier.pop(id, None)
            if id in self._ready:
                return self._ready.pop(id)
            line = self._waiting[id] = _Line(body, asyncio.get_running_loop().create_future())
            if earlier is None:
                self._gather(id)
            elif earlier.key not in self._watched:
                self._watched.add(earlier.key)
                self._start(self._follow(earlier))
        try:
            return await asyncio.shield(line.answer)
        finally:
            if self._waiting.get(id) is line:
                del self._waiting[id]

    def _read_notes(self) -> dict[str, _Sent]:
        found: dict[str, _Sent] = {}
        notes = self._store.notes(self._run_id, "batch:")
        for name, note in sorted(notes.items(), key=lambda item: float(item[1]["at"])):
            if note["model"] == self._name:
                sent = _Sent(name.removeprefix("batch:"), note["lines"], note["id"], note["at"])
                found |= dict.fromkeys(sent.lines, sent)
        return found

    def _keep(self, sent: _Sent) -> None:
        note = {"model": self._name, "id": sent.id, "at": sent.at, "lines": list(sent.lines)}
        self._store.write_note(self._run_id, f"batch:{sent.key}", note)

    def _gather(self, id: str) -> None:
        self._gathered.append(id)
        if len(self._gathered) >= self._settings.requests:
            self._enough.set()
        if self._gathering is None or self._gathering.done():
            self._gathering = asyncio.create_task(self._gather_until_quiet())

    async def _gather_until_quiet(self) -> None:
        while self._gathered:
            before = len(self._gathered)
            try:
                await asyncio.wait_for(self._enough.wait(), self._settings.quiet_s)
            except TimeoutError:
                if len(self._gathered) > before:
                    continue
            self._enough.clear()
            asked, self._gathered = [i for i in dict.fromkeys(self._gathered) if i in self._waiting], []
            for part in _parts([(i, self._waiting[i].body) for i in asked], self._settings.requests):
                self._start(self._send(part))

    def _start(self, work: Any) -> None:
        async def guarded() -> None:
            try:
                await work
            except BrokenMachine as error:
                self._break(error)
            except openai.APIError as error:
                failed = failure_from(error, self._spec, self._secrets, "")
                self._break(EndpointError(f"{failed}; batches that were sent go on, and resuming collects them"))
            except Exception as error:
                self._break(EndpointError(f"model {self._spec.model!r}: batches failed: {error}"))
                raise

        task = asyncio.create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _break(self, error: BrokenMachine) -> None:
        self._broken = error
        for line in self._waiting.values():
            if not line.answer.done():
                line.answer.set_exception(error)

    def _give(self, id: str, answer: Answer) -> None:
        if (line := self._waiting.get(id)) is None:
            if answer[0] == 200:
                self._ready[id] = answer
        elif not line.answer.done():
            line.answer.set_result(answer)

    async def _send(self, ids: Sequence[str]) -> None:
        """One batch from its file to its answers."""
        bodies = [(id, self._waiting[id].body) for id in ids if id in self._waiting]
        if not bodies:
            return
        sent = _Sent(uuid.uuid4().hex, [id for id, _ in bodies])
        self._keep(sent)
        content = b"".join(_as_line(id, body) for id, body in bodies)
        file = await self._online.files.create(file=(f"{sent.key}.jsonl", content), purpose="batch")
        sent.id = await self._create(sent, file.id)
        self._keep(sent)
        await self._collect(sent, await self._over(sent))

    async def _follow(self, sent: _Sent) -> None:
        """A batch of an earlier process, or its lines anew where the provider has never heard of it."""
        if sent.id is None and (found := await self._find(sent)) is not None:
            sent.id = found
            self._keep(sent)
        if sent.id is not None:
            await self._collect(sent, await self._over(sent))
            return
        unsent, sent.lines = sent.lines, []
        self._keep(sent)
        for id in unsent:
            (self._earlier or {}).pop(id, None)
            if id in self._waiting:
                self._gather(id)

    async def _create(self, sent: _Sent, file: str) -> str:
        """Create the batch once, though the line may break before its id comes back."""
        window: Any = self._settings.window
        once = self._online.with_options(max_retries=0)
        for left in reversed(range(self._spec.max_retries + 1)):
            try:
                made = await once.batches.create(
                    input_file_id=file, endpoint=_URL, completion_window=window, metadata={_TAG: sent.key}
                )
                return made.id
            except (openai.APIConnectionError, openai.InternalServerError, openai.RateLimitError):
                if (found := await self._find(sent)) is not None:
                    return found
                if not left:
                    raise
                await asyncio.sleep(min(self._settings.poll_s, 10.0))
        raise AssertionError

    async def _find(self, sent: _Sent) -> str | None:
        async for batch in self._online.batches.list(limit=100):
            if (batch.metadata or {}).get(_TAG) == sent.key:
                return batch.id
            if batch.created_at < sent.at - 86_400:  # newest first
                return None
        return None

    async def _over(self, sent: _Sent) -> Batch:
        assert sent.id is not None
        started, failed = time.monotonic(), 0
        while True:
            try:
                batch = await self._online.batches.retrieve(sent.id)
                failed = 0
                if batch.status in _OVER:
                    return batch
            except (openai.APIConnectionError, openai.InternalServerError, openai.RateLimitError):
                failed += 1
                if failed >= _FAILED_LOOKS:
                    raise
            hours = self._settings.patience_h
            if hours is not None and time.monotonic() - started > hours * 3600:
                raise EndpointError(
                    f"model {self._spec.model!r}: the batch {sent.id!r} is not done after {hours:g} h; it goes on, and "
                    "resuming the run collects it"
                )
            await asyncio.sleep(self._settings.poll_s)

    async def _collect(self, sent: _Sent, batch: Batch) -> None:
        if batch.status == "failed":
            await self._not_taken(sent, batch)
            return
        answers: dict[str, Answer] = {}
        for file in (batch.output_file_id, batch.error_file_id):
            if file:
                answers |= _read_answers((await self._online.files.content(file)).text)
        asked = list(sent.lines)
        sent.lines = [id for id in asked if answers.get(id, (0,))[0] == 200]
        self._keep(sent)
        for id in asked:
            if id in answers:
                self._earlier_no_more(id)
                self._give(id, answers[id])
        left = [id for id in asked if id not in answers]
        if left and batch.status == "cancelled":
            raise EndpointError(
                f"model {self._spec.model!r}: the batch {batch.id!r} was cancelled at the provider with {len(left)} of "
                f"{len(asked)} requests unanswered; resume the run to ask for them again"
            )
        for id in left:
            self._earlier_no_more(id)
            if id in self._waiting:
                said = "the batch ended without an answer to this request"
                self._give(id, (503, {"error": {"message": said, "code": f"batch_{batch.status}"}}))

    def _earlier_no_more(self, id: str) -> None:
        if self._earlier is not None:
            self._earlier.pop(id, None)

    async def _not_taken(self, sent: _Sent, batch: Batch) -> None:
        """A batch that the provider refused as a whole: too much at once, lines that are wrong, or no way at all."""
        errors = (batch.errors.data if batch.errors else None) or []
        asked, sent.lines = list(sent.lines), []
        self._keep(sent)
        for id in asked:
            self._earlier_no_more(id)
        waiting = [id for id in asked if id in self._waiting]
        said = "; ".join(dict.fromkeys(f"{e.message or ''} ({e.code})" for e in errors))[:400] or "no reason given"
        if any("token_limit" in (e.code or "") for e in errors) and len(waiting) > 1:
            half = len(waiting) // 2
            await self._send(waiting[:half])
            await self._send(waiting[half:])
            return
        wrong = {asked[e.line - 1] for e in errors if e.line is not None and 0 < e.line <= len(asked)}
        if not wrong:
            raise EndpointError(f"model {self._spec.model!r}: the provider took no batch {batch.id!r}: {said}")
        for id in wrong:
            self._give(id, (400, {"error": {"message": said, "code": "batch_failed"}}))
        await self._send([id for id in waiting if id not in wrong])


def _as_line(id: str, body: bytes) -> bytes:
    line = {"custom_id": id, "method": "POST", "url": _URL, "body": json.loads(body)}
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _parts(lines: Sequence[tuple[str, bytes]], most: int) -> Iterator[list[str]]:
    """Ids in parts of at most `most` lines and as many bytes as a file may have."""
    part: list[str] = []
    size = 0
    for id, body in lines:
        if part and (len(part) >= most or size + len(body) > _MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(id)
        size += len(body) + 200
    if part:
        yield part


def _read_answers(text: str) -> dict[str, Answer]:
    """Answers by custom id; lines that are not as the API gives them are no answers."""
    found: dict[str, Answer] = {}
    for line in text.split("\n"):
        try:
            row = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            continue
        if not isinstance(row, Mapping) or not isinstance(row.get("custom_id"), str):
            continue
        response, error = row.get("response"), row.get("error")
        if isinstance(response, Mapping) and isinstance(response.get("status_code"), int):
            found[row["custom_id"]] = response["status_code"], response.get("body")
        elif isinstance(error, Mapping) and error.get("code") not in ("batch_expired", "batch_cancelled"):
            found[row["custom_id"]] = 500, {"error": dict(error)}
    return found
