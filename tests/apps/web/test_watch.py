"""A run that goes on is seen live, without loading the page again."""

import re
import subprocess
import sys
import threading
import time

import pytest
from biasscope.core.records import Candidate, Failure
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create
from playwright.sync_api import expect
from world_runs import FaultyWorld, settings


@pytest.fixture
def slow(easy):
    """A world that answers nothing until the gate opens."""
    gate = threading.Event()

    def fault(body, times):
        gate.wait(60)

    with FaultyWorld(easy, fault, keep=10) as world:
        world.gate = gate
        yield world
        gate.set()


def test_a_discovery_is_watched_from_its_start_to_its_end(serve, visit, slow, small_data, tmp_path):
    values = settings(small_data, tmp_path / "w", slow.url, name="live", budget={"calls": 100_000})
    folder = create(load_config(None, (), values))
    command = [sys.executable, "-m", "biasscope", "resume", str(folder.path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while not folder.is_running() and time.monotonic() < until:
            time.sleep(0.1)
        app = serve(tmp_path / "w")
        page = visit(f"{app.url}/runs/live/watch")
        expect(page.locator("#now .pill").first).to_have_text(re.compile("running|starting"))
        page.evaluate("window.same = true")
        expect(page.locator(".stage")).to_contain_text("perturb")
        slow.gate.set()
        expect(page.locator("section[aria-labelledby=h-newest] li").first).to_be_visible()
        expect(page.locator("section[aria-labelledby=h-budget]")).to_contain_text("of 100,000")
        expect(page.locator("#now .pill").first).to_have_text("finished", timeout=180_000)
    finally:
        process.kill()
        process.wait()
    assert page.evaluate("window.same") is True
    with app.store("live") as store:
        candidates, failures = store.count(Candidate, run_id="live"), store.count(Failure, run_id="live")
        calls = sum(u.calls for u in store.usage("live"))
    figures = page.locator("#now dl.figures").first
    expect(figures).to_contain_text(str(candidates))
    expect(page.locator("section[aria-labelledby=h-budget]")).to_contain_text(f"{calls:,}")
    rows = page.locator("section[aria-labelledby=h-failures] td[data-label=Items]").all_inner_texts()
    assert sum(int(n.replace(",", "")) for n in rows) == failures


def test_the_stream_ends_with_a_run_that_stands_still(serve, visit, shared_workspace):
    page = visit(f"{serve(shared_workspace).url}/runs/first/watch")
    expect(page.locator("#now .pill").first).to_have_text("finished")
    assert page.locator("#now").get_attribute("hx-sse:connect") is None
    stream = page.request.get(page.url.replace("/watch", "/stream"))
    assert stream.headers["content-type"].startswith("text/event-stream")
    events = [block for block in stream.text().split("\n\n") if block]
    assert len(events) == 2
    assert all(line.startswith("data: ") for line in events[0].split("\n"))
    assert events[1].startswith("event: ended")
