import xml.etree.ElementTree as ET

import pytest
from biasscope.audits.frozen import FrozenBias, seal
from biasscope.audits.gate import gate_report
from biasscope.audits.gate_text import broken_junit, broken_markdown, gate_junit, gate_markdown
from biasscope.audits.replay import Replay
from biasscope.validators.gating import GateLimits
from frozen_worlds import frozen_world

HOSTILE = "[x](javascript:alert(1)) | <b>bold</b> `code`\x1b[31m\x00 ]]>"
N = 60


@pytest.fixture(scope="module")
def reports(easy):
    """A judge that is worse, passes and is unclear, by three biases of which one has a hostile name."""
    made = frozen_world(easy, N, ("authority", "nautical", "length"))
    names = [b.name for b in made.head.biases]
    biases = [
        FrozenBias(id=b.id, name=HOSTILE if k == 0 else b.name, definition=b.definition, status="valid")
        for k, b in enumerate(made.head.biases)
    ]
    frozen = seal(made.pairs, biases, run="r", judge="j", part="confirm")
    rows = ("c" * N, "c" * N, "r" * 40 + "c" * 20, "c" * N, "r" * 3 + "f" * 1 + "c" * 56)

    def replayed(judge, *rows):
        arms = dict(zip(frozen.arms, rows, strict=True))
        wrong = {a: tuple({"c": 0.0, "r": 1.0}.get(x) for x in r) for a, r in arms.items()}
        verdicts = {a: tuple(r) for a, r in arms.items()}
        return Replay(
            frozen=frozen.digest,
            judge=judge,
            prompts="p",
            served_by=(f"{judge}-2026",),
            both_orders=False,
            wrong=wrong,
            verdicts=verdicts,
        )

    before, now = replayed("old" + HOSTILE, *("c" * N,) * 5), replayed("new" + HOSTILE, *rows)
    limits = GateLimits(max_effect=0.05)
    return gate_report(frozen, now, before, limits), gate_report(frozen, before, None, limits), names


def test_junit(reports):
    worse, passed, names = reports
    [suite] = ET.fromstring(gate_junit(worse))
    assert suite.attrib["tests"] == "3"
    assert (suite.attrib["failures"], suite.attrib["errors"]) == ("1", "1")
    cases = suite.findall("testcase")
    assert [c.attrib["name"] for c in cases][1:] == names[1:]
    assert "<b>bold</b>" in cases[0].attrib["name"]
    failure = cases[0].find("failure")
    assert failure.attrib["type"] == "worse"
    assert "over 5.0 points" in failure.attrib["message"]
    assert "p = " in failure.text
    assert cases[1].find("*") is None
    assert cases[2].find("error").attrib["type"] == "inconclusive"
    properties = {p.attrib["name"]: p.attrib["value"] for p in suite.find("properties")}
    assert properties["max_effect"] == "5"
    assert properties["drift"] == "not shown"
    assert properties["frozen"] == worse.frozen
    [calm] = ET.fromstring(gate_junit(passed))
    assert (calm.attrib["failures"], calm.attrib["errors"]) == ("0", "0")
    [broken] = ET.fromstring(broken_junit("", "dead \x00 endpoint"))
    assert broken.attrib["errors"] == "1"
    assert broken.find("testcase/error").attrib["type"] == "could not run"


def test_markdown_has_no_markup_of_others(reports):
    worse, passed, _ = reports
    page = gate_markdown(worse)
    assert page.startswith("## Judge gate worse: at least one bias is surely over its limits\n")
    for hostile in ("<b>", "[x](", "x](", "\x1b", "\x00"):
        assert hostile not in page
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert len({line.count(" | ") for line in rows if "over 5.0" in line or "points" in line}) <= 2
    assert "### Drift" in page
    assert "asked once" in page
    assert "### Faults of the judge" in page
    assert "an effect of at most 5 points and no growth since the baseline" in page
    calm = gate_markdown(passed)
    assert calm.startswith("## Judge gate passed")
    assert "### Drift" not in calm
    assert "### Faults" not in calm
    assert "could not run" in broken_markdown("j", "<script>")
    assert "<script>" not in broken_markdown("<script>", "<script>")
