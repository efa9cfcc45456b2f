"""By keyboard, by screen reader, on a phone, dark and light."""

import shutil

import pytest
from biasscope.apps.web import people
from biasscope.core.records import Validation
from playwright.sync_api import expect

pytestmark = pytest.mark.slow
RUN = "/runs/first"
PATHS = [
    "/", RUN, f"{RUN}/biases/BIAS", f"{RUN}/biases/BIAS/evidence", f"{RUN}/lineage", f"{RUN}/timeline", "/timeline",
    "/diff?a=first&b=second", f"{RUN}/watch", "/runs/waiting/approval", f"{RUN}/report", "/runs/bench/annotate",
    "/runs/bench/annotate/progress", "/runs/bench/annotate/mine", "/no/such/page",
]  # fmt: skip
STRUCTURE = """() => {
    const wrong = [];
    const seen = (e) => e.getClientRects().length > 0;
    const all = (s) => [...document.querySelectorAll(s)];
    if (document.documentElement.lang !== 'en') wrong.push('no language');
    if (!document.title.endsWith('· BiasScope')) wrong.push('title ' + document.title);
    if (all('h1').length !== 1) wrong.push(all('h1').length + ' h1');
    if (all('main').length !== 1) wrong.push('main');
    let level = 1;
    for (const h of all('h1, h2, h3, h4, h5, h6').filter(seen)) {
        const now = Number(h.tagName[1]);
        if (now > level + 1) wrong.push('heading ' + h.textContent + ' after level ' + level);
        level = now;
    }
    for (const field of all('input:not([type=hidden]), select, textarea'))
        if (!field.labels.length && !field.getAttribute('aria-label')) wrong.push('field ' + field.outerHTML);
    for (const image of all('img')) if (!image.alt) wrong.push('image ' + image.src);
    for (const drawing of all('svg'))
        if (!drawing.getAttribute('aria-label') && drawing.ariaHidden !== 'true') wrong.push('svg');
    for (const e of all('a, button, summary'))
        if (!(e.textContent.trim() || e.ariaLabel || e.title)) wrong.push(e.outerHTML);
    for (const e of all('[tabindex]'))
        if (Number(e.getAttribute('tabindex')) > 0) wrong.push('tabindex ' + e.outerHTML);
    for (const t of all('table')) if (!t.querySelector('th')) wrong.push('table without heads');
    const ids = all('[id]').map(e => e.id);
    for (const id of ids) if (ids.filter(i => i === id).length > 1) wrong.push('id twice: ' + id);
    for (const e of all('[aria-labelledby], [aria-controls]'))
        for (const id of (e.getAttribute('aria-labelledby') || e.getAttribute('aria-controls')).split(' '))
            if (!document.getElementById(id)) wrong.push('no element ' + id);
    for (const e of all('.scroll'))
        if (e.scrollWidth > e.clientWidth + 1 && e.tabIndex !== 0) wrong.push('scrolls by mouse only');
    return wrong;
}"""
CONTRAST = """() => {
    const paint = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const rgba = (colour) => {
        paint.clearRect(0, 0, 1, 1); paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1);
        return [...paint.getImageData(0, 0, 1, 1).data];
    };
    const over = (top, under) => top.slice(0, 3).map((c, k) => c * top[3] / 255 + under[k] * (1 - top[3] / 255));
    const behind = (e) => {
        const layers = [];
        for (; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
        return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255]);
    };
    const light = (c) => c.slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, k) => sum + v * [.2126, .7152, .0722][k], 0);
    const weak = new Set();
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const e = walk.currentNode.parentElement;
        const said = walk.currentNode.textContent.trim();
        if (!said || !e.getClientRects().length || e.closest('svg, option, .undone, .skip')) continue;
        const style = getComputedStyle(e), back = behind(e), front = over(rgba(style.color), back);
        const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
        const ratio = (a + .05) / (b + .05), size = parseFloat(style.fontSize);
        const large = size >= 24 || (size >= 18.7 && style.fontWeight >= 700);
        if (ratio < (large ? 3 : 4.5))
            weak.add([ratio.toFixed(2), e.tagName, e.className, said.slice(0, 30)].join(' '));
    }
    return [...weak];
}"""


@pytest.fixture(scope="module")
def looked_at(shared_workspace, benchmark_with, tmp_path_factory):
    workspace = shutil.copytree(shared_workspace, tmp_path_factory.mktemp("looked") / "at")
    benchmark_with(workspace)
    return workspace


@pytest.fixture(scope="module")
def app(serve_all, looked_at):
    """For tests that only look."""
    return with_bias(serve_all(looked_at))


@pytest.fixture
def own(serve, workspace):
    """For tests that decide."""
    return with_bias(serve(workspace))


def with_bias(served):
    with served.store("first") as store:
        served.bias = max(store.select(Validation, run_id="first"), key=lambda v: (v.effect, v.bias_id)).bias_id
    return served


def paths(app):
    return [app.url + path.replace("BIAS", app.bias) for path in PATHS]


def test_the_looks_themselves_see_what_is_wrong(visit):
    page = visit("about:blank")
    page.set_content(
        "<html><body><main><h1>a</h1><h3>b</h3><input><img src='data:,'><p style='color:#aaa'>pale</p></main>"
    )
    found = page.evaluate(STRUCTURE)
    assert (
        any("heading b" in f for f in found) and any("field" in f for f in found) and any("image" in f for f in found)
    )
    assert [w.split()[0] for w in page.evaluate(CONTRAST)] == ["2.32"]


def test_structure_of_every_page(app, visit, settled):
    visit.refusals.add(404)
    page = visit("about:blank")
    for url in paths(app):
        page.goto(url)
        settled(page)
        assert page.evaluate(STRUCTURE) == [], url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_every_text(app, visit, scheme):
    visit.refusals.add(404)
    page = visit("about:blank", color_scheme=scheme)
    backgrounds = set()
    for url in paths(app):
        page.goto(url)
        page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert page.evaluate(CONTRAST) == [], url
        backgrounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert backgrounds == {{"light": "rgb(246, 247, 249)", "dark": "rgb(15, 20, 27)"}[scheme]}


def test_a_phone_scrolls_down_only(app, visit, width=320):
    visit.refusals.add(404)
    page = visit("about:blank", viewport={"width": width, "height": 800}, has_touch=True, is_mobile=True)
    for url in paths(app):
        page.goto(url)
        page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, url


def test_everything_can_be_reached_and_done_with_the_keyboard(own, visit):
    page = visit(f"{own.url}{RUN}/biases/{own.bias}")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    reached = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.outerHTML.slice(0, 90)"))
        if page.evaluate(
            "document.activeElement.matches('.actions summary') && document.activeElement.textContent === 'Rename'"
        ):
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("By keyboard alone")
    page.keyboard.press("Tab")
    page.keyboard.type("no mouse here")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("By keyboard alone")
    assert len(reached) > 8


def test_single_keys_can_be_switched_off_and_never_take_what_is_typed(app, visit):
    page = visit(f"{app.url}{RUN}/biases/{app.bias}/evidence?show=all")
    page.keyboard.press("j")
    expect(page.locator("#pair-title")).to_contain_text("Pair 2")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.get_by_label("Single keys work").uncheck()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).not_to_be_visible()
    page.keyboard.press("j")
    page.reload()
    page.keyboard.press("j")
    expect(page.locator("#pair-title")).to_contain_text("Pair 2")
    page.goto(f"{app.url}{RUN}")
    page.locator("#q").press_sequentially("jk/?")
    expect(page.locator("#q")).to_have_value("jk/?")


def test_without_scripts_everything_still_works(own, visit):
    page = visit(f"{own.url}{RUN}/biases/{own.bias}", java_script_enabled=False)
    page.get_by_role("link", name="Biases that flip the same pairs").click()
    expect(page.locator("#same-effect")).to_contain_text("flip")
    page.goto(f"{own.url}{RUN}/biases/{own.bias}/evidence?show=all")
    page.get_by_role("link", name="Next →").click()
    expect(page.locator("#pair-title")).to_contain_text("Pair 2")
    page.goto(f"{own.url}{RUN}")
    page.fill("#q", "authorities")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".library .name")).to_have_text(["Authority bias"])
    page.locator(".library .name").click()
    page.locator(".actions summary", has_text="Retire").click()
    page.locator(".actions > details[open] [name=reason]").fill("no script needed")
    page.get_by_role("button", name="Retire").click()
    expect(page.locator("h1 .pill")).to_have_text("retired")


def test_the_login_page_is_readable_too(serve, visit, tmp_path):
    people.add(tmp_path / people.FILE, "Ada", "admin")
    page = visit(serve(tmp_path).url, viewport={"width": 320, "height": 700}, color_scheme="dark")
    assert page.evaluate(STRUCTURE) == []
    assert page.evaluate(CONTRAST) == []
