"""What the commands say about data sets of a hub that is not there, or does not have them."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


class _Nothing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if "/datasets/" in self.path:
            self.server.asked.append(self.path)  # type: ignore[attr-defined]
        if "gone" in self.path:
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
        else:
            self.send_response(503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Nothing)
    server.asked = []  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def _said(tmp_path: Path, endpoint: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}
    command = [sys.executable, "-c", "from biasscope.apps.cli.main import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)


def test_no_hub_is_one_line_after_one_request(tmp_path: Path, hub: ThreadingHTTPServer) -> None:
    port = hub.server_address[1]
    said = _said(tmp_path, f"http://127.0.0.1:{port}", "data", "inspect", "no/hub")
    assert said.returncode == 2 and said.stdout == ""
    assert said.stderr.startswith("biasscope: 'no/hub' is no file or folder here, and the hub cannot be asked")
    assert said.stderr.endswith("check the path, or the network\n") and said.stderr.count("\n") == 1
    assert len(hub.asked) == 1  # type: ignore[attr-defined]


def test_a_name_that_the_hub_does_not_have(tmp_path: Path, hub: ThreadingHTTPServer) -> None:
    port = hub.server_address[1]
    model = "openai:any@http://127.0.0.1:9/v1"
    run = ("discover", "--judge", model, "--teacher", model, "--target", "is/gone", "--embedder", model)
    said = _said(tmp_path, f"http://127.0.0.1:{port}", *run)
    assert said.returncode == 2
    assert said.stderr.startswith("biasscope: 'is/gone' is no file or folder here and no data set on the hub")
    assert said.stderr.count("\n") == 1
    assert len(hub.asked) == 1  # type: ignore[attr-defined]
    assert not [path for path in (tmp_path / "biasscope-workspace").iterdir() if path.is_dir()]
