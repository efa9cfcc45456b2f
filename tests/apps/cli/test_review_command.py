"""`biasscope review` as people start it: a process of its own, asked over the network."""

import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from biasscope.apps.cli.main import app
from typer.testing import CliRunner


@contextmanager
def started(*arguments):
    """The app on a free port, until it is no longer wanted; its address, as it says it."""
    command = [sys.executable, "-m", "biasscope", "review", "--port", "0", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = []
    try:
        for line in process.stdout:
            said.append(line)
            if found := re.search(r"https?://\S+", line):
                yield found[0], process.pid, "".join(said)
                return
        raise AssertionError("".join(said))
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def listening(pid):
    """Local addresses on which a process accepts connections, in /proc's spelling."""
    inodes = {str(p.readlink()) for p in Path(f"/proc/{pid}/fd").iterdir() if p.is_symlink()}
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                found.add(fields[1].split(":")[0])
    return found


def reviewers(*arguments):
    return CliRunner().invoke(app, ["reviewers", *map(str, arguments)])


def test_by_default_it_listens_on_the_loopback_only(tmp_path):
    with started(tmp_path) as (url, pid, _):
        assert url.startswith("http://127.0.0.1:")
        assert listening(pid) == {"0100007F"}
        page = httpx.get(url, timeout=60)
        assert page.status_code == 200 and "No run yet" in page.text


def test_for_others_it_asks_for_a_token_and_serves_over_tls(tmp_path):
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    try:
        subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("no openssl on this machine")
    token = reviewers("add", "ada", "--role", "viewer", "--workspace", tmp_path).stdout.strip().splitlines()[0]
    with started(tmp_path, "--host", "0.0.0.0", "--certificate", certificate, "--key", key) as (url, pid, said):
        assert "note:" not in said
        assert listening(pid) == {"00000000"}
        with httpx.Client(base_url=url.replace("0.0.0.0", "127.0.0.1"), verify=False, timeout=60) as client:
            assert client.get("/").headers["location"] == "/login"
            html = client.get("/login")
            assert "secure" in html.headers["set-cookie"].lower()
            csrf = re.search(r'name="csrf" value="([^"]+)"', html.text)[1]
            assert client.post("/login", data={"csrf": csrf, "token": token}).headers["location"] == "/"
            assert client.get("/").status_code == 200


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "nobody could log in; add people with"),
        (["--certificate", "cert.pem"], "--certificate and --key belong together"),
        (["--author", " "], "cannot be a reviewer's name"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(tmp_path, arguments, said):
    done = CliRunner().invoke(app, ["review", str(tmp_path), *arguments])
    assert done.exit_code != 0
    assert said in " ".join(str(done.exception or done.output).split())


def test_reviewers_are_added_listed_and_removed(tmp_path):
    at = ("--workspace", tmp_path)
    assert len(reviewers("add", "ada", "--role", "admin", *at).stdout.splitlines()[0]) > 30
    assert "ada" in (listed := reviewers("list", *at).stdout) and "admin" in listed
    assert reviewers("remove", "ada", *at).exit_code == 0
    assert "ada" not in reviewers("list", *at).stdout
