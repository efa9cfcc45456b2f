"""The way to the hub, against a server that speaks the hub's protocol; nothing here leaves the machine."""

import base64
import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

PUSH = """
import sys
from pathlib import Path
from biasscope.data.push import push_folder
from biasscope.core.errors import BiasScopeError
try:
    print(push_folder(Path(sys.argv[1]), sys.argv[2], private=sys.argv[3] == "private"))
except BiasScopeError as error:
    print(f"{type(error).__name__}: {error}")
    sys.exit(error.exit_code)
"""


class Hub:
    """Takes a data set as the hub does: create, ask how to send, commit."""

    def __init__(self, refuse=None):
        hub = self
        self.created, self.files, self.tokens, self.refuse = [], {}, set(), refuse

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                self._send(200, {"id": "ada/hard", "sha": "0" * 40, "siblings": [], "private": True})

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                hub.tokens.add(self.headers.get("Authorization"))
                if hub.refuse:
                    return self._send(hub.refuse, {"error": "no"})
                if self.path == "/api/repos/create":
                    hub.created.append(json.loads(body))
                    return self._send(200, {"url": f"http://{self.headers['Host']}/datasets/ada/hard"})
                if "/preupload/" in self.path:
                    files = json.loads(body)["files"]
                    regular = [{"path": f["path"], "uploadMode": "regular", "shouldIgnore": False} for f in files]
                    return self._send(200, {"files": regular})
                if "/commit/" in self.path:
                    for line in body.decode().split("\n"):
                        row = json.loads(line) if line else {}
                        if row.get("key") == "file":
                            hub.files[row["value"]["path"]] = base64.b64decode(row["value"]["content"])
                    return self._send(
                        200,
                        {
                            "commitUrl": f"{hub.url}/datasets/ada/hard/commit/{'0' * 40}",
                            "commitOid": "0" * 40,
                            "success": True,
                        },
                    )
                return self._send(200, {})

            def _send(self, status, value):
                text = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "final"
    (made / "data").mkdir(parents=True)
    (made / "README.md").write_text("---\nlicense: mit\n---\n# Hard\n")
    (made / "data" / "test.parquet").write_bytes(b"PAR1\x00\xff")
    return made


def push(folder, repository, url, visibility="private"):
    environment = {**os.environ, "HF_ENDPOINT": url, "HF_TOKEN": "hf_secret", "HF_HUB_DISABLE_XET": "1",
                   "HF_HOME": str(folder.parent / "home"), "NO_PROXY": "*"}  # fmt: skip
    return subprocess.run(
        [sys.executable, "-c", PUSH, str(folder), repository, visibility],
        capture_output=True, text=True, timeout=120, env=environment,
    )  # fmt: skip


def test_the_folder_arrives_as_it_is(folder):
    with Hub() as hub:
        done = push(folder, "ada/hard", hub.url)
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.search(r"/datasets/ada/hard", done.stdout)
    assert [(c["name"], c["type"], c["visibility"]) for c in hub.created] == [("hard", "dataset", "private")]
    assert hub.files == {
        "README.md": (folder / "README.md").read_bytes(),
        "data/test.parquet": b"PAR1\x00\xff",
    }
    assert hub.tokens == {"Bearer hf_secret"}


def test_a_hub_that_refuses_is_one_line_without_the_token(folder):
    with Hub(refuse=403) as hub:
        done = push(folder, "ada/hard", hub.url, "public")
    assert done.returncode == 3
    assert "BrokenMachine: the hub refused 'ada/hard'" in done.stdout
    assert done.stdout.count("\n") == 1 and "hf_secret" not in done.stdout + done.stderr


def test_a_hub_that_is_not_there_and_a_name_that_is_none(folder):
    gone = push(folder, "ada/hard", "http://127.0.0.1:9")
    assert gone.returncode == 3 and "the hub cannot be reached" in gone.stdout
    bad = push(folder, "a b/../c", "http://127.0.0.1:9")
    assert bad.returncode == 2 and "ConfigError: 'a b/../c' cannot name a data set" in bad.stdout
    empty = push(folder / "data", "ada/hard", "http://127.0.0.1:9")
    assert empty.returncode == 2 and "holds no finished data set" in empty.stdout
