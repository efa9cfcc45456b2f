"""A real browser on the real app, over runs that were made against the planted world."""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import uvicorn
import yaml
from biasscope.apps.web.app import create_app
from biasscope.apps.web.guard import LOOPBACK
from biasscope.apps.web.people import FILE, Reviewer
from biasscope.apps.web.setting import Setting
from biasscope.apps.web.site import Site
from biasscope.core.records import Item, PreferencePair
from biasscope.runs.config import load_config
from biasscope.runs.folder import RunFolder
from biasscope.runs.jobs import create, open_store
from playwright.sync_api import expect, sync_playwright
from world_runs import settings, start, write_sources

SYSTEM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-popup-blocking",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
]
PATIENCE = 60_000
"""Milliseconds until a condition counts as one that never comes: a busy machine is no fault of the app."""
RUNS = {
    "first": {
        "orders": "both",
        "validation": {"batch": 30, "confirm_share": 0.34},
        "test": {"limit": 90},
    },
    "second": {"seed": 3, "discovery": {"iterations": 1}, "test": {"limit": 60}},
    "waiting": {"approve": True, "seed": 7, "test": {"limit": 60}},
}
"""What the tests look at: biases that were confirmed, found valid, merged and not found, and a run that waits."""
expect.set_options(timeout=PATIENCE)


def apart(work, *args, **options):
    """`work(...)` in a thread of its own: Playwright's loop runs in this one, and there can be no second."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work, *args, **options).result()


def _downloaded():
    """The Chromium of `playwright install chromium`, if it is there."""
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


@pytest.fixture(scope="session")
def _chromium(tmp_path_factory):
    """One browser for all tests of this process; its address."""
    program = SYSTEM or apart(_downloaded)
    if program is None:
        pytest.skip("no Chromium on this machine (`make browser`, or Debian: apt-get install chromium)")
    profile = tmp_path_factory.mktemp("chromium")
    command = [program, *FLAGS, "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        said = profile / "DevToolsActivePort"
        until = time.monotonic() + 60
        while not (said.is_file() and said.read_text().count("\n")) and time.monotonic() < until:
            assert process.poll() is None, "Chromium did not start"
            time.sleep(0.02)
        port, path = said.read_text().split()
        yield f"ws://127.0.0.1:{port}{path}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def _driver(_chromium):
    """For one module at a time, so that its loop is gone when other tests need one."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(_chromium)
        yield browser
        browser.close()


@pytest.fixture
def visit(_driver):
    """Opens a page for somebody: each call is a browser profile of its own. What goes wrong in a page fails the test,
    but for answers with a status in `visit.refusals`, or what is said there in words."""
    contexts, wrong = [], []

    def opened(url, **options):
        context = _driver.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
        page.on("console", lambda said: wrong.append(f"{page.url}: {said.text}") if said.type == "error" else None)
        page.on("dialog", lambda dialog: (wrong.append(f"{page.url}: dialog {dialog.message}"), dialog.dismiss()))
        page.goto(url)
        return page

    opened.refusals = set()
    yield opened
    for context in contexts:
        context.close()
    allowed = [f"server responded with a status of {r}" if isinstance(r, int) else r for r in opened.refusals]
    assert [said for said in wrong if not any(part in said for part in allowed)] == []


@pytest.fixture(scope="session")
def settled():
    """`settled(page)`: waits until the parts of a page that come later are there."""
    return lambda page: expect(page.locator("[hx-trigger=load], .htmx-request")).to_have_count(0)


class Served:
    """An app on a port of its own."""

    def __init__(self, workspace: Path, only: RunFolder | None = None, alone: str | None = "Ada", hosts=LOOPBACK):
        self.workspace = workspace
        self.site = Site(workspace, only)
        person = Reviewer(name=alone, role="admin") if alone else None
        self.app = create_app(Setting(self.site, workspace / FILE, person), hosts)
        self.server = uvicorn.Server(
            uvicorn.Config(
                self.app, host="127.0.0.1", port=0, log_level="error", server_header=False, timeout_graceful_shutdown=1
            )
        )
        self.thread = threading.Thread(target=self.server.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        until = time.monotonic() + 30
        while not self.server.started and time.monotonic() < until:
            time.sleep(0.02)
        self.url = f"http://127.0.0.1:{self.server.servers[0].sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_):
        self.server.should_exit = True
        self.thread.join()

    def store(self, run):
        return _store(next(f for f in self.site.folders() if f.run_id == run))


@contextlib.contextmanager
def _store(folder):
    store = open_store(folder)
    try:
        yield store
    finally:
        store.close()


@pytest.fixture
def serve():
    """`serve(workspace, ...)`: the app for as long as the test runs."""
    with contextlib.ExitStack() as stack:
        yield lambda *args, **options: stack.enter_context(Served(*args, **options))


@pytest.fixture(scope="module")
def serve_all():
    """The same for as long as the tests of a module run, for those that only look."""
    with contextlib.ExitStack() as stack:
        yield lambda *args, **options: stack.enter_context(Served(*args, **options))


@pytest.fixture(scope="session")
def _runs(easy, server, tmp_path_factory):
    """The runs are made once, by whichever worker comes first to each; every worker has a copy with its own world."""
    here = tmp_path_factory.getbasetemp()
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    made = (here.parent if worker else here) / "web-runs"
    made.mkdir(exist_ok=True)
    turn = int(worker.removeprefix("gw") or 0) % 2
    for name in list(RUNS)[:: -1 if turn else 1]:
        with (made / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (done := made / f"{name}.done").exists():
                shutil.rmtree(made / name, ignore_errors=True)
                _make_run(name, easy, server.url, made)
                done.touch()
    workspace = here / "workspace"
    for name in RUNS:
        shutil.copytree(made / name, workspace / name)
        config = workspace / name / "config.yaml"
        config.write_text(re.sub(r"http://127\.0\.0\.1:\d+", server.url.removesuffix("/v1"), config.read_text()))
    return workspace


def _make_run(name, world, url, workspace):
    data = workspace.with_name(f"pairs-{name}")
    write_sources(data, world, 24, 120)
    state = apart(start, settings(data, workspace, url, name=name, **RUNS[name])).state
    assert state == ("waiting" if name == "waiting" else "finished")


@pytest.fixture
def waiting_run(easy, server, tmp_path):
    """A workspace with a run that waits, made against this process's world: a run remembers the address of its models
    and goes on with no others."""
    _make_run("waiting", easy, server.url, tmp_path / "waiting-runs")
    return tmp_path / "waiting-runs"


@pytest.fixture
def workspace(_runs, tmp_path):
    """A copy of the finished and the waiting runs, to change at will."""
    return Path(shutil.copytree(_runs, tmp_path / "workspace"))


@pytest.fixture(scope="session")
def shared_workspace(_runs):
    """The runs themselves, for tests that only look."""
    return _runs


@pytest.fixture(scope="session")
def run_with():
    """`run_with(workspace, name, *records)`: the folder of a discovery run that holds just these rows."""

    def made(workspace, name, *records, pairs=(), notes=None, kind="discover"):
        values = {"name": name, "workspace": str(workspace), "judge": "openai:j", "teacher": "openai:t"}
        values |= {"embedder": "openai:e", "target": {"source": "builtin"}, "test": {"source": "builtin"}}
        folder = create(load_config(None, (), values))
        if kind != "discover":
            folder.config.write_text(yaml.safe_dump({"kind": kind, "name": name}), encoding="utf-8")
            folder = RunFolder(folder.path)
        with _store(folder) as store:
            store.write_pairs(name, "search", pairs)
            store.write_now(*records)
            for note, value in (notes or {}).items():
                store.write_note(name, note, value)
        return folder

    return made


@pytest.fixture(scope="session")
def benchmark_with(run_with):
    """`benchmark_with(workspace, name, n)`: a benchmark of n items that wait for annotators."""

    def made(workspace, name="bench", n=6, change=lambda pair: pair):
        pairs = [
            change(
                PreferencePair(
                    id=f"item{k:03}",
                    prompt=f"What is {k} + {k}?",
                    chosen=f"It is {2 * k}.",
                    rejected=f"Say {2 * k + 1}.",
                )
            )
            for k in range(n)
        ]
        items = [
            Item(
                id=f"row{p.id}",
                run_id=name,
                pair_id=p.id,
                source_pair_id="source",
                bias_id="secret-bias",
                perturbation_id="secret-rewrite",
                misled=("judge",),
                misled_before=(),
                answers="unsettled",
            )
            for p in pairs
        ]
        return run_with(workspace, name, *pairs, *items, kind="benchmark")

    return made
