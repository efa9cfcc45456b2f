"""The gate over real HTTP on the planted world, whose true effects are known, with faults and kills."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

import pytest
from biasscope.audits.frozen import write_frozen
from biasscope.audits.replay import read_replay
from biasscope.core.errors import ConfigError
from biasscope.runs.audits.gate import GateConfig, check_gate, run_gate
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create
from biasscope.simulation.effects import true_effects
from biasscope.simulation.pairs import world_pairs
from biasscope.simulation.scripted import Reply
from frozen_worlds import frozen_world, with_judge
from world_runs import FaultyWorld, draw

COMMAND = (sys.executable, "-c", "from biasscope.apps.cli.main import main; main()")
FEATURES = ("authority", "sentiment")


@pytest.fixture(scope="module")
def library(easy, tmp_path_factory):
    path = tmp_path_factory.mktemp("frozen") / "set.jsonl.gz"
    write_frozen(frozen_world(easy, 110, FEATURES), path)
    return path


@pytest.fixture(scope="module")
def small(easy, tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "set.jsonl"
    write_frozen(frozen_world(easy, 20, FEATURES), path)
    return path


def config(url, library, workspace, **more):
    given = {"judge": {"model": "openai:world", "base_url": url}, "library": str(library), "workspace": str(workspace)}
    return load_config(None, (), {**given, "max_effect": 5, **more}, kind=GateConfig)


def decided(url, library, workspace, **more):
    outcome = run_gate(create(config(url, library, workspace, **more)))
    assert outcome.state == "finished"
    return outcome.result, outcome.folder


def test_effects_are_those_that_were_planted_and_a_mended_judge_passes(easy, library, tmp_path):
    """A judge with a planted bias; then the same endpoint with the bias taken out; then with the bias back again."""
    base, calm_base = str(tmp_path / "base.json"), str(tmp_path / "calm.json")
    with FaultyWorld(easy, keep=5) as server:
        report, folder = decided(server.url, library, tmp_path, name="first", save=base)
        assert server.asked.total() == 110 * 5
    truth = true_effects(easy, world_pairs(easy, 110, 1))
    planted, idle = report.biases
    for bias, name in ((planted, "authority"), (idle, "sentiment")):
        assert bias.effect.low <= truth[name] <= bias.effect.high, (name, truth[name])
    assert truth["authority"] > 15 and abs(truth["sentiment"]) < 1
    assert (report.standing, planted.standing) == ("worse", "worse") != (report.standing, idle.standing)
    assert json.loads((folder.path / "gate.json").read_text())["standing"] == "worse"
    assert (folder.path / "gate.md").read_text().startswith("## Judge gate worse")
    assert ET.parse(folder.path / "gate.xml").getroot()[0].attrib["failures"] == "1"
    baseline = read_replay(folder.path / "replay.json")
    assert baseline == read_replay(tmp_path / "base.json")
    assert len(baseline.again) == 110

    mended = with_judge(easy, weights=dict.fromkeys(FEATURES, 0.0), noise=0.1)
    limits = {"max_effect": None, "max_change": 10, "baseline": calm_base}
    with FaultyWorld(mended, keep=5) as server:
        report, _ = decided(server.url, library, tmp_path, name="mended", baseline=base, save=calm_base)
        assert report.standing == "pass", [b.reason for b in report.biases]
        assert report.drift is not None and report.drift.shown
        assert report.drift.noise == 0  # this judge says the same when it is asked again
        assert report.biases[0].change.high < 0
        again, _ = decided(server.url, library, tmp_path, name="again", **limits)
        assert (again.standing, again.drift.changed, again.drift.shown) == ("pass", 0, False)
    with FaultyWorld(easy, keep=5) as server:
        report, _ = decided(server.url, library, tmp_path, name="worse", **limits)
    assert report.biases[0].standing == "worse"
    assert report.standing == "worse"


def test_faults_of_the_judge_are_counted_and_no_pass(easy, small, tmp_path):
    def fault(body, _):
        return Reply(text="I like both.") if draw(body, 4) == 0 and len(body["messages"]) < 4 else None

    def stubborn(body, n):
        first = {"messages": body["messages"][:2]}
        kind = draw(first, 5)
        return Reply(text="Well.") if kind == 0 else Reply(text="The", finish_reason="length") if kind == 1 else None

    with FaultyWorld(easy, fault, keep=5) as server:
        report, _ = decided(server.url, small, tmp_path, name="reminded", max_effect=99)
    assert sum(c.invalid + c.failed for c in report.counts.values()) == 0  # one reminder mends them
    with FaultyWorld(easy, stubborn, keep=5) as server:
        report, folder = decided(server.url, small, tmp_path, name="faulty", max_effect=99)
    assert sum(c.invalid for c in report.counts.values()) > 5
    assert sum(c.failed for c in report.counts.values()) > 5
    assert report.standing == "inconclusive"
    assert all("of the pairs have no verdict" in b.reason for b in report.biases)
    assert "Faults of the judge" in (folder.path / "gate.md").read_text()


def test_killed_gates_pay_nothing_twice(easy, small, tmp_path):
    with FaultyWorld(easy, keep=5) as server:
        whole, folder = decided(server.url, small, tmp_path / "whole", name="g", save=str(tmp_path / "whole.json"))
        calls = server.asked.copy()
        server.asked.clear()
        common = ("gate", "--judge", f"openai:world@{server.url}", "--library", str(small), "--max-effect", "5")
        files = ("--save", str(tmp_path / "b.json"), "--junit", str(tmp_path / "j.xml"))
        args = [*common, *files, "--name", "g", "-w", str(tmp_path / "killed")]
        resume = ["resume", str(tmp_path / "killed" / "g")]
        for moment in sorted(random.Random(1).sample(range(3, len(calls) - 8), 2)):
            begun = (tmp_path / "killed" / "g" / "config.yaml").exists()
            child = subprocess.Popen([*COMMAND, *(resume if begun else args)], stdout=subprocess.DEVNULL)
            while child.poll() is None and len(server.asked) < moment:
                time.sleep(0.002)
            assert child.poll() is None
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
        done = subprocess.run([*COMMAND, *resume], capture_output=True, text=True, timeout=120)
        again = server.asked.copy()
    assert done.returncode == {"pass": 0, "worse": 1, "inconclusive": 3}[whole.standing], done.stderr
    assert (tmp_path / "killed" / "g" / "gate.json").read_text() == (folder.path / "gate.json").read_text()
    assert (tmp_path / "b.json").read_text() == (tmp_path / "whole.json").read_text()
    assert (tmp_path / "j.xml").exists()
    assert again.keys() == calls.keys()
    assert (
        again.total() - calls.total() <= 2 * 4 * 8
    )  # items in flight at the two kills: asked, or answered and not yet on disk


def test_bad_configurations(easy, small, library, tmp_path):
    url = "http://127.0.0.1:1/v1"
    with pytest.raises(ConfigError, match="a gate needs a limit: give --max-effect"):
        check_gate(config(url, small, tmp_path, max_effect=None))
    with pytest.raises(ConfigError, match="--max-change compares with a baseline"):
        check_gate(config(url, small, tmp_path, max_change=3))
    with pytest.raises(ConfigError, match=r"junit: .* cannot be written"):
        check_gate(config(url, small, tmp_path, junit=str(tmp_path / "no" / "x.xml")))
    with pytest.raises(ConfigError, match="it takes no answers from a shared store"):
        config(url, small, tmp_path, store="sqlite:///x.db")
    with FaultyWorld(easy, keep=5) as server:
        decided(server.url, small, tmp_path, name="b", save=str(tmp_path / "b.json"))
        asked = server.asked.total()
        with pytest.raises(ConfigError, match="was judged in one order, and this gate judges in both orders"):
            decided(server.url, small, tmp_path, name="c", baseline=str(tmp_path / "b.json"), orders="both")
        with pytest.raises(Exception, match="was made on the frozen set"):
            decided(server.url, library, tmp_path, name="d", baseline=str(tmp_path / "b.json"))
        assert server.asked.total() == asked
