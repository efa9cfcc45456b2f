"""A run that goes on is seen live, without loading the page again."""

import json
import re
import subprocess
import sys
import threading
import time

import pytest
from biasscope.core.records import Candidate, Failure
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create
from biasscope.simulation.scripted import Reply
from playwright.sync_api import expect
from world_runs import FaultyWorld, draw, settings


@pytest.fixture
def slow(easy, small_data):
    """A world that answers nothing until the first gate opens, nothing about the test pairs until the second does, and
    refuses some items for good."""
    gates = threading.Event(), threading.Event()
    tested = [json.loads(line)["prompt"] for line in (small_data / "test.jsonl").read_text().splitlines()]

    def fault(body, times):
        gates[0].wait()
        if any(prompt in message["content"] for message in body["messages"] for prompt in tested):
            gates[1].wait()
        return Reply(text=None, refusal="I cannot help with that.") if draw(body, 9) == 0 else None

    with FaultyWorld(easy, fault, keep=10) as world:
        world.gates = gates
        yield world
        for gate in gates:
            gate.set()


@pytest.mark.slow
def test_a_discovery_is_watched_from_its_start_to_its_end(serve, visit, slow, small_data, tmp_path):
    priced = {"price_input": 2.0, "price_output": 8.0}
    more = {"budget": {"calls": 100_000, "cost": 50}, "discovery": {"iterations": 1}, "test": {"limit": 20}}
    values = settings(small_data, tmp_path / "w", slow.url, name="live", judge=priced, teacher=priced, **more)
    folder = create(load_config(None, (), values))
    command = [sys.executable, "-m", "biasscope", "resume", str(folder.path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not folder.is_running() and process.poll() is None:
            time.sleep(0.1)
        app = serve(tmp_path / "w")
        page = visit(f"{app.url}/runs/live/watch")
        expect(page.locator("#now .pill").first).to_have_text(re.compile("running|starting"))
        expect(page.locator(".stage")).to_contain_text("perturb")
        expect(page.get_by_text("None yet.")).to_be_visible()
        page.evaluate("window.same = true")
        calls = page.locator("section[aria-labelledby=h-budget] dl > div", has_text="Calls").locator("dd")
        slow.gates[0].set()
        expect(page.locator(".stage")).to_contain_text("validate")
        expect(page.locator("section[aria-labelledby=h-newest] li").first).to_be_visible()
        expect(page.locator("section[aria-labelledby=h-failures] tbody tr").first).to_be_visible()
        expect(calls).to_have_text(re.compile("^[1-9][0-9]*of 100,000"))
        before = calls.inner_text()
        slow.gates[1].set()
        expect(calls).not_to_have_text(before)
        assert process.wait() == 0
        expect(page.locator("#now .pill").first).to_have_text("finished")
    finally:
        for gate in slow.gates:
            gate.set()
        process.kill()
        process.wait()
    assert page.evaluate("window.same") is True, "no page was loaded again"
    with app.store("live") as store:
        candidates = [c.name for c in store.select(Candidate, run_id="live")]
        failures, usage = store.select(Failure, run_id="live"), store.usage("live")
    assert candidates and failures
    expect(page.locator("#now dl.figures").first).to_contain_text(str(len(candidates)))
    newest = page.locator("section[aria-labelledby=h-newest] li b").all_inner_texts()
    assert sorted(newest) == sorted(candidates)
    budget = page.locator("section[aria-labelledby=h-budget] dl > div")
    cost = sum(u.cost for u in usage if u.cost is not None)
    expect(budget.filter(has_text="Calls")).to_contain_text(f"{sum(u.calls for u in usage):,}of 100,000")
    assert cost > 0
    expect(budget.filter(has_text="Cost")).to_contain_text(f"{cost:.4f}of 50.00" if cost < 1 else f"{cost:.2f}of 50.00")
    rows = page.locator("section[aria-labelledby=h-failures] tbody tr")
    told = [int(n.replace(",", "")) for n in rows.locator("td[data-label=Items]").all_inner_texts()]
    assert sum(told) == len(failures)
    expect(rows.filter(has_text="refused").first).to_contain_text("the model declined to answer")


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
