"""Decisions in the browser become library events with author and reason, can be undone, and never overwrite."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from biasscope.apps.web import decisions
from biasscope.apps.web.guard import Form
from biasscope.bias_library.bias import make_bias
from biasscope.bias_library.events import Stamp, add
from biasscope.bias_library.library import load_library
from biasscope.core.errors import LibraryError
from biasscope.core.records import LibraryEvent
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

WHY = "read all the pairs"


@pytest.fixture
def app(serve, run_with, tmp_path):
    events, stamp = [], Stamp("small", 0, "biasscope")
    for name, definition, status in (
        ("Loud titles", "The judge rewards headings in capitals.", "candidate"),
        ("Big headings", "The judge rewards large headings.", "valid"),
        ("Warm words", "The judge rewards warmth and, apart from that, flattery.", "inconclusive"),
    ):
        events.append(add(stamp, make_bias(name, definition, origin="discovered"), status))
        stamp = stamp.next()
    run_with(tmp_path, "small", *events)
    served = serve(tmp_path)
    served.ids = {e.payload["bias"]["name"]: e.bias_id for e in events}
    return served


def library(app):
    with app.store("small") as store:
        return load_library(store, "small")


def entry(app, name):
    return library(app).entries[app.ids[name]]


def last(app):
    """The line that was written last."""
    return library(app).events[-1]


@pytest.fixture
def decide(app, visit):
    page = visit(f"{app.url}/runs/small")

    def decided(name, kind, fill=None, reason=WHY):
        page.goto(f"{app.url}/runs/small/biases/{app.ids[name]}")
        page.locator(".actions > details > summary", has_text=kind).click()
        form = page.locator(".actions > details[open] form")
        for field, text in (fill or {}).items():
            form.locator(f"[name={field}]").fill(text)
        form.locator("[name=reason]").fill(reason)
        form.locator(":scope > button").click()
        return page

    decided.page = page
    return decided


@pytest.mark.parametrize(
    ("name", "kind", "status"),
    [
        ("Loud titles", "Approve", "valid"),
        ("Big headings", "Reject", "rejected"),
        ("Big headings", "Retire", "retired"),
    ],
)
def test_approve_reject_retire_and_undo(app, decide, name, kind, status):
    before = entry(app, name).status
    page = decide(name, kind)
    expect(page.get_by_role("status").first).to_contain_text("Written")
    expect(page.locator("h1 .pill")).to_have_text(status)
    event = last(app)
    assert (entry(app, name).status, event.author, event.reason) == (status, "Ada", WHY)
    assert event.payload["at"].startswith("20")
    row = page.locator("section[aria-labelledby=history] tbody tr").first
    expect(row).to_contain_text(WHY)
    row.get_by_text("Undo").click()
    row.locator("[name=reason]").fill("too soon")
    row.get_by_role("button", name="Take back").click()
    expect(page.locator("h1 .pill")).to_have_text(before)
    assert (last(app).kind, last(app).reason, entry(app, name).status) == ("undo", "too soon", before)
    expect(page.locator("tr.undone")).to_contain_text(WHY)


def test_an_undo_can_be_undone(app, decide):
    page = decide("Loud titles", "Approve")
    for expected in ("candidate", "valid"):
        row = page.locator("section[aria-labelledby=history] tbody tr").first
        row.get_by_text("Undo").click()
        row.locator("[name=reason]").fill("again")
        row.get_by_role("button", name="Take back").click()
        expect(page.locator("h1 .pill")).to_have_text(expected)
        assert entry(app, "Loud titles").status == expected


def test_rename_and_edit(app, decide):
    decide("Loud titles", "Rename", {"name": "Shouted headings"})
    assert entry(app, "Loud titles").bias.name == "Shouted headings"
    page = decide(
        "Loud titles", "Edit", {"definition": "Capitals in headings are rewarded.", "manifestation": "ALL CAPS"}
    )
    expect(page.locator(".definition")).to_have_text("Capitals in headings are rewarded.")
    bias = entry(app, "Loud titles").bias
    assert (bias.definition, bias.manifestation) == ("Capitals in headings are rewarded.", "ALL CAPS")
    assert [e.kind for e in library(app).history(app.ids["Loud titles"])] == ["add", "rename", "edit"]


def test_merge_with_a_name_that_is_suggested(app, decide):
    page = decide.page
    page.goto(f"{app.url}/runs/small/biases/{app.ids['Loud titles']}")
    page.locator(".actions summary", has_text="Merge").click()
    page.locator("[name=into]").press_sequentially("big head")
    expect(page.locator("#names option")).to_have_count(1)
    assert page.locator("#names option").get_attribute("value") == app.ids["Big headings"]
    page.locator("[name=into]").fill("Big headings")
    page.locator(".actions > details[open] [name=reason]").fill(WHY)
    page.locator(".actions > details[open] form > button").click()
    expect(page.locator("h1 .pill")).to_have_text("merged")
    assert entry(app, "Loud titles").merged_into == app.ids["Big headings"]
    page.get_by_role("link", name="Big headings").first.click()
    expect(page.get_by_role("heading", name="Merged into it")).to_be_visible()


def test_split_into_parts(app, decide):
    parts = {"name1": "Warmth", "definition1": "Warm words are rewarded.", "name2": "Flattery"}
    parts |= {"definition2": "Praise of the user is rewarded."}
    page = decide("Warm words", "Split", parts)
    expect(page.locator("h1 .pill")).to_have_text("retired")
    found = library(app)
    children = [found.entries[i] for i in found.entries[app.ids["Warm words"]].split_into]
    assert {(c.bias.name, c.status, c.bias.origin) for c in children} == {
        ("Warmth", "candidate", "split"),
        ("Flattery", "candidate", "split"),
    }
    assert {c.parents for c in children} == {(app.ids["Warm words"],)}


@pytest.mark.parametrize(
    ("kind", "fill", "said"),
    [
        ("Rename", {"name": "Loud titles"}, "this is its name already"),
        ("Edit", {}, "changes nothing"),
        ("Merge", {"into": "no such bias"}, "no bias 'no such bias' in this library"),
        ("Merge", {"into": "Loud titles"}, "that one is part of it"),
        ("Split", {"name1": "One", "definition1": "x", "name2": "One", "definition2": "x"}, "at least two different"),
        ("Approve", {}, "a decision needs a reason"),
    ],
)
def test_what_cannot_be_is_said_in_one_line_and_writes_nothing(app, decide, kind, fill, said):
    before = library(app).events
    page = decide("Loud titles", kind, fill, reason="   " if kind == "Approve" else WHY)
    expect(page.locator("#problem")).to_contain_text(said)
    assert library(app).events == before


def test_a_page_that_is_out_of_date_decides_nothing(app, visit):
    ada, bob = (visit(f"{app.url}/runs/small/biases/{app.ids['Loud titles']}") for _ in range(2))
    for page, kind in ((ada, "Approve"), (bob, "Reject")):
        page.locator(".actions summary", has_text=kind).click()
        page.locator(".actions > details[open] [name=reason]").fill(WHY)
    ada.locator(".actions > details[open] form > button").click()
    expect(ada.locator("h1 .pill")).to_have_text("valid")
    bob.locator(".actions > details[open] form > button").click()
    expect(bob.locator("#problem")).to_contain_text("Ada has decided about this bias since you loaded the page")
    assert entry(app, "Loud titles").status == "valid"


def test_the_reason_is_asked_for_by_the_browser_too(app, decide):
    page = decide.page
    page.goto(f"{app.url}/runs/small/biases/{app.ids['Loud titles']}")
    page.locator(".actions summary", has_text="Approve").click()
    page.locator(".actions > details[open] form > button").click()
    assert page.locator(".actions > details[open] [name=reason]").evaluate("i => i.validity.valueMissing")
    assert entry(app, "Loud titles").status == "candidate"


def test_many_at_once_lose_nothing(app):
    """Twenty people decide on one bias at the same moment: every line is there, in an order that all see."""
    with app.site.lease("small") as run:
        names = [f"name {k}" for k in range(20)]
        forms = [Form(kind=["rename"], name=[n], reason=[WHY]) for n in names]
        with ThreadPoolExecutor(20) as pool:
            made = list(pool.map(lambda f: decisions.decide(run, app.ids["Loud titles"], f, f.one("name")), forms))
    with app.store("small") as store:
        lines = [e for e in store.select(LibraryEvent, run_id="small") if e.kind == "rename"]
    assert sorted(e.id for e in lines) == sorted(e.id for e in made)
    assert sorted(e.payload["name"] for e in lines) == sorted(names)
    assert len({e.seq for e in lines}) == 20
    newest = max(lines, key=lambda e: e.seq)
    assert entry(app, "Loud titles").bias.name == newest.payload["name"]


def test_of_many_who_saw_the_same_page_one_decides(app):
    with app.site.lease("small") as run:
        bias_id = app.ids["Loud titles"]
        seen = str(decisions.seen(library(app), bias_id))
        forms = [Form(kind=["rename"], name=[f"name {k}"], reason=[WHY], seen=[seen]) for k in range(12)]

        def tried(form):
            try:
                return decisions.decide(run, bias_id, form, "Ada")
            except LibraryError:
                return None

        with ThreadPoolExecutor(12) as pool:
            made = [event for event in pool.map(tried, forms) if event]
    assert len(made) == 1
    assert entry(app, "Loud titles").bias.name == made[0].payload["name"]
