"""The GitHub Actions example of docs/gate.md: its steps, run as a runner runs them."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import biasscope
import pytest
import yaml
from biasscope.audits.frozen import write_frozen
from biasscope.runs.audits.gate import GateConfig, run_gate
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create
from biasscope.simulation.scripted import Reply
from frozen_worlds import frozen_world, with_judge
from world_runs import FaultyWorld

PAGE = (Path(biasscope.__file__).parent / "docs" / "gate.md").read_text(encoding="utf-8")
WORKFLOW, LENIENT = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
(JOB,) = WORKFLOW["jobs"].values()
FEATURES = ("authority", "sentiment")


@pytest.fixture(scope="module")
def mended(easy):
    return with_judge(easy, weights=dict.fromkeys(easy.features, 0.0), noise=0.0)


@pytest.fixture(scope="module")
def checkout(mended, tmp_path_factory):
    """What the repository holds: a frozen set, and the baseline of a judge without biases."""
    place = tmp_path_factory.mktemp("checkout")
    (place / "gate").mkdir()
    write_frozen(frozen_world(mended, 56, FEATURES), place / "gate" / "set.jsonl.gz")
    with FaultyWorld(mended, keep=5) as server:
        given = {"judge": f"openai:m@{server.url}", "library": str(place / "gate" / "set.jsonl.gz"), "max_effect": 5}
        given |= {"save": str(place / "gate" / "baseline.json"), "workspace": str(place / "w")}
        assert run_gate(create(load_config(None, (), given, kind=GateConfig))).result.standing == "pass"
    return place


def job(place, url, folder, steps):
    """Exit codes by step: the runner's shell, and its rule for steps after one that failed."""
    folder.mkdir(exist_ok=True)
    (folder / "gate").symlink_to(place / "gate")
    # The runner's own installation; this one stands on the path already.
    tools = folder / "bin"
    tools.mkdir()
    (tools / "biasscope").write_text(f'#!/bin/sh\nexec {sys.executable} -m biasscope "$@"\n')
    (tools / "biasscope").chmod(0o755)
    env = {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "JUDGE": f"openai:m@{url}",
        "OPENAI_API_KEY": "secret",
    }
    env["GITHUB_STEP_SUMMARY"] = str(folder / "summary")
    codes = {}
    for step in steps:
        if "run" not in step or step["run"].startswith("pip install"):
            continue
        if any(codes.values()) and step.get("if") != "always()":
            continue
        shell = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"])
        done = subprocess.run(shell, cwd=folder, env=env, capture_output=True, text=True, timeout=120)
        assert "secret" not in done.stdout + done.stderr
        codes[step["name"]] = done.returncode
        (folder / "log").write_text(done.stdout + done.stderr)
    return codes


def test_the_example_is_a_workflow():
    assert set(WORKFLOW) == {"name", True, "permissions", "jobs"}  # YAML 1.1 reads `on` as true
    assert [step["uses"].split("@")[0] for step in JOB["steps"] if "uses" in step] == [
        "actions/checkout",
        "actions/setup-python",
        "actions/upload-artifact",
    ]


def test_a_judge_as_good_as_before_passes_and_a_biased_one_fails(checkout, mended, easy, tmp_path):
    for world, code, said in ((mended, 0, "passed"), (easy, 1, "worse")):
        with FaultyWorld(world, keep=5) as server:
            folder = tmp_path / said
            assert job(checkout, server.url, folder, JOB["steps"]) == {"Gate": code, "Summary": 0}
        assert (folder / "summary").read_text().startswith(f"## Judge gate {said}")
        suite = ET.parse(folder / "gate.xml").getroot()[0]
        assert int(suite.attrib["failures"]) == code
        assert (folder / "gate.json").exists()


def test_a_judge_that_is_not_there_is_no_worse_judge(checkout, tmp_path):
    found = job(checkout, "http://127.0.0.1:1/v1", tmp_path / "dead", JOB["steps"])
    assert found == {"Gate": 2, "Summary": 0}
    assert (tmp_path / "dead" / "summary").read_text().startswith("## Judge gate could not run")
    assert ET.parse(tmp_path / "dead" / "gate.xml").getroot()[0].attrib["errors"] == "1"


def test_inconclusive_stops_or_warns(checkout, mended, easy, tmp_path):
    """A judge that cannot be read: the strict step fails, the lenient one warns; worse is worse in both."""
    with FaultyWorld(mended, lambda *_: Reply(text="Well."), keep=5) as server:
        assert job(checkout, server.url, tmp_path / "strict", JOB["steps"]) == {"Gate": 3, "Summary": 0}
        assert job(checkout, server.url, tmp_path / "lenient", LENIENT) == {"Gate": 0}
        assert "::warning title=Judge gate::inconclusive" in (tmp_path / "lenient" / "log").read_text()
    with FaultyWorld(easy, keep=5) as server:
        assert job(checkout, server.url, tmp_path / "worse", LENIENT) == {"Gate": 1}
