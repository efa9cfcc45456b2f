"""One bias over rows that were made by hand: every figure on its page, and what the judge said in both orders."""

from xml.etree import ElementTree

import pytest
from biasscope.bias_library.bias import make_bias
from biasscope.bias_library.events import Stamp, add
from biasscope.core.records import (
    ORIGINAL,
    PLACEBO,
    Explanation,
    Judgment,
    Perturbation,
    PreferencePair,
    Validation,
    bias_arm,
)
from biasscope.runs.report.controls import control_lines
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

JUDGE = "openai:judge"
ORDERS = ("chosen_first", "rejected_first")
BIASES = {
    name: make_bias(name, f"The judge rewards {name}.", origin="discovered") for name in ("Alpha", "Beta", "Gamma")
}
HARMED = {"Alpha": range(6), "Beta": range(6), "Gamma": range(12, 18)}
"""Pairs that turn wrong: the first two biases flip the same ones."""
PAIRS = 32
DOMAINS = {
    "cooking": {"n": 20.0, "effect": 50.0, "low": 12.5, "high": 87.5},
    "law": {"n": 12.0, "effect": -2.5, "low": -20.0, "high": 15.0},
}
CONTROLS = {
    "length_ratio": 1.04,
    "answers_changed": 0,
    "manipulation_share": 0.9,
    "manipulation_low": 0.6,
    "manipulation_high": 0.98,
    "manipulation_n": 10,
    "truncated": {"effect": 30.0, "low": 8.0, "high": 52.0, "n": 10},
}


def rows():
    pairs = [
        PreferencePair(
            id=f"pair{k}", prompt=f"Question {k}?", chosen=f"Right {k}.", rejected=f"Plain answer {k}.", domain=domain
        )
        for k, domain in enumerate(["cooking"] * 20 + ["law"] * 12)
    ]
    made = [add(Stamp("hand", k, "biasscope"), b, "valid") for k, b in enumerate(BIASES.values())]
    arms = {ORIGINAL: (), PLACEBO: (), **{bias_arm(BIASES[n].id): harmed for n, harmed in HARMED.items()}}
    for arm, harmed in arms.items():
        for k, pair in enumerate(pairs):
            if arm != ORIGINAL:
                text = f"Plain {'sworn' if harmed else 'neutral'} answer {k}."
                made.append(
                    Perturbation(
                        id=f"w{arm[:9]}{arm[-9:]}{k}", run_id="hand", pair_id=pair.id, arm=arm, text=text, teacher="t"
                    )
                )
            for order in ORDERS:
                id_ = f"{arm[-12:]}.{k}.{order[0]}"
                verdict = "rejected" if k in harmed else "chosen"
                said = f"Reasoning of {arm[:5]} on {k}, {order}."
                made.append(
                    Judgment(
                        id=id_,
                        run_id="hand",
                        pair_id=pair.id,
                        arm=arm,
                        order=order,
                        verdict=verdict,
                        judge=JUDGE,
                        reasoning=said,
                    )
                )
                if verdict == "rejected":
                    told = f"More about {k}, {order}."
                    made.append(Explanation(id=f"e{id_}", run_id="hand", judgment_id=id_, text=told, by=JUDGE))
    for name, bias in BIASES.items():
        n = len(HARMED[name])
        made.append(
            Validation(
                id=f"v{name}", run_id="hand", bias_id=bias.id, iteration=0, judge=JUDGE, pair_set="search",
                rule="eprocess",
                n=PAIRS, harms=n, repairs=0, error_reference=0.0, error_bias=n / PAIRS, effect=10.0 * n,
                interval=(10.0 * n - 9, 10.0 * n + 9), interval_method="tango", e_value=25.0, by_domain=DOMAINS,
                controls=CONTROLS, decision="valid", reason="",
            )
        )  # fmt: skip
    return pairs, made


@pytest.fixture(scope="module")
def app(serve_all, run_with, tmp_path_factory):
    workspace = tmp_path_factory.mktemp("hand")
    pairs, made = rows()
    run_with(workspace, "hand", *pairs, *made, pairs=pairs)
    return serve_all(workspace)


def address(app, name, more=""):
    return f"{app.url}/runs/hand/biases/{BIASES[name].id}{more}"


def test_the_forest_plot_has_a_line_for_each_domain_and_one_for_all(app, visit):
    page = visit(address(app, "Alpha"))
    plot = page.locator("img.plot").first
    page.wait_for_function("i => i.complete && i.naturalWidth > 0", arg=plot.element_handle())
    drawn = list(ElementTree.fromstring(page.request.get(address(app, "Alpha", "/plots/domains.svg")).text()).iter())
    texts = [e.text for e in drawn if e.tag.endswith("text")]
    wanted = {
        "cooking": "+50.0  [+12.5, +87.5]  n = 20",
        "law": "−2.5  [−20.0, +15.0]  n = 12",
        "all domains": "+60.0  [+51.0, +69.0]  n = 32",
    }
    for name, figures in wanted.items():
        assert name in texts and figures in texts
    assert [texts.index(name) for name in wanted] == sorted(texts.index(name) for name in wanted)


def test_the_e_value_path_climbs_with_each_harm(app, visit):
    page = visit(address(app, "Alpha"))
    plot = page.locator("img.plot").last
    page.wait_for_function("i => i.complete && i.naturalWidth > 0", arg=plot.element_handle())
    alt = plot.get_attribute("alt")
    assert alt.startswith("Line of the e-value over 32 pairs.")
    assert "after 6 pairs that the bias turned wrong and 0 that it turned right" in alt


def test_every_control_is_told_with_its_outcome(app, visit):
    page = visit(address(app, "Alpha"))
    told = page.locator("section[aria-labelledby=h-controls] tbody tr")
    lines = [(c.name.replace("_", " "), c.outcome) for c in control_lines(CONTROLS)]
    assert [(r.locator("th").inner_text(), r.locator("td").inner_text()) for r in told.all()] == lines
    assert len(lines) == 4


def test_biases_that_flip_the_same_pairs_are_named_on_each_others_page(app, visit):
    for name, other in (("Alpha", "Beta"), ("Beta", "Alpha")):
        page = visit(address(app, name))
        expect(page.locator("#same-effect li a")).to_have_text([other])
    page = visit(address(app, "Gamma"))
    expect(page.locator("#same-effect")).to_contain_text("No other tested bias flips the same pairs.")
    page.goto(address(app, "Alpha"))
    page.locator("#same-effect li a").click()
    expect(page.locator("h1")).to_contain_text("Beta")


def test_reasoning_and_deeper_explanation_are_shown_in_both_orders(app, visit):
    page = visit(address(app, "Alpha", "/evidence"))
    expect(page.locator(".chip[aria-current]")).to_have_text("harms 6")
    for k in range(6):
        expect(page.locator("#pair-title")).to_have_text(f"Pair {k + 1} of 6")
        cells = page.locator(".verdict-table tbody tr", has_text="biased").locator("td")
        expect(cells).to_have_text(["✗ chose the rejected answer"] * 2)
        for arm in ("original", "placebo"):
            expect(page.locator(".verdict-table tbody tr", has_text=arm).locator("td")).to_have_text(
                ["✓ chose the better answer"] * 2
            )
        said = page.locator("section[aria-label='What the judge said'] .arms > div")
        biased = said.nth(2).locator("details")
        for n, order in enumerate(ORDERS):
            expect(biased.nth(n).get_by_text(f"Reasoning of bias: on {k}, {order}.")).to_be_visible()
            expect(biased.nth(n).get_by_role("heading", name="Explained further")).to_be_visible()
            expect(biased.nth(n).get_by_text(f"More about {k}, {order}.")).to_be_visible()
        if k < 5:
            page.keyboard.press("j")


def test_what_is_folded_opens_with_the_keyboard(app, visit):
    page = visit(address(app, "Alpha", "/evidence"))
    said = page.locator("section[aria-label='What the judge said'] .arms > div").nth(1)
    reasoning = said.get_by_text(f"Reasoning of {PLACEBO[:5]} on 0, chosen_first.")
    expect(reasoning).to_be_hidden()
    said.locator("summary").first.focus()
    page.keyboard.press("Enter")
    expect(reasoning).to_be_visible()


def test_original_placebo_and_biased_stand_side_by_side_with_changed_words_marked(app, visit):
    page = visit(address(app, "Alpha", "/evidence"))
    arms = page.locator("section[aria-label=Texts] .arms > div")
    expect(arms.locator("h4")).to_have_text(["Original", "Placebo", "Biased"])
    expect(arms.locator(".text")).to_have_text(["Plain answer 0.", "Plain neutral answer 0.", "Plain sworn answer 0."])
    assert [[t.strip() for t in arm.locator("ins").all_inner_texts()] for arm in arms.all()] == [
        [],
        ["neutral"],
        ["sworn"],
    ]
    tops = arms.evaluate_all("boxes => boxes.map(b => b.getBoundingClientRect()).map(r => [r.left, r.top])")
    assert len({top for _, top in tops}) == 1 and [left for left, _ in tops] == sorted({left for left, _ in tops})


@pytest.mark.parametrize("name", ["domains", "path"])
def test_each_plot_of_a_bias_comes_as_svg_and_png(app, visit, name):
    page = visit(address(app, "Alpha"))
    figure = page.locator("figure", has=page.locator(f"img[src$='/plots/{name}.svg']"))
    for form, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG\r\n")):
        answer = page.request.get(app.url + figure.get_by_role("link", name=form).get_attribute("href"))
        assert answer.status == 200 and answer.body().startswith(start)
