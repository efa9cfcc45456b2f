"""Reports and exports from the app are what the store says, in every format."""

import csv
import io
import json

import pytest
from biasscope.bias_library.library import load_library
from biasscope.runs.report import collect
from biasscope.runs.report.render import html
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def app(serve_all, shared_workspace):
    return serve_all(shared_workspace)


@pytest.fixture(scope="module")
def report(app):
    with app.store("first") as store:
        return collect(store, "first")


def saved(page, name):
    with page.expect_download() as download:
        page.get_by_role("link", name=name, exact=True).click()
    return download.value


def test_files_are_saved_from_the_page(app, report, visit):
    page = visit(f"{app.url}/runs/first/report")
    download = saved(page, "report.json")
    assert download.suggested_filename == "first-report.json"
    assert json.loads(download.path().read_text()) == report.model_dump(mode="json")
    rows = list(csv.DictReader(io.StringIO(saved(page, "biases.csv").path().read_text())))
    assert [(row["id"], row["status"]) for row in rows] == [(b.id, b.status) for b in report.biases]
    assert saved(page, "report.md").path().read_text().startswith("# ")
    assert saved(page, "report.html").path().read_text() == html(report)
    with app.store("first") as store:
        library = load_library(store, "first")
    full = json.loads(saved(page, "library.json").path().read_text())
    assert [b["id"] for b in full["biases"]] == [e.bias.id for e in library]
    assert len(full["events"]) == len(library.events)
    published = json.loads(saved(page, "library-published.json").path().read_text())
    assert len(published) == len(library.biases())


def test_the_report_opens_in_the_browser(app, report, visit):
    page = visit(f"{app.url}/runs/first/report")
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Open the report").click()
    opened = popup.value
    expect(opened.locator("h1")).to_have_text(report.headline.title)
    assert opened.evaluate("getComputedStyle(document.querySelector('section')).borderRadius") == "14px"


def test_every_plot_is_there_as_svg_and_png(app, visit):
    page = visit(f"{app.url}/runs/first/report")
    figures = page.locator("#plots figure")
    expect(figures).to_have_count(4)
    for k in range(4):
        image = figures.nth(k).locator("img")
        image.scroll_into_view_if_needed()
        page.wait_for_function("i => i.complete && i.naturalWidth > 0", arg=image.element_handle())
        assert len(image.get_attribute("alt")) > 40
        for form, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
            with page.expect_download() as download:
                figures.nth(k).get_by_role("link", name=form).click()
            assert download.value.path().read_bytes().startswith(start)


def test_plots_have_a_form_for_phones(app, visit):
    page = visit(f"{app.url}/runs/first/report", viewport={"width": 390, "height": 800})
    image = page.locator("#plots img").first
    page.wait_for_function("i => i.complete && i.naturalWidth > 0", arg=image.element_handle())
    assert image.evaluate("i => i.currentSrc").endswith("narrow=true")
    assert image.evaluate("i => i.naturalWidth") < 400


def test_a_report_follows_what_is_decided(serve, visit, workspace):
    app = serve(workspace)
    page = visit(f"{app.url}/runs/first?status=confirmed&status=valid")
    page.locator(".library .name").first.click()
    name = page.locator("h1").inner_text().rsplit(" ", 1)[0].strip()
    before = page.request.get(f"{app.url}/runs/first/export/report.json").json()
    page.locator(".actions summary", has_text="Rename").click()
    page.locator(".actions > details[open] [name=name]").fill("Renamed by hand")
    page.locator(".actions > details[open] [name=reason]").fill("clearer")
    page.locator(".actions > details[open] form > button").click()
    expect(page.locator("h1")).to_contain_text("Renamed by hand")
    after = page.request.get(f"{app.url}/runs/first/export/report.json").json()
    assert name in {b["name"] for b in before["biases"]}
    assert "Renamed by hand" in {b["name"] for b in after["biases"]}
