"""Text of models is text: whatever it holds, on every page that shows any, nothing of it runs, loads or links."""

import re
from xml.etree import ElementTree

import pytest
from biasscope.apps.web.app import ROUTERS
from biasscope.bias_library.events import Stamp, Support, add, retire
from biasscope.core.records import (
    ORIGINAL,
    PLACEBO,
    Annotation,
    Bias,
    Candidate,
    Explanation,
    Failure,
    Item,
    Judgment,
    MergeDecision,
    Perturbation,
    PreferencePair,
    Validation,
    bias_arm,
)
from playwright.sync_api import expect

ATTACKS = (
    "<script>window.hit=1</script>",
    "</title></textarea></style></script><script>window.hit=1</script>",
    "<img src=x onerror='window.hit=1'>",
    "<svg onload='window.hit=1'><animate onbegin='window.hit=1' attributeName=x></svg>",
    "\"><a href='javascript:window.hit=1' id='attack' autofocus onfocus='window.hit=1'>click</a>",
    "' onmouseover='window.hit=1' x='",
    "<iframe srcdoc='<script>parent.hit=1</script>'></iframe>",
    "<form action='https://evil.example'><button id='attack' formaction='javascript:window.hit=1'>go</button></form>",
    "<div hx-get='https://evil.example' hx-trigger='load' hx-on:click='window.hit=1'>hx</div>",
    "<hx-partial><template hx type='partial'><script>window.hit=1</script></template></hx-partial>",
    "<base href='https://evil.example/'><link rel='stylesheet' href='//evil.example/x.css'>",
    "<meta http-equiv='refresh' content='0;url=https://evil.example'>",
    "{{ 7 * 7 }}{% raw %}${window.hit=1}",
    "\u202eevil\u202c \u2066left\u2069 zero\u200bwidth \ufeff \x1b[31mred\x07 tab\tnull\x00",
    "&lt;script&gt;window.hit=1&lt;/script&gt;",
)
TEXT = "\n".join(ATTACKS)
LINES = "\n".join(f"line {k} <b>bold</b>" for k in range(100_000))
LINE = "<b>" + "x" * 100_000
"""One line with no place to break it."""
ID = "b" * 24
JUDGMENTS = {name: f"{name:-<24}" for name in ("wrong", "right", "before")}


def rows(run):
    """One bias with everything that a page can show, all of it hostile."""
    bias = Bias(id=ID, name=ATTACKS[0] + ATTACKS[4], definition=TEXT, manifestation=TEXT, origin="discovered")
    judge = "judge<script>window.hit=1</script>"
    pair = PreferencePair(
        id="pair1", prompt=TEXT, chosen=LINES, rejected=TEXT, domain=ATTACKS[2], source=ATTACKS[1], meta={"x": TEXT}
    )
    arm, common = bias_arm(ID), {"run_id": run, "pair_id": "pair1", "judge": judge}
    verdicts = [
        Judgment(id=JUDGMENTS["wrong"], arm=arm, order="chosen_first", verdict="rejected", reasoning=TEXT, **common),
        Judgment(id=JUDGMENTS["right"], arm=PLACEBO, order="chosen_first", verdict="chosen", reasoning=LINE, **common),
        Judgment(
            id=JUDGMENTS["before"], arm=ORIGINAL, order="chosen_first", verdict="chosen", reasoning=TEXT, **common
        ),
    ]
    validation = Validation(
        id="v" * 24,
        run_id=run,
        bias_id=ID,
        iteration=0,
        judge=judge,
        pair_set="search",
        rule="eprocess",
        n=1,
        harms=1,
        repairs=0,
        error_reference=0.0,
        error_bias=1.0,
        effect=100.0,
        interval=(1.0, 100.0),
        interval_method=ATTACKS[2],
        e_value=99.0,
        by_domain={ATTACKS[2]: {"n": 1.0, "effect": 100.0, "low": 1.0, "high": 100.0}},
        controls={ATTACKS[0]: {ATTACKS[3]: ATTACKS[2]}, "truncated": TEXT},
        decision="valid",
        reason=TEXT,
    )
    found = Candidate(
        id="c" * 24,
        run_id=run,
        iteration=0,
        name=ATTACKS[3],
        definition=LINE,
        judgment_id=JUDGMENTS["wrong"],
        pair_id="pair1",
        source_bias="<img src=x onerror=window.hit=1>",
    )
    other = bias.model_copy(update={"id": "d" * 24, "name": ATTACKS[2]})
    support = Support.of([found.id], ["pair1"], [found.source_bias])
    events = [
        add(Stamp(run, 0, ATTACKS[0], TEXT, 0), bias, "valid", support),
        add(Stamp(run, 1, "Ada", TEXT, at=ATTACKS[2]), other, "candidate"),
        retire(Stamp(run, 2, ATTACKS[5], TEXT, at=ATTACKS[0]), other.id),
    ]
    failure = Failure(id="f" * 24, run_id=run, stage=ATTACKS[2], kind="refused", subject=TEXT, reason=LINE, raw=LINES)
    return (
        bias,
        pair,
        *verdicts,
        validation,
        found,
        *events,
        failure,
        Perturbation(id="p" * 24, run_id=run, pair_id="pair1", arm=arm, text=TEXT + " more", teacher=judge),
        Perturbation(id="q" * 24, run_id=run, pair_id="pair1", arm=PLACEBO, text=LINE, teacher=judge),
        Explanation(id="e" * 24, run_id=run, judgment_id=JUDGMENTS["wrong"], text=TEXT, by=judge),
        MergeDecision(
            id="m" * 24, run_id=run, iteration=0, candidate_ids=(found.id,), into=ID, novel=True, decided_by="threshold"
        ),
    )


NOTES = {
    "outcome": {"state": "waiting", "reason": TEXT, "waiting_for": [ID]},
    "progress": {"iteration": 0, "stage": ATTACKS[0], "done": 1, "total": 2, "failures": 1, "counts": {ATTACKS[2]: 1}},
    "manifest": {"seed": 0, "config": {}, "models": {"judge": ATTACKS[0]}, ATTACKS[2]: TEXT},
}


def said(annotator, label, round):
    return Annotation(
        id=f"{annotator}{round}",
        run_id="bench",
        item_id="pair2",
        annotator=annotator,
        label=label,
        round=round,
        time=ATTACKS[2] if annotator == "ada" else "2026-01-01",
        comment=TEXT[:1900],
    )


@pytest.fixture(scope="module")
def app(serve_all, run_with, tmp_path_factory):
    workspace = tmp_path_factory.mktemp("hostile")
    made = rows("hostile")
    pair = next(r for r in made if isinstance(r, PreferencePair))
    run_with(workspace, "hostile", *made, pairs=[pair], notes=NOTES)
    run_with(workspace, "other", *rows("other"), pairs=[pair], notes=NOTES)
    item = pair.model_copy(update={"id": "pair2"})
    row = Item(
        id="i" * 24,
        run_id="bench",
        pair_id="pair2",
        source_pair_id="x",
        bias_id=ID,
        perturbation_id="p",
        misled=(),
        misled_before=(),
        answers="unsettled",
    )
    labels = [said("ada", "same", "independent"), said("bob", "different", "independent")]
    labels += [said(ATTACKS[0], "same", "review"), said(ATTACKS[2], "different", "review")]
    run_with(workspace, "bench", item, row, *labels, kind="benchmark")
    run_with(workspace, "fresh", item, row.model_copy(update={"run_id": "fresh", "id": "j" * 24}), kind="benchmark")
    return serve_all(workspace)


RUN = "/runs/hostile"
PAGES = {
    "/": "/",
    "/runs/{run}": f"{RUN}?q=script",
    "/runs/{run}/suggest": f"{RUN}/suggest?into=script",
    "/runs/{run}/biases/{bias}": f"{RUN}/biases/{ID}",
    "/runs/{run}/biases/{bias}/same-effect": f"{RUN}/biases/{ID}/same-effect",
    "/runs/{run}/biases/{bias}/plots/{name}.{form}": f"{RUN}/biases/{ID}/plots/domains.svg",
    "/runs/{run}/biases/{bias}/evidence": f"{RUN}/biases/{ID}/evidence",
    "/runs/{run}/texts/{pair}/{source}": f"{RUN}/texts/pair1/{JUDGMENTS['wrong']}",
    "/runs/{run}/lineage": f"{RUN}/lineage",
    "/runs/{run}/timeline": f"{RUN}/timeline",
    "/timeline": "/timeline",
    "/growth.{form}": "/growth.svg",
    "/diff": "/diff?a=hostile&b=other",
    "/runs/{run}/watch": f"{RUN}/watch",
    "/runs/{run}/stream": f"{RUN}/stream",
    "/runs/{run}/approval": f"{RUN}/approval",
    "/runs/{run}/report": f"{RUN}/report",
    "/runs/{run}/report/plots": f"{RUN}/report/plots",
    "/runs/{run}/export/{name}": f"{RUN}/export/report.html",
    "/runs/{run}/export/plots/{name}.{form}": f"{RUN}/export/plots/effects.svg",
    "/annotate": "/annotate",
    "/runs/{run}/annotate": "/runs/fresh/annotate",
    "/runs/{run}/annotate/mine": "/runs/bench/annotate/mine",
    "/runs/{run}/annotate/adjudicate": "/runs/bench/annotate/adjudicate",
    "/runs/{run}/annotate/progress": "/runs/bench/annotate/progress",
    "/login": "/login?next=%3Cscript%3Ewindow.hit%3D1%3C/script%3E",
}
FOREIGN = """() => [...document.querySelectorAll('*')].filter(e =>
    e.matches('iframe, object, embed, base, #attack, meta[http-equiv=refresh], svg animate, form[action*="evil"]')
    || [...e.attributes].some(a => /^on/i.test(a.name)
        || /javascript:|evil\\.example/i.test(a.value) && a.name !== 'value'
        && !['alt', 'aria-label', 'content', 'title', 'd'].includes(a.name))
    || (e.matches('script') && !(e.getAttribute('src') || '').startsWith('/static/'))
    || (e.matches('img') && e.getAttribute('src') === 'x')
).map(e => e.outerHTML.slice(0, 200))"""


def test_every_page_is_in_the_list():
    pages = {route.path for router in ROUTERS for route in router.routes if "GET" in route.methods}
    assert pages == set(PAGES)


def test_nothing_runs_loads_or_links_on_any_page(app, visit, settled):
    page = visit("about:blank")
    visit.refusals |= {404, 409}
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    for path in PAGES.values():
        page.goto(app.url + path)
        settled(page)
        page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert page.evaluate("window.hit") is None, path
        assert page.evaluate(FOREIGN) == [], path
        for link in page.locator("main a").all()[:4]:
            link.hover(force=True, timeout=2000) if link.is_visible() else None
        assert page.evaluate("window.hit") is None, path
    assert {url.split("/")[2] for url in asked if url.startswith("http")} == {app.url.removeprefix("http://")}


def test_no_text_makes_a_page_wider_than_a_phone(app, visit, settled):
    visit.refusals |= {404, 409}
    page = visit("about:blank", viewport={"width": 360, "height": 780}, has_touch=True, is_mobile=True)
    for path in (p for p in PAGES.values() if not re.search(r"\.svg|/stream|/texts/|/suggest|export", p)):
        page.goto(app.url + path)
        settled(page)
        page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


def test_a_line_of_a_hundred_thousand_characters_is_cut_and_had_in_full(app, visit):
    page = visit(f"{app.url}{RUN}/biases/{ID}/evidence")
    box = page.get_by_role("region", name="Placebo", exact=True)
    shown = box.locator("ins").first.inner_text()
    assert shown.startswith("<b>xxx") and 5_000 < len(shown) < 30_000
    whole = box.locator("xpath=following-sibling::p").get_by_role("link")
    expect(whole).to_have_text(f"All {len(LINE):,} characters")
    assert page.request.get(app.url + whole.get_attribute("href")).text() == LINE


def test_what_was_said_is_there_to_read(app, visit):
    page = visit(f"{app.url}{RUN}/biases/{ID}/evidence")
    shown = page.locator("section[aria-label=Texts]").inner_text()
    for attack in ATTACKS[:13]:
        assert attack in shown
    assert "⟨U+202E⟩evil⟨U+202C⟩" in shown
    assert "⟨U+001B⟩[31m" in shown and "⟨U+0000⟩" in shown and "⟨U+200B⟩" in shown
    assert "\u202e" not in page.content()
    assert "&lt;script&gt;" in shown  # as it was written, not as a script tag


def test_a_hundred_thousand_lines_stay_a_text_with_the_whole_a_link_away(app, visit):
    page = visit(f"{app.url}{RUN}/biases/{ID}/evidence")
    box = page.get_by_role("region", name="Better answer")
    assert len(box.inner_text()) < 30_000
    expect(box).to_contain_text("characters left out")
    assert len(page.content()) < 400_000
    whole = page.get_by_role("link", name=re.compile(f"All {len(LINES):,} characters")).first
    answer = page.request.get(app.url + whole.get_attribute("href"))
    assert answer.text() == LINES
    assert answer.headers["content-type"].startswith("text/plain")


def test_an_annotator_gets_the_whole_of_both_answers_as_text(app, visit):
    page = visit(f"{app.url}/runs/fresh/annotate")
    texts = page.locator("section[aria-label=Item] .text")
    lengths = texts.evaluate_all("boxes => boxes.map(b => b.textContent.length)")
    assert max(lengths) == len(LINES)
    assert page.evaluate("window.hit") is None
    assert texts.evaluate_all("boxes => boxes.map(b => b.childElementCount)") == [0, 0, 0]


def test_files_stay_text_where_a_program_opens_them(app, visit):
    page = visit(f"{app.url}{RUN}/report")
    table = page.request.get(f"{app.url}{RUN}/export/biases.csv")
    assert "attachment" in table.headers["content-disposition"]
    assert not re.search(r"(^|,)\"?[=@]", table.text(), re.MULTILINE)
    markdown = page.request.get(f"{app.url}{RUN}/export/report.md").text()
    assert "<script>" not in re.sub(r"(?s)(`{3,})text\n.*?\n\1", "", markdown)
    svg = page.request.get(f"{app.url}{RUN}/biases/{ID}/plots/domains.svg")
    drawn = list(ElementTree.fromstring(svg.text()).iter())
    assert {e.tag.rpartition("}")[2] for e in drawn} <= {
        "svg",
        "style",
        "title",
        "desc",
        "defs",
        "g",
        "path",
        "use",
        "text",
        "clipPath",
        "rect",
    }
    assert [a for e in drawn for a in e.attrib if a.lower().startswith("on")] == []
    assert any("onerror" in (e.text or "") for e in drawn)
    assert "sandbox" in svg.headers["content-security-policy"]
