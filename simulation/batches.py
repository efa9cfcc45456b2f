"""The files and batches of an OpenAI-compatible server, held in memory, with the faults that providers have."""

import dataclasses
import email
import email.policy
import itertools
import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

Answer = Callable[[dict[str, Any], Mapping[str, str]], tuple[int, bytes]]
_FOUND = tuple[int, bytes]


class _Received(Protocol):
    @property
    def path(self) -> str: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def body(self) -> dict[str, Any]: ...
    @property
    def method(self) -> str: ...
    @property
    def content(self) -> bytes: ...


@dataclasses.dataclass
class BatchDesk:
    """`/v1/files` and `/v1/batches`. Statuses go on by one step each time that a batch is looked at.

    Lines are answered when a batch ends, in their order: right answers in the output file, others in the error file.
    """

    hold: threading.Event | None = None
    """No batch ends before it is set."""
    expires: Callable[[dict[str, Any]], bool] = lambda body: False
    """Lines that are not answered in time; their batch ends as `expired`."""
    cancels: Callable[[int], bool] = lambda number: False
    """Batches, counted from 0, that somebody cancels at the provider before the second half of their lines."""
    most_lines: int | None = None
    """A larger batch fails as providers fail one that has too many tokens."""
    wrong: Callable[[dict[str, Any]], bool] = lambda body: False
    """Lines for which a whole batch fails."""
    loses_reply: Callable[[int], bool] = lambda number: False
    """Batches that are made, while the connection breaks before their id goes out."""
    files: dict[str, bytes] = dataclasses.field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    lines: list[str] = dataclasses.field(default_factory=list)
    """Custom ids of all lines that were answered, so paid for, in order."""
    _numbers: Any = dataclasses.field(default_factory=itertools.count)

    def respond(self, received: _Received, answer: Answer) -> _FOUND | None:
        """Status and body; None for a path that is none of ours, status 0 for a connection that breaks."""
        parts = urlsplit(received.path)
        match [p for p in parts.path.split("/") if p and p != "v1"]:
            case ["files"] if received.method == "POST":
                return self._upload(received)
            case ["files", id, "content"]:
                return (200, self.files[id]) if id in self.files else _error(404, f"No such File object: {id}")
            case ["batches"] if received.method == "POST":
                return self._create(received.body)
            case ["batches"]:
                return self._list(parse_qs(parts.query))
            case ["batches", id]:
                if id not in self.batches:
                    return _error(404, f"No batch found with id '{id}'.")
                self._go_on(self.batches[id], answer)
                return _ok(self.batches[id])
            case _:
                return None

    def _upload(self, received: _Received) -> _FOUND:
        head = f"content-type: {received.headers['content-type']}\r\n\r\n".encode()
        form = email.message_from_bytes(head + received.content, policy=email.policy.HTTP)
        fields = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
        if "file" not in fields or "purpose" not in fields:
            return _error(400, "a file needs 'file' and 'purpose'")
        content = fields["file"].get_payload(decode=True)
        assert isinstance(content, bytes)
        id = self._keep(content)
        return _ok({"id": id, "object": "file", "bytes": len(content), "created_at": int(time.time())} | _FILE)

    def _keep(self, content: bytes) -> str:
        id = f"file-{next(self._numbers)}"
        self.files[id] = content
        return id

    def _create(self, body: dict[str, Any]) -> _FOUND:
        file = body.get("input_file_id")
        if file not in self.files:
            return _error(400, f"No such File object: {file}")
        number = len(self.batches)
        batch = {
            "id": f"batch_{number}",
            "object": "batch",
            "endpoint": body["endpoint"],
            "completion_window": body["completion_window"],
            "input_file_id": file,
            "created_at": int(time.time()),
            "metadata": body.get("metadata"),
            "status": "validating",
        }
        self.batches[batch["id"]] = batch
        return (0, b"") if self.loses_reply(number) else _ok(batch)

    def _list(self, query: dict[str, list[str]]) -> _FOUND:
        newest = list(reversed(self.batches.values()))
        after = query.get("after", [""])[0]
        start = next((k + 1 for k, b in enumerate(newest) if b["id"] == after), 0)
        size = int(query.get("limit", ["20"])[0])
        return _ok({"object": "list", "data": newest[start : start + size], "has_more": start + size < len(newest)})

    def _go_on(self, batch: dict[str, Any], answer: Answer) -> None:
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        if batch["status"] == "validating":
            errors = self._wrong(lines)
            batch["status"] = "failed" if errors else "in_progress"
            if errors:
                batch["errors"] = {"object": "list", "data": errors}
        elif batch["status"] == "in_progress" and (self.hold is None or self.hold.is_set()):
            self._end(batch, lines, answer)

    def _wrong(self, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if self.most_lines is not None and len(lines) > self.most_lines:
            message = (
                "Enqueued token limit reached. Please try again once some in_progress batches have been completed."
            )
            return [{"code": "token_limit_exceeded", "message": message, "line": None, "param": None}]
        message = "The body of this line is not valid."
        return [
            {"code": "invalid_request", "message": message, "line": k, "param": "body"}
            for k, line in enumerate(lines, 1)
            if self.wrong(line["body"])
        ]

    def _end(self, batch: dict[str, Any], lines: list[dict[str, Any]], answer: Answer) -> None:
        cancelled = self.cancels(int(batch["id"].partition("_")[2]))
        late = [k >= len(lines) / 2 if cancelled else self.expires(line["body"]) for k, line in enumerate(lines)]
        output: list[Any] = []
        errors: list[Any] = []
        for line, unanswered in zip(lines, late, strict=True):
            row = {"id": f"batch_req_{next(self._numbers)}", "custom_id": line["custom_id"]}
            if unanswered:
                code = "batch_cancelled" if cancelled else "batch_expired"
                errors.append({**row, "response": None, "error": {"code": code, "message": "not executed in time"}})
                continue
            self.lines.append(line["custom_id"])
            status, body = answer(line["body"], {})
            response = {"status_code": status, "request_id": row["id"], "body": _json(body)}
            (output if status == 200 else errors).append({**row, "response": response, "error": None})
        for name, rows in (("output_file_id", output), ("error_file_id", errors)):
            if rows:
                batch[name] = self._keep("".join(json.dumps(row) + "\n" for row in rows).encode())
        batch["status"] = "cancelled" if cancelled else "expired" if any(late) else "completed"
        batch["request_counts"] = {"total": len(lines), "completed": len(output), "failed": len(errors)}


_FILE = {"filename": "input.jsonl", "purpose": "batch", "status": "processed"}


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode("utf-8", "replace")


def _ok(value: Any) -> _FOUND:
    return 200, json.dumps(value).encode()


def _error(status: int, message: str) -> _FOUND:
    return status, json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode()
