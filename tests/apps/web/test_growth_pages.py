"""Lineage, timeline, growth over runs and the comparison of two say what the stores say."""

import pytest
from biasscope.apps.web.lineage import MOST, finds, lineage
from biasscope.apps.web.snapshot import snapshot
from biasscope.bias_library.diff import diff
from biasscope.bias_library.library import load_library
from biasscope.core.records import Candidate, MergeDecision, Validation
from biasscope.runs.analyses.growth import growth_line
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def app(serve_all, shared_workspace):
    return serve_all(shared_workspace)


def test_the_graph_carries_every_candidate_from_what_was_injected_to_what_became_of_it(app):
    with app.site.lease("first") as run:
        snap, found = snapshot(run), finds(run)
        graph = lineage(found, snap)
    assert len(found.merges) <= MOST and graph.left_out == 0
    by_column = {k: [n for n in graph.nodes if n.column == k] for k in range(4)}
    assert {n.key for n in by_column[0]} == {f"source:{c.source_bias}" for c in found.candidates.values()}
    assert len(by_column[1]) == len(found.merges)
    assert {n.bias_id for n in by_column[2]} == {m.into for m in found.merges}
    first = sum(e.weight for e in graph.edges if e.start.column == 0)
    second = sum(e.weight for e in graph.edges if e.start.column == 1)
    assert first == second == len(found.candidates)
    ends = {e.start.bias_id: e.end.kind for e in graph.edges if e.start.column == 2}
    assert ends == {i: snap.by_id[i].entry.status for i in ends}
    places = [(n.column, n.y) for n in graph.nodes]
    assert len(places) == len(set(places))


def test_a_merged_bias_leads_to_the_one_it_is_part_of(app):
    with app.site.lease("first") as run:
        snap, found = snapshot(run), finds(run)
        into = next(m.into for m in found.merges if not m.novel)
        graph = lineage(found, snap, bias_id=into)
    assert {n.bias_id for n in graph.nodes if n.column == 2} >= {into}
    groups = [m for m in found.merges if m.into == into]
    assert sum(n.column == 1 for n in graph.nodes) == len(groups)


def test_lineage_page_is_drawn_and_linked(app, visit):
    with app.store("first") as store:
        merges = store.select(MergeDecision, run_id="first")
        iterations = {m.iteration for m in merges}
        names = {c.id: c.name for c in store.select(Candidate, run_id="first")}
    page = visit(f"{app.url}/runs/first/lineage")
    expect(page.locator("svg.graph .node.candidates")).to_have_count(len(merges))
    assert page.locator("svg.graph .edges path").count() > len(merges)
    if len(iterations) > 1:
        page.get_by_role("link", name="Iteration 2").click()
        expect(page.locator("svg.graph .node.candidates")).to_have_count(sum(m.iteration == 1 for m in merges))
    page.get_by_text("As a list").click()
    listed = " ".join(page.locator("details li").all_inner_texts())
    assert any(name in listed for name in names.values())
    page.locator("svg.graph .node.bias").first.click()
    expect(page.locator("nav.tabs", has_text="Overview")).to_be_visible()


def test_timeline_has_every_line_the_newest_first(app, visit):
    with app.store("first") as store:
        library = load_library(store, "first")
    page = visit(f"{app.url}/runs/first/timeline")
    rows = page.locator("table.history tbody tr")
    expect(rows).to_have_count(min(100, len(library.events)))
    newest = library.events[-1]
    expect(rows.first).to_contain_text(library.entries[newest.bias_id].bias.name)
    expect(rows.first).to_contain_text(newest.reason[:40])
    page.get_by_role("link", name="By people").click()
    expect(page.get_by_text("0 lines")).to_be_visible()


def test_growth_of_all_runs(app, visit):
    page = visit(f"{app.url}/timeline")
    expect(page.locator("tbody tr")).to_have_count(3)
    for name in ("first", "second"):
        with app.store(name) as store:
            line = growth_line(store, name)
        cells = page.locator("tbody tr", has_text=name).locator("td")
        for k, point in enumerate(line.points):
            expect(cells.nth(k)).to_contain_text(f"{point.cumulative}")
    image = page.locator("img.plot")
    page.wait_for_function("i => i.complete && i.naturalWidth > 0", arg=image.element_handle())


def test_two_runs_side_by_side(app, visit):
    with app.store("first") as one, app.store("second") as two:
        found = diff(
            load_library(one, "first"),
            load_library(two, "second"),
            one.select(Validation, run_id="first"),
            two.select(Validation, run_id="second"),
        )
    page = visit(f"{app.url}/diff")
    page.select_option("[name=a]", "first")
    page.select_option("[name=b]", "second")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("status").first).to_contain_text(
        f"{len(found.both)} biases in both, {len(found.only_a)} only in first, {len(found.only_b)} only in second"
    )
    for bias in found.only_a:
        expect(page.locator("section[aria-labelledby=h-only-a]")).to_contain_text(bias.name)
    changes = page.locator("section[aria-labelledby=h-effects] tbody tr")
    expect(changes).to_have_count(len(found.effects))
    expect(changes.first).to_contain_text(found.effects[0].bias.name)


def test_the_same_bias_in_other_words_is_found_by_meaning(app, visit):
    """Both runs were made on one world, so what only one has is mostly the other's in other words."""
    page = visit(f"{app.url}/diff?a=first&b=second")
    pairs = page.locator("section[aria-labelledby=h-near] tbody tr")
    near = [float(t) for t in pairs.locator("td[data-label=Cosine]").all_inner_texts()]
    assert near == sorted(near, reverse=True)
    assert all(value >= 0.5 for value in near)
