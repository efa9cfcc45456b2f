"""One bias: its figures are the store's, its plots are drawn, and its pairs can be gone through by keyboard."""

import pytest
from biasscope.bias_library.diff import decisive
from biasscope.bias_library.library import load_library
from biasscope.core.records import (
    PLACEBO,
    Candidate,
    Explanation,
    Judgment,
    MergeDecision,
    Perturbation,
    PreferencePair,
    Validation,
    bias_arm,
)
from biasscope.runs.analyses.e_path import e_path
from biasscope.runs.report.controls import control_lines
from biasscope.runs.report.svg import WIDE
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def app(serve_all, shared_workspace):
    return serve_all(shared_workspace)


@pytest.fixture(scope="module")
def rows(app):
    """What the store of the run `first` holds."""
    with app.store("first") as store:
        kinds = (Validation, Judgment, Perturbation, Candidate, MergeDecision)
        found = {kind: store.select(kind, run_id="first") for kind in kinds}
        found["library"] = load_library(store, "first")
        tested = [i for part in ("search", "confirm") for i in store.pair_ids("first", part)]
        found["pairs"] = {p.id: p for p in store.get_many(PreferencePair, tested)}
        found["explained"] = {e.judgment_id: e.text for e in store.select(Explanation, run_id="first")}
    return found


def strongest(rows):
    return max((v for v in rows[Validation] if v.iteration >= 0), key=lambda v: (v.harms, v.bias_id))


def harmed(rows, bias_id):
    """Pairs that are wrong under the bias and right under the placebo in at least one order, in the run's order."""
    said = {(j.arm, j.pair_id, j.order): j.verdict for j in rows[Judgment] if not j.draw}
    arm = bias_arm(bias_id)
    changed = {(p.arm, p.pair_id) for p in rows[Perturbation] if p.answer_change == "changed"}
    flips = {
        pair
        for (a, pair, order), verdict in said.items()
        if a == arm and verdict == "rejected" and said.get((PLACEBO, pair, order)) == "chosen"
        and not {(arm, pair), (PLACEBO, pair)} & changed
    }  # fmt: skip
    return [pair for pair in rows["pairs"] if pair in flips]


def test_figures_and_definition_are_the_stores(app, rows, visit):
    best = strongest(rows)
    page = visit(f"{app.url}/runs/first/biases/{best.bias_id}")
    bias = rows["library"].entries[best.bias_id].bias
    expect(page.locator("h1")).to_contain_text(bias.name)
    expect(page.locator(".definition")).to_have_text(bias.definition)
    for validation in (v for v in rows[Validation] if v.bias_id == best.bias_id):
        part = "confirmation" if validation.iteration < 0 else "search"
        row = page.locator("section[aria-labelledby=h-tests] tbody tr", has_text=part)
        expect(row).to_contain_text(f"{validation.effect:+.1f}")
        expect(row).to_contain_text(f"{validation.harms} / {validation.repairs}")
        expect(row).to_contain_text(validation.judge)


def test_plots_are_drawn_and_said_in_words(app, rows, visit):
    best = strongest(rows)
    page = visit(f"{app.url}/runs/first/biases/{best.bias_id}")
    shown = decisive(rows[Validation])[best.bias_id]
    plots = page.locator("img.plot")
    expect(plots).to_have_count(2)
    for plot in plots.all():
        plot.scroll_into_view_if_needed()
        page.wait_for_function("i => i.complete && i.naturalWidth > 0", arg=plot.element_handle())
        assert 500 < plot.evaluate("i => i.width") <= WIDE
    alt = plots.first.get_attribute("alt")
    for domain, figures in shown.by_domain.items():
        assert f"{domain} {figures['effect']:+.1f}".replace("-", "−").replace("+0.0", "0.0") in alt
    assert f"over {shown.n} pairs" in plots.last.get_attribute("alt")
    png = page.request.get(f"{page.url}/plots/path.png")
    assert png.body().startswith(b"\x89PNG")


def test_the_path_ends_at_the_stored_e_value_for_every_test_of_the_run(app, rows):
    with app.store("first") as store:
        for validation in rows[Validation]:
            path = e_path(store, "first", validation)
            assert len(path.values) == validation.n
            assert 10 ** path.values[-1] == pytest.approx(validation.e_value, rel=1e-4)
            assert not set(path.harms) & set(path.repairs)
            assert max((*path.harms, *path.repairs), default=0) < validation.n


def test_controls_same_effect_and_where_it_comes_from(app, rows, visit):
    found = next(m for m in rows[MergeDecision] if m.novel and len(m.candidate_ids) > 1)
    page = visit(f"{app.url}/runs/first/biases/{found.into}")
    validation = decisive(rows[Validation])[found.into]
    controls = page.locator("section[aria-labelledby=h-controls] tbody tr")
    expect(controls).to_have_count(len(control_lines(validation.controls)))
    expect(page.locator("#same-effect")).to_contain_text("flip")
    expect(page.locator("#same-effect a", has_text="Biases that flip")).to_have_count(0)
    graph = page.locator("svg.graph")
    sources = {c.source_bias for c in rows[Candidate] if c.id in found.candidate_ids}
    into = {m.id: m for m in rows[MergeDecision] if m.into == found.into}
    assert graph.locator(".node.candidates").count() == len(into)
    assert sources <= set(
        graph.locator("a").evaluate_all("links => links.map(a => a.getAttribute('href').split('/').pop())")
    )
    page.get_by_text("As a list").click()
    expect(page.locator("section[aria-labelledby=h-lineage] details li").first).to_contain_text("→")


def test_every_harm_can_be_gone_through_by_keyboard(app, rows, visit):
    best = strongest(rows)
    expected = harmed(rows, best.bias_id)
    assert len(expected) > 3
    page = visit(f"{app.url}/runs/first/biases/{best.bias_id}")
    page.get_by_role("link", name="Evidence", exact=True).click()
    page.wait_for_url("**/evidence")
    page.evaluate("window.same = true")
    seen = []
    for number in range(1, len(expected) + 1):
        expect(page.locator("#pair-title")).to_have_text(f"Pair {number} of {len(expected)}")
        seen.append(page.locator("#pair [role=status]").inner_text().rsplit("pair ", 1)[1])
        if number == 2:
            assert page.evaluate("window.same") is True
        page.wait_for_load_state("load")  # a key that comes before the new link is taken over loads the page
        page.keyboard.press("j" if number % 2 else "ArrowRight")
    assert seen == expected
    page.keyboard.press("k")
    expect(page.locator("#pair-title")).to_have_text(f"Pair {len(expected) - 1} of {len(expected)}")
    assert f"n={len(expected) - 1}" in page.url


def test_a_pair_shows_the_arms_with_marked_words_both_orders_and_what_the_judge_said(app, rows, visit):
    best = strongest(rows)
    pair_id = harmed(rows, best.bias_id)[0]
    arm, pair = bias_arm(best.bias_id), rows["pairs"][pair_id]
    page = visit(f"{app.url}/runs/first/biases/{best.bias_id}/evidence?show=harms")
    texts = page.locator("section[aria-label=Texts] .text")
    expect(texts.nth(0)).to_have_text(pair.prompt)
    expect(texts.nth(1)).to_have_text(pair.chosen)
    expect(texts.nth(2)).to_have_text(pair.rejected)
    rewrite = next(p.text for p in rows[Perturbation] if (p.arm, p.pair_id) == (arm, pair_id))
    biased = texts.nth(4)
    without_struck = """box => {
        const copy = box.cloneNode(true);
        copy.querySelectorAll("del").forEach(words => words.remove());
        return copy.textContent;
    }"""
    assert biased.evaluate(without_struck) == rewrite
    assert biased.locator("ins").count() > 0
    assert all(word in rewrite for word in biased.locator("ins").all_inner_texts())
    table = page.locator(".verdict-table tbody tr")
    words = {"chosen": "chose the better answer", "rejected": "chose the rejected answer"}
    for j in rows[Judgment]:
        if j.pair_id == pair_id and j.arm in ("original", PLACEBO, arm) and not j.draw:
            name = "biased" if j.arm == arm else j.arm
            cell = table.filter(has_text=name).locator("td").nth(0 if j.order == "chosen_first" else 1)
            expect(cell).to_contain_text(words[j.verdict])
            if j.arm == arm:
                expect(page.locator("section[aria-label='What the judge said']")).to_contain_text(
                    j.reasoning.split("\n")[0]
                )


def test_explanations_of_the_misjudgments_it_was_named_from_are_shown(app, rows, visit):
    merge = next(m for m in rows[MergeDecision] if m.novel)
    candidate = next(c for c in rows[Candidate] if c.id == merge.candidate_ids[0])
    page = visit(f"{app.url}/runs/first/biases/{merge.into}")
    page.locator("details.example summary").first.click()
    example = page.locator("details.example").first
    expect(example).to_contain_text(candidate.definition)
    expect(example).to_contain_text(rows["explained"][candidate.judgment_id].split("\n")[0])


def test_kinds_of_pairs_add_up(app, rows, visit):
    best = strongest(rows)
    page = visit(f"{app.url}/runs/first/biases/{best.bias_id}/evidence")
    counts = dict(t.rsplit(" ", 1) for t in page.locator("nav.chips .chip").all_inner_texts())
    assert sum(int(n) for kind, n in counts.items() if kind != "all") == int(counts["all"])
    judged = {j.pair_id for j in rows[Judgment] if j.arm == bias_arm(best.bias_id) and j.pair_id in rows["pairs"]}
    assert int(counts["all"]) == len(judged)
    page.get_by_role("link", name="both right").click()
    expect(page.locator(".chip[aria-current]")).to_contain_text("both right")
    expect(page.locator(".verdict-table tr", has_text="biased").locator(".wrong")).to_have_count(0)


def test_a_text_in_full_is_text_and_nothing_else(app, rows, visit):
    best = strongest(rows)
    pair = rows["pairs"][harmed(rows, best.bias_id)[0]]
    page = visit(f"{app.url}/runs/first")
    answer = page.request.get(f"{app.url}/runs/first/texts/{pair.id}/rejected")
    assert answer.text() == pair.rejected
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert page.request.get(f"{app.url}/runs/first/texts/{pair.id}/..%2f..%2fconfig.yaml").status == 404
