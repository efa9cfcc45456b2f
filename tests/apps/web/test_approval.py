"""A run that stopped for approval goes on from the browser, in a process of its own."""

import re

import pytest
import yaml
from biasscope.apps.web import continuing
from biasscope.bias_library.library import load_library
from playwright.sync_api import expect

WAITS_AGAIN = 4
"""Exit status of a run that stops for the next decision."""


@pytest.fixture
def app(serve, workspace):
    return serve(workspace)


def ended(folder):
    """Waits for the process that the app has started, however long it takes; its exit status."""
    return continuing._started[folder.path].wait()


@pytest.mark.slow
def test_some_are_admitted_the_others_rejected_and_the_run_goes_on(serve, waiting_run, visit):
    app = serve(waiting_run)
    folder = next(f for f in app.site.folders() if f.run_id == "waiting")
    with app.store("waiting") as store:
        waiting = store.note("waiting", "outcome")["waiting_for"]
    assert len(waiting) > 1
    page = visit(f"{app.url}/runs/waiting")
    page.get_by_role("link", name="Decide").click()
    boxes = page.locator("[name=approved]")
    assert boxes.evaluate_all("boxes => boxes.map(b => b.value)") == waiting
    for k in range(1, len(waiting)):
        boxes.nth(k).uncheck()
    page.locator("[name=reason]").fill("only the first looks like more than chance")
    page.get_by_role("button", name="Decide, and go on").click()
    expect(page).to_have_url(re.compile("/watch$"))
    page.evaluate("window.same = true")
    with app.store("waiting") as store:
        before = store.note("waiting", "progress")
    assert ended(folder) in (0, WAITS_AGAIN), (folder.path / continuing.LOG).read_text()
    with app.store("waiting") as store:
        library, state = load_library(store, "waiting"), store.note("waiting", "outcome")["state"]
        assert store.note("waiting", "decision:0")["approved"] == waiting[:1]
        assert store.note("waiting", "progress") != before
    assert [library.entries[i].status for i in waiting] == ["valid"] + ["rejected"] * (len(waiting) - 1)
    for bias_id in waiting:
        decided = [e for e in library.history(bias_id) if e.kind == "status"]
        assert [(e.author, e.reason) for e in decided] == [("Ada", "only the first looks like more than chance")]
    # The page that was left open says how it ended, without being loaded again.
    expect(page.locator("#now .pill").first).to_have_text(state)
    assert page.evaluate("window.same") is True


def test_a_decision_that_nobody_waits_for_is_refused(app, visit):
    visit.refusals.add(409)
    page = visit(f"{app.url}/runs/first/approval")
    expect(page.get_by_text("Nothing waits")).to_be_visible()
    page.goto(f"{app.url}/runs/waiting/approval")
    page.locator("[name=reason]").fill("why not")
    page.locator("form[action$=approval]").evaluate("f => { f.action = '/runs/first/approval' }")
    page.get_by_role("button", name="Decide, and go on").click()
    expect(page.locator("#problem")).to_contain_text("does not wait for a decision any more")


@pytest.mark.slow
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
