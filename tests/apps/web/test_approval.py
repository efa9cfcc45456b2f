"""A run that stopped for approval goes on from the browser, in a process of its own."""

import re
import time

import pytest
import yaml
from biasscope.bias_library.library import load_library
from playwright.sync_api import expect


@pytest.fixture
def app(serve, workspace):
    return serve(workspace)


def wait_for(look, seconds=90):
    until = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < until:
        time.sleep(0.3)
    return found


def test_some_are_admitted_the_others_rejected_and_the_run_goes_on(app, visit):
    folder = next(f for f in app.site.folders() if f.run_id == "waiting")
    with app.store("waiting") as store:
        waiting = store.note("waiting", "outcome")["waiting_for"]
    assert len(waiting) == 2
    page = visit(f"{app.url}/runs/waiting")
    page.get_by_role("link", name="Decide").click()
    boxes = page.locator("[name=approved]")
    assert boxes.evaluate_all("boxes => boxes.map(b => b.value)") == waiting
    boxes.nth(1).uncheck()
    page.locator("[name=reason]").fill("the second looks like chance")
    page.get_by_role("button", name="Decide, and go on").click()
    expect(page).to_have_url(re.compile("/watch$"))
    expect(page.locator("#now .pill").first).to_have_text(re.compile("starting|running|waiting|finished"))

    def ended():
        with app.store("waiting") as store:
            state = (store.note("waiting", "outcome") or {}).get("state")
            decided = store.note("waiting", "decision:0")
        return decided and state in ("finished", "waiting") and not folder.is_running()

    assert wait_for(ended)
    with app.store("waiting") as store:
        library = load_library(store, "waiting")
    assert library.entries[waiting[0]].status == "valid"
    assert library.entries[waiting[1]].status == "rejected"
    for bias_id in waiting:
        decided = [e for e in library.history(bias_id) if e.kind == "status"]
        assert [(e.author, e.reason) for e in decided] == [("Ada", "the second looks like chance")]
    # The page that was left open says how it ended, without being loaded again.
    expect(page.locator("#now .pill").first).to_have_text(re.compile("waiting|finished"))


def test_a_decision_that_nobody_waits_for_is_refused(app, visit):
    visit.refusals.add(409)
    page = visit(f"{app.url}/runs/first/approval")
    expect(page.get_by_text("Nothing waits")).to_be_visible()
    page.goto(f"{app.url}/runs/waiting/approval")
    page.locator("[name=reason]").fill("why not")
    page.locator("form[action$=approval]").evaluate("f => { f.action = '/runs/first/approval' }")
    page.get_by_role("button", name="Decide, and go on").click()
    expect(page.locator("#problem")).to_contain_text("does not wait for a decision any more")


def test_a_run_that_cannot_go_on_says_why(app, visit, workspace):
    config = workspace / "waiting" / "config.yaml"
    values = yaml.safe_load(config.read_text())
    for role in ("judge", "teacher", "embedder"):
        values[role] |= {"base_url": "http://127.0.0.1:9/v1", "max_retries": 0}
    config.write_text(yaml.safe_dump(values))
    page = visit(f"{app.url}/runs/waiting/approval")
    page.locator("[name=reason]").fill("fine")
    page.get_by_role("button", name="Decide, and go on").click()
    expect(page.locator("#now [role=alert]")).to_contain_text("biasscope:")
    with app.store("waiting") as store:
        assert store.note("waiting", "decision:0") is None
