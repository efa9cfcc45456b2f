"""The profile over real HTTP on the planted world, whose accuracy is known, with faults and kills."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from biasscope.core.errors import DataError
from biasscope.runs.audits.profile import ProfileConfig, run_profile
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create
from biasscope.simulation.effects import wrong_rate
from biasscope.simulation.pairs import world_pairs
from biasscope.simulation.scripted import Reply
from frozen_worlds import with_judge
from world_runs import COLUMNS, FaultyWorld, draw, write_sources

COMMAND = (sys.executable, "-c", "from biasscope.apps.cli.main import main; main()")
PAIRS = 60


@pytest.fixture(scope="module")
def data(easy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    write_sources(folder, easy, PAIRS, 1)
    return folder / "target.jsonl"


def config(url, data, workspace, **more):
    judge = {"model": "openai:world", "base_url": url, "price_input": 1.0, "price_output": 2.0}
    given = {"judge": judge, "data": {"source": str(data), "columns": COLUMNS}, "workspace": str(workspace)}
    return load_config(None, (), {**given, "name": "p", **more}, kind=ProfileConfig)


def profiled(url, data, workspace, **more):
    outcome = run_profile(create(config(url, data, workspace, **more)))
    assert outcome.state == "finished"
    return outcome.result, outcome.folder.path


def test_figures_are_those_of_the_world(easy, data, tmp_path):
    with FaultyWorld(easy, keep=5) as server:
        found, folder = profiled(server.url, data, tmp_path, again=20)
        assert server.asked.total() == 2 * PAIRS + 20
    pairs = world_pairs(easy, PAIRS, 1)
    truth = 1 - sum(wrong_rate(easy, pair, pair.rejected) for pair in pairs) / PAIRS
    assert found.accuracy.low <= truth <= found.accuracy.high
    assert (found.pairs, found.judgments) == (PAIRS, 2 * PAIRS)
    assert sum(d.pairs for d in found.domains) == PAIRS
    assert found.retest.agreement.value == 1  # this judge draws its noise from the question
    assert found.failed.value == found.truncated.value == found.invalid.value == 0
    assert found.spending.calls == 2 * PAIRS + 20
    assert found.spending.cost == pytest.approx(
        (found.spending.prompt_tokens + 2 * found.spending.completion_tokens) / 1e6, rel=1e-6
    )
    assert found.served_by == ("world",) or found.served_by
    assert found.confidence is None and any("calibration is left out" in note for note in found.notes)
    written = json.loads((folder / "profile.json").read_text())
    assert (written["format"], written["version"]) == ("biasscope-profile", 1)
    assert written["accuracy"]["value"] == found.accuracy.value
    page = (folder / "profile.html").read_text()
    assert "Cost and time" in page and "<script" not in page
    assert "| Right in both orders |" in (folder / "profile.md").read_text().replace("**", "")


def test_a_judge_with_a_strong_position_is_inconsistent(easy, data, tmp_path):
    with FaultyWorld(with_judge(easy, position=30.0), keep=5) as server:
        found, _ = profiled(server.url, data, tmp_path, again=0)
    assert found.orders.consistency.value == 0
    assert found.orders.first.value in (0, 1)
    assert found.accuracy.value == pytest.approx(0.5)
    assert found.orders.first_kept + found.orders.second_kept == PAIRS
    assert found.retest is None


def test_probabilities_are_calibrated_or_not(easy, data, tmp_path):
    with FaultyWorld(easy, keep=5) as server:
        mode = {"model": "openai:world", "base_url": server.url, "mode": "verdict"}
        found, folder = profiled(server.url, data, tmp_path, again=0, judge=mode)
    assert found.confidence.n == PAIRS
    assert sum(b.n for b in found.confidence.bins) == PAIRS
    assert "ECE" in (folder / "profile.md").read_text()


def test_lost_verdicts_are_counted_by_kind(easy, data, tmp_path):
    def fault(body, _):
        kind = draw({"messages": body["messages"][:2]}, 6)
        return Reply(text="Well.") if kind == 0 else Reply(text="The", finish_reason="length") if kind == 1 else None

    with FaultyWorld(easy, fault, keep=5) as server:
        found, folder = profiled(server.url, data, tmp_path, again=10)
    assert found.failures["truncated"] == round(found.truncated.value * found.judgments) > 5
    assert found.invalid.value > 0.02
    page = (folder / "profile.md").read_text()
    assert "ran into the token limit" in page
    assert "gave no verdict" in page


def test_people_and_bad_labels(easy, data, tmp_path):
    labels = tmp_path / "labels.jsonl"
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    labels.write_text("".join(json.dumps({"id": row["id"], "label": "chosen"}) + "\n" for row in rows))
    with FaultyWorld(easy, keep=5) as server:
        found, _ = profiled(server.url, data, tmp_path, again=0, labels=str(labels))
        assert found.people.pairs > PAIRS / 2
        assert found.people.agreement.value == pytest.approx(found.orders.right_twice.value, abs=0.1)
        asked = server.asked.total()
        labels.write_text('{"id": "x", "label": "chosen"}\n')
        with pytest.raises(DataError, match="none of its 1 labels is of the pairs"):
            profiled(server.url, data, tmp_path, again=0, labels=str(labels), name="q")
        assert server.asked.total() == asked


def test_killed_profiles_pay_nothing_twice(easy, data, tmp_path):
    with FaultyWorld(easy, keep=5) as server:
        more = {"data.limit": 25, "again": 5}
        whole, _ = profiled(server.url, data, tmp_path / "whole", **more)
        calls = server.asked.copy()
        server.asked.clear()
        folder = create(config(server.url, data, tmp_path / "killed", **more)).path
        for moment in sorted(random.Random(2).sample(range(3, 40), 2)):
            child = subprocess.Popen([*COMMAND, "resume", str(folder)], stdout=subprocess.DEVNULL)
            while child.poll() is None and len(server.asked) < moment:
                time.sleep(0.002)
            assert child.poll() is None
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
        done = subprocess.run([*COMMAND, "resume", str(folder)], capture_output=True, text=True, timeout=120)
        again = server.asked.copy()
    assert done.returncode == 0, done.stderr
    made = json.loads((folder / "profile.json").read_text())
    expected = whole.model_dump(mode="json")
    for values in (made, expected):
        for key in ("seconds_median", "seconds_p95"):
            values["spending"].pop(key)
    assert made == expected
    assert again.keys() == calls.keys()
    assert (
        again.total() - calls.total() <= 2 * 4 * 8
    )  # items in flight at the two kills: asked, or answered and not yet on disk
