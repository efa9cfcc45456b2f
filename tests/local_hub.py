"""A model hub on this machine: the part of the hub's HTTP interface that downloads and streamed data sets use."""

import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class LocalHub(ThreadingHTTPServer):
    """Serves `{"datasets/owner/name": {file: bytes}, "owner/name": {file: bytes}}`; `asked` logs method and path.

    `status` other than 0 is the answer to everything: a hub that is down. `tokens` says who may read a gated one.
    """

    daemon_threads = True

    def __init__(self, repos: Mapping[str, Mapping[str, bytes]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repos = repos
        self.asked: list[tuple[str, str]] = []
        self.status = 0
        self.tokens: dict[str, str] = {}

    @property
    def url(self) -> str:
        """What HF_ENDPOINT is set to."""
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextlib.contextmanager
def serve_hub(repos: Mapping[str, Mapping[str, bytes]]) -> Iterator[LocalHub]:
    """A hub that runs until the block ends."""
    with LocalHub(repos) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: LocalHub

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or b"{}"))

    def log_message(self, *args: object) -> None:
        pass

    def _answer(self, body: Mapping[str, object] | None = None) -> None:
        path = unquote(urlsplit(self.path).path)
        self.server.asked.append((self.command, path))
        if self.server.status:
            return self._send(self.server.status, b"")
        api = path.startswith("/api/")
        path = path.removeprefix("/api").strip("/").removeprefix("models/")
        for name, files in self.server.repos.items():
            if path == name or path.startswith(f"{name}/"):
                token = self.server.tokens.get(name)
                if token and self.headers.get("Authorization") != f"Bearer {token}":
                    return self._send(401, b"", {"X-Error-Code": "GatedRepo"})
                rest = path[len(name) :].strip("/").split("/")
                return self._api(name, files, rest, body) if api else self._file(files, "/".join(rest[2:]))
        self._send(404, b"", {"X-Error-Code": "RepoNotFound"})

    def _api(self, name: str, files: Mapping[str, bytes], rest: list[str], body: Mapping[str, object] | None) -> None:
        if rest[0] in ("", "revision"):
            about = {"id": name.removeprefix("datasets/"), "sha": COMMIT, "tags": [], "private": False}
            return self._json(about | {"siblings": [{"rfilename": file} for file in files]})
        listed = [{"type": "file", "path": f, "size": len(b), "oid": _etag(b)} for f, b in files.items()]
        if rest[0] == "tree":
            return self._json(_tree(listed, "/".join(rest[2:]), "recursive=True" in self.path))
        if rest[0] == "paths-info":
            wanted = (body or {}).get("paths", [])
            assert isinstance(wanted, list)
            return self._json([row for row in listed if row["path"] in wanted])
        self._send(404, b"")

    def _file(self, files: Mapping[str, bytes], name: str) -> None:
        if name not in files:
            return self._send(404, b"", {"X-Error-Code": "EntryNotFound"})
        content = files[name]
        headers = {"ETag": f'"{_etag(content)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        if wanted := self.headers.get("Range"):
            first, last = wanted.removeprefix("bytes=").split("-")
            start, stop = int(first), min(int(last or len(content) - 1), len(content) - 1) + 1
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(content)}"
            return self._send(206, content[start:stop], headers)
        self._send(200, content, headers)

    def _json(self, value: object) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _send(self, status: int, content: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _tree(files: list[dict[str, object]], under: str, deep: bool) -> list[dict[str, object]]:
    """Files and folders below a folder; only its own when not `deep`."""
    inside = [row for row in files if not under or str(row["path"]).startswith(f"{under}/")]
    folders = {str(folder) for row in inside for folder in PurePosixPath(str(row["path"])).parents} - {".", under}
    rows = inside + [{"type": "directory", "path": folder, "size": 0, "oid": COMMIT} for folder in sorted(folders)]
    return [row for row in rows if deep or str(PurePosixPath(str(row["path"])).parent) == (under or ".")]


def _etag(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
