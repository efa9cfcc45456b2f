"""Every face of the report: complete, harmless and readable by machines."""

import csv
import io
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from biasscope.runs.report import Report, biases_csv, collect, summary_table, write_report
from biasscope.runs.report.plots import draw_plots
from biasscope.runs.report.render import html, md
from biasscope.runs.report.tables import number
from rich.console import Console

RUN = "judge-audit-01"
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Tags, attributes and ids; complains about tags that do not close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: dict[str, int] = {}
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes {self.open[-3:]}"


@pytest.fixture(scope="module")
def report(store):
    return collect(store, RUN)


@pytest.fixture(scope="module")
def text(report):
    return html(report)


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_page_is_well_formed_and_without_scripts(page, text):
    assert page.open == []
    assert not {"script", "img", "iframe", "link", "object", "form"} & page.tags.keys()
    names = {name for name, _ in page.attributes}
    assert not [n for n in names if n.startswith("on")] and "style" not in names
    assert "default-src 'none'" in text
    assert not [v for n, v in page.attributes if n in ("href", "src", "xlink:href") and not v.startswith("#")]


def test_ids_are_unique_and_links_lead_somewhere(page):
    ids = [v for n, v in page.attributes if n == "id"]
    assert len(ids) == len(set(ids))
    targets = {v[1:] for n, v in page.attributes if n in ("href", "xlink:href")}
    targets |= {i for n, v in page.attributes if n == "aria-labelledby" for i in v.split()}
    assert targets <= set(ids)


def test_policy_allows_just_this_style_sheet(text):
    import base64
    import hashlib

    [style] = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src &#39;sha256-{digest}&#39;" in text or f"style-src 'sha256-{digest}'" in text
    assert "palette" not in style.replace("--p-", "") and "prefers-color-scheme: dark" in style


def test_hostile_text_stays_text_and_hidden_characters_are_seen(text, report):
    for shown in (text, md(report)):
        assert "<script>alert" not in re.sub(r"```+text\n.*?\n```+", "", shown, flags=re.DOTALL)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]", shown)
        assert "⟨U+202E⟩" in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "{{ 7*7 }}" in text and "49" not in re.findall(r"hidden [^<]{0,40}", text)[0]


def test_every_bias_and_section_is_there(text):
    for name in ("Authority by citation", "Worked-steps formatting", "Flattery of the reader", "Longer is better"):
        assert name in text
    for heading in ("Biases", "Error rates", "Evidence", "Search", "Reliability", "Cost", "Data", "How it was made"):
        assert re.search(rf"<h2[^>]*>{heading}</h2>", text)
    assert text.count("<table") == text.count("</table>")
    assert "Effect by domain" in text and "Failures" in text


def test_markdown_tables_keep_their_columns(report):
    lines = md(report).splitlines()
    inside = False
    width = 0
    for line in lines:
        if line.startswith(("```", "````")):
            inside = not inside
        if inside or not line.startswith("|"):
            width = 0
            continue
        cells = len(re.findall(r"(?<!\\)\|", line))
        assert width in (0, cells), line
        width = cells


def test_fences_cannot_be_closed_by_a_text(report):
    said = md(report)
    assert "````text" in said
    opened = [line for line in said.splitlines() if re.fullmatch(r"`{3,}(text)?", line)]
    assert len(opened) % 2 == 0
    assert all(a == f"{b}text" for a, b in zip(opened[::2], opened[1::2], strict=True))


def test_plots_are_valid_svg_in_both_palettes_and_say_what_they_show(report):
    plots = draw_plots(report)
    assert list(plots) == ["effects", "errors", "funnel", "growth"]
    for plot in plots.values():
        root = ElementTree.fromstring(plot.file_svg)
        assert root.tag.endswith("svg") and root.get("role") == "img"
        assert "prefers-color-scheme: dark" in plot.file_svg
        assert "<dc:date" not in plot.file_svg and "style=" not in plot.wide
        assert plot.png.startswith(b"\x89PNG")
        assert len(plot.alt) > 40
    assert "Authority by citation +21.1 points" in plots["effects"].alt
    assert not re.search(r"#(?!fefefe|[0-9a-f]{6}\))[0-9a-f]{6}\b", re.sub(r"var\([^)]*\)", "", plots["errors"].wide))


def test_files_and_json_round_trip(store, report, tmp_path):
    paths = write_report(store, RUN, tmp_path / "out")
    assert {"html", "markdown", "json", "csv", "plot:effects:svg", "plot:effects:png"} <= paths.keys()
    assert all(p.stat().st_size for p in paths.values())
    assert Report.model_validate_json(paths["json"].read_text()) == report
    assert json.loads(paths["json"].read_text())["run_id"] == RUN


def test_csv_has_a_line_per_bias_and_no_formula(report):
    risky = report.model_copy(update={"biases": (report.biases[0].model_copy(update={"name": "=HYPERLINK(1)"}),)})
    rows = list(csv.DictReader(io.StringIO(biases_csv(report))))
    assert [r["name"] for r in rows][:2] == ["Authority by citation", "Confident tone"]
    assert float(rows[0]["interval_low"]) < float(rows[0]["effect_points"]) < float(rows[0]["interval_high"])
    assert next(csv.DictReader(io.StringIO(biases_csv(risky))))["name"] == "'=HYPERLINK(1)"


def test_statistics_in_a_few_characters():
    values = (0, 0.000052, 0.0123, 1.349, 532.4, 2748.2, 15_900, 3.2e12)
    assert [number(v) for v in values] == ["0", "5.2e-5", "0.0123", "1.35", "532", "2748", "1.6e4", "3.2e12"]


def test_terminal_table_fits_80_columns(report):
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(summary_table(report))
    shown = console.export_text()
    assert not re.search(r"[\d.+\]]…", shown)  # a number that was cut would be another one
    assert "e=1.6e4" in shown and "+21.1 [+8.8, +33.3]" in shown and "inconclusive" in shown
    assert "\x1b[31m" not in shown
    assert max(map(len, shown.splitlines())) <= 80
