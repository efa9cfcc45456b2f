"""The annotation queue in the browser: blind, two and then four, settled together, agreement live, nothing lost."""

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from biasscope.apps.web import people
from biasscope.core.records import Annotation, PreferencePair
from biasscope.data.annotations import make_annotation, make_task
from biasscope.validators.adjudication import independent_agreement, standings
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

NAMES = ("Ada", "Bob", "Cyd", "Dan")
LABELS = {"different": "1", "same": "2", "broken": "3", "unsure": "4"}


@pytest.fixture
def desk(serve, benchmark_with, tmp_path):
    """A benchmark of six items, four annotators, and somebody who looks after it."""
    benchmark_with(tmp_path)
    tokens = {name: people.add(tmp_path / people.FILE, name, "annotator") for name in NAMES}
    tokens |= {"Eve": people.add(tmp_path / people.FILE, "Eve", "admin")}
    app = serve(tmp_path)
    app.tokens = tokens
    return app


@pytest.fixture
def enter(desk, visit):
    def entered(name, path="/annotate"):
        page = visit(f"{desk.url}{path}")
        page.fill("[name=token]", desk.tokens[name])
        page.get_by_role("button", name="Log in").click()
        if path != "/annotate":
            page.goto(f"{desk.url}{path}")
        return page

    return entered


def rows(app, run="bench"):
    with app.store(run) as store:
        return store.select(Annotation, run_id=run)


def said(app, item, name, label, round="independent"):
    with app.store("bench") as store:
        store.write_now(make_annotation("bench", item, name.casefold(), label, round=round))


def label(page, key, comment=""):
    page.keyboard.press(LABELS[key])
    if comment:
        page.fill("[name=comment]", comment)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("status").first).to_contain_text("Kept")


def test_an_annotator_sees_one_blind_item_with_the_guidelines_and_labels_by_keyboard(desk, enter):
    page = enter("Ada")
    expect(page).to_have_url(re.compile("/runs/bench/annotate$"))
    html = page.content()
    assert [s for s in ("secret-bias", "secret-rewrite", "rejected", "placebo", "biased", "misled") if s in html] == []
    expect(page.locator(".guidelines h2").first).to_have_text("Guidelines for annotators")
    expect(page.locator(".guidelines table")).to_be_visible()
    item = page.locator("[name=item]").get_attribute("value")
    with desk.store("bench") as store:
        task = make_task(store.get(PreferencePair, item), "independent", 0)
    texts = page.locator("section[aria-label=Item] .text").all_inner_texts()
    assert texts == [task.question, task.answer_a, task.answer_b]
    label(page, "same", "they agree")
    [row] = rows(desk)
    assert (row.item_id, row.annotator, row.label, row.round, row.by) == (item, "ada", "same", "independent", "person")
    assert row.comment == "they agree"
    assert page.locator("[name=item]").get_attribute("value") != item
    expect(page.get_by_text("You have labelled 1; 5 of 6")).to_be_visible()


def test_answers_stand_in_either_order(benchmark_with, serve, tmp_path):
    benchmark_with(tmp_path, n=40)
    with serve(tmp_path).store("bench") as store:
        tasks = [
            make_task(p, "independent", 0) for p in store.get_many(PreferencePair, [f"item{k:03}" for k in range(40)])
        ]
    first = [t.answer_a.startswith("It is") for t in tasks]
    assert 8 < sum(first) < 32


def test_nobody_sees_another_label_before_giving_one(desk, enter):
    said(desk, "item000", "Ada", "different")
    page = enter("Bob")
    for path in ("", "/mine", "/adjudicate"):
        page.goto(f"{desk.url}/runs/bench/annotate{path}")
        assert "ada" not in page.locator("main").inner_text().casefold()
    expect(page.get_by_text("Nothing is to be settled by you")).to_be_visible()
    assert page.request.get(f"{desk.url}/runs/bench/annotate/progress").status == 403


def test_who_looks_after_the_work_sees_no_label_that_is_still_to_be_given(desk, enter):
    """An admin may label too."""
    said(desk, "item000", "Ada", "different")
    page = enter("Eve", "/runs/bench/annotate/progress")
    labels = page.locator("section[aria-labelledby=h-labels]")
    expect(labels.locator("dd")).to_have_text(["0"] * len(LABELS))
    expect(labels.locator("tr")).to_have_text(["ada1"])
    said(desk, "item000", "Bob", "different")
    expect(labels.locator("dd").first).to_have_text("2")
    page.goto(f"{desk.url}/runs/bench/annotate?item=item001")
    assert "different" not in page.locator("section[aria-label=Item]").inner_text()
    expect(page.locator("input[name=label]:checked")).to_have_count(0)


def test_two_then_four_then_settled_and_the_figures_are_live(desk, enter):
    said(desk, "item001", "Ada", "same")
    said(desk, "item001", "Bob", "same")
    watching = enter("Eve", "/runs/bench/annotate/progress")
    expect(watching.get_by_text("Wait for two").locator("xpath=..")).to_contain_text("5")
    for name, given in zip(NAMES[:2], ("different", "same"), strict=True):
        page = enter(name, "/runs/bench/annotate?item=item000")
        label(page, given)
    expect(watching.get_by_text("Wait for a third and fourth").locator("xpath=..")).to_contain_text("1")
    for name, given in zip(NAMES[2:], ("same", "different"), strict=True):
        page = enter(name, "/runs/bench/annotate?item=item000")
        assert page.locator("[name=round]").get_attribute("value") == "review"
        assert "different" not in page.locator("section[aria-label=Item]").inner_text()
        label(page, given)
    expect(watching.get_by_text("Wait to be settled").locator("xpath=..")).to_contain_text("1")
    found = independent_agreement(standings([f"item{k:03}" for k in range(6)], rows(desk)).values())
    expect(watching.locator("#kappa")).to_have_text(f"{found.kappa:.2f}")
    page.goto(f"{desk.url}/runs/bench/annotate/adjudicate")
    expect(page.locator("section[aria-labelledby=h-said] li")).to_have_text(
        ["ada: different", "bob: same", "cyd: same", "dan: different"]
    )
    label(page, "broken", "the question is cut off")
    stands = standings(["item000"], rows(desk))["item000"]
    assert (stands.label, stands.how, stands.adjudicated.annotator) == ("broken", "adjudication", "dan")
    expect(watching.get_by_text("Settled", exact=True).locator("xpath=..")).to_contain_text("1")


def test_a_label_can_be_changed_and_nothing_is_overwritten(desk, enter):
    page = enter("Ada", "/runs/bench/annotate?item=item002")
    label(page, "unsure")
    page.get_by_role("link", name="Yours").click()
    page.locator("tbody a").click()
    expect(page.locator("h1")).to_have_text("Look again")
    expect(page.locator("input[value=unsure]")).to_be_checked()
    label(page, "same")
    assert [r.label for r in sorted(rows(desk), key=lambda r: r.time)] == ["unsure", "same"]
    assert standings(["item002"], rows(desk))["item002"].independent[0].label == "same"


def test_two_people_at_one_item_both_count(desk, enter):
    pages = [enter(name, "/runs/bench/annotate?item=item003") for name in ("Ada", "Bob", "Cyd")]
    for page, given in zip(pages, ("same", "same", "different"), strict=True):
        label(page, given)
    assert Counter((r.annotator, r.label) for r in rows(desk)) == Counter(
        {("ada", "same"): 1, ("bob", "same"): 1, ("cyd", "different"): 1}
    )
    assert standings(["item003"], rows(desk))["item003"].label == "same"


def test_people_get_different_work_as_long_as_there_is_some(desk, enter):
    given = [enter(name).locator("[name=item]").get_attribute("value") for name in NAMES]
    assert max(Counter(given).values()) <= 2
    again = enter("Ada").locator("[name=item]").get_attribute("value")
    assert again == given[0]


def test_an_annotator_who_is_not_one_of_the_four_may_not_settle(desk, enter, visit):
    visit.refusals.add(409)
    for name, given in zip(("Ada", "Bob"), ("different", "same"), strict=True):
        said(desk, "item000", name, given)
    for name, given in (("Cyd", "same"), ("Eve", "different")):
        said(desk, "item000", name, given, "review")
    page = enter("Dan", "/runs/bench/annotate/adjudicate?item=item000")
    expect(page.locator("#problem")).to_contain_text("not yours to settle")
    assert "ada" not in page.locator("main").inner_text().casefold()
    page = enter("Dan", "/runs/bench/annotate")
    page.locator("[name=round]").evaluate("i => { i.value = 'adjudication' }")
    page.locator("[name=item]").evaluate("i => { i.value = 'item000' }")
    page.keyboard.press("1")
    page.fill("[name=comment]", "me first")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#problem")).to_contain_text("not yours to settle")
    assert [r for r in rows(desk) if r.round == "adjudication"] == []


class Person:
    """An annotator without a browser, for load: logs in, reads the page, sends its form."""

    def __init__(self, url, token):
        self.client = httpx.Client(base_url=url, follow_redirects=True, timeout=60)
        self.token = token

    def __enter__(self):
        self.post("/login", self.client.get("/login").text, token=self.token)
        return self

    def __exit__(self, *_):
        self.client.close()

    def post(self, path, html, **fields):
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', html))
        answer = self.client.post(path, data=hidden | fields)
        assert answer.status_code == 200, answer.text
        return answer.text


def test_twenty_at_once_lose_nothing_and_write_nothing_twice(serve, benchmark_with, tmp_path):
    benchmark_with(tmp_path, n=30)
    tokens = [people.add(tmp_path / people.FILE, f"P{k:02}", "annotator") for k in range(20)]
    app = serve(tmp_path)

    def work(who):
        k, token = who
        sent = []
        with Person(app.url, token) as person:
            for step in range(12):
                html = person.client.get("/runs/bench/annotate").text
                if 'name="item"' not in html:
                    break
                item = re.search(r'name="item" value="(\w+)"', html)[1]
                given = list(LABELS)[(k + step) % 4]
                person.post("/runs/bench/annotate", html, label=given, comment=f"{k}.{step}")
                if step % 3 == 0:  # the same form again, as by a double click
                    person.post("/runs/bench/annotate", html, label=given, comment=f"{k}.{step}")
                sent.append((item, f"p{k:02}", given, f"{k}.{step}"))
        return sent

    with ThreadPoolExecutor(20) as pool:
        sent = [row for rows_ in pool.map(work, enumerate(tokens)) for row in rows_]
    kept = [(r.item_id, r.annotator, r.label, r.comment) for r in rows(app)]
    assert len(sent) > 60
    assert Counter(kept) == Counter(sent)
    assert max(Counter(kept).values()) == 1
