"""The library page: every bias with its figures, filters, order, search by words and by meaning."""

import numpy as np
import pytest
from biasscope.bias_library.bias import bias_text, make_bias
from biasscope.bias_library.diff import decisive
from biasscope.bias_library.events import Stamp, Support, add
from biasscope.bias_library.library import append_now, load_library
from biasscope.core.records import Validation
from biasscope.runs.jobs import open_store
from playwright.sync_api import expect

NAMES = "main table.library tbody .name"


@pytest.fixture(scope="module")
def app(serve_all, shared_workspace):
    return serve_all(shared_workspace)


@pytest.fixture
def page(app, visit):
    with app.store("first") as store:
        library, validations = load_library(store, "first"), store.select(Validation, run_id="first")
    opened = visit(f"{app.url}/runs/first")
    opened.library, opened.effects = library, decisive(validations)
    return opened


def names(page):
    return page.locator(NAMES).all_inner_texts()


def test_every_bias_is_listed_with_what_the_store_says(page):
    assert sorted(names(page)) == sorted(entry.bias.name for entry in page.library)
    for entry in page.library:
        row = page.locator(f"tr:has(a[href$='/{entry.bias.id}'])")
        expect(row.locator(".pill")).to_have_text(entry.status)
        support = row.locator("td[data-label=Support]")
        expect(support).to_contain_text(str(entry.support.misjudgments))
        effect = row.locator("td[data-label='Effect, points']")
        if (found := page.effects.get(entry.bias.id)) is None:
            expect(effect).to_have_text("not tested")
        else:
            expect(effect).to_contain_text(f"{found.effect:+.1f}".replace("-", "−").replace("+0.0", "0.0"))
            expect(row.locator("svg.interval circle")).to_have_count(1)


def test_filters_change_the_list_and_the_address_without_a_new_page(page):
    page.evaluate("window.same = true")
    status = next(iter({entry.status for entry in page.library} - {"seed"}))
    page.get_by_text(status, exact=False).locator("visible=true").first.click()
    expect(page.locator(".library .pill").first).to_have_text(status)
    assert set(page.locator(".library .pill").all_inner_texts()) == {status}
    assert len(names(page)) == sum(entry.status == status for entry in page.library)
    assert f"status={status}" in page.url
    page.select_option("[name=origin]", "seed")
    page.wait_for_url("**origin=seed**")
    assert page.evaluate("window.same") is True
    page.reload()
    expect(page.locator("[name=origin]")).to_have_value("seed")


def test_order_by_a_column(page):
    page.get_by_role("link", name="Effect, points").click()
    page.wait_for_url("**sort=effect**")
    expect(page.locator("th[aria-sort]")).to_have_attribute("aria-sort", "descending")
    tested = [page.effects[e.bias.id] for e in page.library if e.bias.id in page.effects]
    shown = page.locator(f"{NAMES}").evaluate_all("links => links.map(a => a.href.split('/').pop())")
    effects = [page.effects[i].effect for i in shown if i in page.effects]
    assert effects == sorted((v.effect for v in tested), reverse=True)
    assert all(i in page.effects for i in shown[: len(tested)])
    page.get_by_role("link", name="Effect, points").click()
    expect(page.locator("th[aria-sort]")).to_have_attribute("aria-sort", "ascending")


def test_search_by_words(page):
    page.evaluate("window.same = true")
    page.keyboard.press("/")
    page.keyboard.type("authorities EXPERTS")
    expect(page.locator(NAMES)).to_have_count(1)
    assert names(page) == ["Authority bias"]
    assert page.evaluate("window.same") is True
    page.fill("#q", "nothing is called like this")
    expect(page.get_by_text("No bias fits")).to_be_visible()


def test_search_by_meaning_puts_the_nearest_first(page, easy):
    """The run's own embedder (the planted world's endpoint) gives the vectors; the order is that of their cosines."""
    target = next(entry for entry in page.library if entry.bias.origin == "discovered" and not entry.merged_into)

    def vector(text):
        found = np.array(easy.embeddings({"input": [text]})["data"][0]["embedding"])
        return found / np.linalg.norm(found)

    asked = vector(target.bias.definition)
    cosines = {e.bias.id: vector(bias_text(e.bias.name, e.bias.definition)) @ asked for e in page.library}
    page.select_option("[name=by]", "meaning")
    page.fill("#q", target.bias.definition)
    expect(page.get_by_text("the nearest in meaning first")).to_be_visible()
    shown = page.locator(NAMES).evaluate_all("links => links.map(a => a.href.split('/').pop())")
    assert cosines[shown[0]] == pytest.approx(max(cosines.values()), abs=1e-4)
    assert [cosines[i] for i in shown] == pytest.approx(sorted(cosines.values(), reverse=True)[: len(shown)], abs=1e-4)
    nearness = [float(t.split()[0]) for t in page.locator("td .sub", has_text="near").all_inner_texts()]
    assert nearness == pytest.approx([cosines[i] for i in shown], abs=0.006)
    assert nearness[0] > nearness[-1]


def test_filters_narrow_a_search_by_meaning_and_nothing_that_fits_is_crowded_out(serve, visit, workspace):
    app = serve(workspace)
    folder = next(f for f in app.site.folders() if f.run_id == "first")
    with_biases(folder, *((f"Authority habit {k}", f"Names authorities, way {k}.") for k in range(60)))
    with app.store("first") as store:
        seeds = [entry.bias.id for entry in load_library(store, "first") if entry.status == "seed"]
    page = visit(f"{app.url}/runs/first?q=names+authorities&by=meaning")
    expect(page.locator(NAMES)).to_have_count(50)
    page.locator(".chip", has_text="seed").click()
    expect(page.locator(NAMES)).to_have_count(len(seeds))
    assert page.locator("thead a").count() == 0, "in the order of nearness there is no other"


def test_without_its_embedder_a_search_by_meaning_says_why_and_searches_words(serve, visit, run_with, tmp_path):
    folder = run_with(tmp_path, "lonely")
    with_biases(folder, ("Nautical tone", "Images of ships are taken for insight."))
    app = serve(tmp_path)
    page = visit(f"{app.url}/runs/lonely?q=ships&by=meaning")
    expect(page.get_by_role("alert").filter(has_text="search by meaning cannot be used here")).to_be_visible()
    assert names(page) == ["Nautical tone"]


def test_a_search_by_meaning_that_cannot_be_made_does_not_say_that_no_bias_fits(serve, visit, run_with, tmp_path):
    with_biases(run_with(tmp_path, "lonely"), ("Nautical tone", "Images of ships are taken for insight."))
    page = visit(f"{serve(tmp_path).url}/runs/lonely?q=boats+and+harbours&by=meaning")
    expect(page.get_by_role("alert").filter(has_text="search by meaning cannot be used here")).to_be_visible()
    expect(page.get_by_text("No bias fits")).to_have_count(0)
    expect(page.locator("#found [role=status]")).to_have_text(
        "Not searched by meaning; no bias has all of these words."
    )
    page.get_by_role("link", name="Show all").click()
    expect(page.locator(NAMES)).to_have_text(["Nautical tone"])


FIGURES = {
    "Alpha": ("valid", "discovered", 12.0, 90.0, 3, "openai:small"),
    "Beta": ("inconclusive", "discovered", -2.5, 0.4, 9, "openai:large"),
    "Gamma": ("rejected", "seed", 3.5, 2.0, 1, "openai:small"),
    "Delta": ("candidate", "split", None, None, 5, ""),
}
"""By name: status, origin, effect, e-value, support and judge."""


@pytest.fixture
def compared(serve, run_with, tmp_path):
    """A library that two judges were tested on, with known figures."""
    rows = []
    for k, (name, (status, origin, effect, e_value, support, judge)) in enumerate(FIGURES.items()):
        bias = make_bias(name, f"The judge rewards {name}.", origin=origin)
        found = Support.of([f"c{k}{n}" for n in range(support)], ["p1", "p2"])
        stamp = Stamp("compared", k, "biasscope", iteration=3 - k if origin == "discovered" else None)
        rows.append(add(stamp, bias, status, found))
        if judge:
            decision = "valid" if status == "valid" else "inconclusive"
            rows.append(
                Validation(
                    id=f"v{k}", run_id="compared", bias_id=bias.id, iteration=0, judge=judge, pair_set="search",
                    rule="eprocess", n=100, harms=20, repairs=10, error_reference=0.1, error_bias=0.2, effect=effect,
                    interval=(effect - 4, effect + 4), interval_method="tango", e_value=e_value, decision=decision,
                    reason="",
                )
            )  # fmt: skip
    run_with(tmp_path, "compared", *rows)
    return serve(tmp_path)


def test_every_figure_of_a_bias_is_in_its_row(compared, visit):
    page = visit(f"{compared.url}/runs/compared")
    expect(page.locator(NAMES)).to_have_count(4)
    for name, (status, origin, effect, e_value, support, judge) in FIGURES.items():
        row = page.locator(".library tbody tr", has=page.get_by_role("link", name=name, exact=True))
        expect(row.locator(".pill")).to_have_text(status)
        expect(row.locator("td[data-label='Found in']")).to_contain_text(origin)
        expect(row.locator("td[data-label=Support]")).to_have_text(f"{support}2 pairs")
        expect(row.locator("td[data-label=Judge]")).to_have_text(judge or "–")
        shown = row.locator("td[data-label='Effect, points']").inner_text().replace("−", "-").split("\n")
        if effect is None:
            assert shown == ["not tested"]
        else:
            assert [s.strip() for s in shown if s.strip()] == [
                f"{effect:+.1f}",
                f"{effect - 4:+.1f} to {effect + 4:+.1f}",
            ]
            expect(row.locator("td[data-label=Evidence]")).to_contain_text(f"e = {e_value:g}")


def test_judge_origin_and_status_filter_together(compared, visit):
    page = visit(f"{compared.url}/runs/compared")
    page.select_option("[name=judge]", "openai:small")
    expect(page.locator(NAMES)).to_have_text(["Alpha", "Gamma"])
    page.select_option("[name=origin]", "seed")
    expect(page.locator(NAMES)).to_have_text(["Gamma"])
    page.select_option("[name=origin]", "")
    for status in ("valid", "candidate"):
        page.locator(".chip", has_text=status).click()
    expect(page.locator(NAMES)).to_have_text(["Alpha"])
    page.select_option("[name=judge]", "")
    expect(page.locator(NAMES)).to_have_text(["Alpha", "Delta"])
    page.fill("#q", "rewards del")
    expect(page.locator(NAMES)).to_have_text(["Delta"])


@pytest.mark.parametrize(
    ("column", "first", "then"),
    [
        ("Bias", "Alpha Beta Delta Gamma", "Gamma Delta Beta Alpha"),
        ("Effect, points", "Alpha Gamma Beta Delta", "Beta Gamma Alpha Delta"),
        ("Evidence", "Alpha Gamma Beta Delta", "Beta Gamma Alpha Delta"),
        ("Support", "Beta Delta Alpha Gamma", "Gamma Alpha Delta Beta"),
        ("Found in", "Beta Alpha Delta Gamma", "Alpha Beta Delta Gamma"),
    ],
)
def test_each_column_orders_both_ways_and_what_has_no_figure_comes_last(compared, visit, column, first, then):
    page = visit(f"{compared.url}/runs/compared")
    for expected in (first, then):
        page.locator("thead a", has_text=column).click()
        expect(page.locator(NAMES)).to_have_text(expected.split())
    expect(page.locator("th[aria-sort]")).to_contain_text(column)


def test_many_biases_come_in_parts(serve, visit, run_with, tmp_path):
    folder = run_with(tmp_path, "large")
    with_biases(folder, *((f"Habit {k:03}", f"The judge rewards habit number {k}.") for k in range(120)))
    app = serve(tmp_path)
    page = visit(f"{app.url}/runs/large?sort=name")
    assert names(page) == [f"Habit {k:03}" for k in range(50)]
    page.keyboard.press("j")
    expect(page.locator(NAMES).first).to_have_text("Habit 050")
    page.keyboard.press("ArrowRight")
    expect(page.locator(NAMES).first).to_have_text("Habit 100")
    assert len(names(page)) == 20
    page.go_back()
    expect(page.locator(NAMES).first).to_have_text("Habit 050")


def test_a_single_run_opens_at_its_library(app, serve, visit, shared_workspace):
    only = next(f for f in app.site.folders() if f.run_id == "second")
    alone = serve(shared_workspace, only)
    page = visit(alone.url)
    expect(page).to_have_url(f"{alone.url}/runs/second")
    assert page.request.get(f"{alone.url}/runs/first").status == 404


def test_the_front_page_lists_the_runs_and_how_they_stand(app, visit):
    page = visit(app.url)
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.filter(has_text="waiting").locator(".pill")).to_have_text("waiting")
    expect(rows.filter(has_text="first").locator(".pill")).to_have_text("finished")
    page.get_by_role("link", name="decide").click()
    expect(page.get_by_role("heading", name="Waiting for a decision")).to_be_visible()


def with_biases(folder, *described):
    store = open_store(folder)
    try:
        start = load_library(store, folder.run_id).next_seq
        stamps = (Stamp(folder.run_id, start + k, "biasscope") for k in range(len(described)))
        append_now(
            store,
            [
                add(stamp, make_bias(*words, origin="discovered"))
                for stamp, words in zip(stamps, described, strict=True)
            ],
        )
    finally:
        store.close()
