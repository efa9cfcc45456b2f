"""Whole self-preference audits on a judge, a panel and authors whose truth is known."""

import json
import os
import signal
import subprocess
import time

import pytest
import yaml
from audit_runs import COMMAND, model
from biasscope.core.errors import ConfigError, DataError
from biasscope.core.records import Judgment
from biasscope.runs.audits.self_preference import SelfPreferenceConfig, SelfPreferenceReport
from biasscope.runs.audits.self_preference_job import report_self_preference, run_self_preference
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create, open_store
from biasscope.simulation.scripted import Reply
from panel_world import PanelWorld, answers
from world_runs import FaultyWorld


class Behind(FaultyWorld):
    """A panel world over HTTP that counts equal requests."""

    def __init__(self, easy, world, fault=None):
        super().__init__(easy, lambda body, n: (fault and fault(body, n)) or world(body, n))


def settings(url, path, **more):
    panel = [model(url, name) for name in ("p-one", "p-two", "p-three")]
    judge = model(url, "me", mode="verdict")
    return {"judge": judge, "answers": str(path), "panel": panel, **more}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return answers(tmp_path_factory.mktemp("answers") / "a.jsonl", 40, ["me", "ann", "bob", "cid"])


@pytest.fixture(scope="module")
def whole(easy, file, tmp_path_factory):
    """A judge with self-preference 1.0, a liking for the first place, and a weakness for its name."""
    with Behind(easy, PanelWorld(beta=1.0, a=1.5, g=0.8, structured=0.3, label=0.7)) as server:
        values = settings(server.url, file, workspace=str(tmp_path_factory.mktemp("w")), name="whole", delta=0.5)
        outcome = run_self_preference(create(load_config(None, (), values, kind=SelfPreferenceConfig)))
        assert max(server.asked.values()) == 1
    return outcome


def within(found, truth):
    return found.interval[0] <= truth <= found.interval[1]


def test_the_truth_lies_in_the_intervals(whole):
    side = whole.result.result.own_side
    # Grades carry noise, so the discriminability is a little under 1.5; the others are nearly as they were made.
    assert abs(side.fit.beta_self.estimate - 1.0) < 0.15
    assert abs(side.fit.position.estimate - 0.8) < 0.03
    assert 1.2 < side.fit.discriminability.estimate < 1.6
    assert side.propensity.interval[0] > 0.1
    assert side.baseline.propensity.interval[0] < 0.02
    assert side.baseline.difference.interval[0] > 0.1
    assert side.discriminability.value > 0.6
    assert (side.pairs, side.graded) == (120, 120)
    assert side.first > side.second


def test_structured_judging_and_labels(whole):
    result = whole.result.result
    assert result.mitigation.before.n == result.own_side.equal >= 20
    assert result.mitigation.reduction.value > 0
    labels = result.labels
    assert labels.preference.interval[0] > 0
    assert labels.own_labelled_own.value > labels.other_labelled_own.value


def test_the_files_are_the_report(whole):
    path = whole.folder.path
    report = SelfPreferenceReport.model_validate_json((path / "report.json").read_text(encoding="utf-8"))
    assert report == whole.result
    page = (path / "report.html").read_text(encoding="utf-8")
    assert "The judge prefers its own answers" in page and "default-src 'none'" in page
    assert (path / "plots" / "threshold.svg").exists() and (path / "plots" / "propensity.png").exists()
    text = (path / "report.md").read_text(encoding="utf-8")
    assert "Relative reduction" in text or "nothing to be reduced" in text
    written = report_self_preference(whole.folder, path / "again")
    assert written["html"].read_text() == page


def test_a_judge_without_self_preference_shows_none(easy, file, made):
    with Behind(easy, PanelWorld(beta=0.0, g=1.5)) as server:
        values = settings(server.url, file, structured=False, labels=False, delta=0.5)
        side = run_self_preference(made(SelfPreferenceConfig, **values)).result.result.own_side
    assert abs(side.fit.beta_self.estimate) < 0.15
    assert abs(side.baseline.difference.value) < 0.01
    assert within(side.propensity, 0.0)


def test_quality_that_the_grades_miss_is_the_baselines(easy, file, made):
    hidden = {"me": 0.8}
    with Behind(easy, PanelWorld(beta=0.0, hidden=hidden)) as server:
        values = settings(server.url, file, structured=False, labels=False, delta=0.5)
        outcome = run_self_preference(made(SelfPreferenceConfig, **values))
    side = outcome.result.result.own_side
    assert side.propensity.interval[0] > 0.1  # looks like self-preference
    assert side.baseline.propensity.interval[0] > 0.1  # but every judge says so
    assert abs(side.baseline.difference.value) < 0.05
    assert "No self-preference shown" in (outcome.folder.path / "report.md").read_text()


def test_models_answer_and_the_judge_answers_for_itself(easy, tmp_path, made):
    path = answers(tmp_path / "a.jsonl", 12, ["ann", "p-one"])
    with Behind(easy, PanelWorld(beta=0.5)) as server:
        values = settings(server.url, path, authors=[model(server.url, "bob")], structured=False, labels=False)
        outcome = run_self_preference(made(SelfPreferenceConfig, **values))
        written = [b for b in server.chats if len(b["messages"]) == 1]
    report = outcome.result
    assert {b["model"] for b in written} == {"me", "bob"} and len(written) == 24
    assert report.result.authors == {"ann": 12, "p-one": 12, "bob": 12, "me": 12}
    assert report.result.own == "me" and report.result.own_side.pairs == 36
    usage = {(u.role, u.calls) for u in report.account.usage}
    assert ("author", 24) in usage
    store = open_store(outcome.folder)
    try:
        graded = store.select(Judgment, run_id="audit", arm="panel")
    finally:
        store.close()
    by_member = {name: sum(j.judge == name for j in graded) for name in ("p-one", "p-two", "p-three")}
    assert by_member == {"p-one": 24, "p-two": 36, "p-three": 36}  # p-one wrote the answers of twelve pairs


def test_the_family_has_a_side_of_its_own(easy, tmp_path, made):
    path = answers(tmp_path / "a.jsonl", 20, ["me", "kin", "ann"])
    with Behind(easy, PanelWorld()) as server:
        families = {"me": "us", "kin": "us"}
        values = settings(server.url, path, families=families, structured=False, labels=False, baseline="off")
        result = run_self_preference(made(SelfPreferenceConfig, **values)).result.result
    assert result.family == "us" and result.family_side.pairs == 20
    assert [a.other for a in result.family_side.authors] == ["ann"]
    assert {a.other: a.family for a in result.own_side.authors} == {"ann": "ann", "kin": "us"}


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"panel": []}, ConfigError, "panel: is empty"),
        ({"panel": ["openai:x", "openai:x"]}, ConfigError, "names a model twice"),
        ({"own": "nobody"}, ConfigError, "no author 'nobody'; authors are me, ann"),
        ({"others": ["zed"]}, DataError, "no prompt has an answer of the judge"),
    ],
)
def test_what_cannot_be_compared_is_one_line(tmp_path, made, change, error, said):
    path = answers(tmp_path / "a.jsonl", 3, ["me", "ann"])
    values = {**settings("http://127.0.0.1:9/v1", path), **change}
    with pytest.raises(error, match=said):
        run_self_preference(made(SelfPreferenceConfig, **values))


def test_the_judge_is_not_on_its_panel(tmp_path, made):
    path = answers(tmp_path / "a.jsonl", 3, ["me", "ann"])
    values = settings("http://127.0.0.1:9/v1", path)
    values["panel"] = [*values["panel"], model("http://127.0.0.1:9/v1", "me")]
    with pytest.raises(ConfigError, match="is the judge itself"):
        run_self_preference(made(SelfPreferenceConfig, **values))


def test_grades_that_cannot_be_read_leave_their_pairs(easy, file, made):
    def fault(body, n):
        text = body["messages"][-1]["content"]
        return Reply(text="good") if "p-t" in body["model"] and "steps of 0.25" in text and "ann-bot" in text else None

    with Behind(easy, PanelWorld(), fault) as server:
        values = settings(server.url, file, structured=False, labels=False, baseline="off", others=["ann"])
        values["panel"] = values["panel"][1:]
        outcome = run_self_preference(made(SelfPreferenceConfig, **values))
    side = outcome.result.result.own_side
    assert (side.pairs, side.graded, side.equal) == (40, 0, 0)
    assert sum(g.count for g in outcome.result.account.failures) == 80
    assert "graded by no member" in (outcome.folder.path / "report.md").read_text()


def test_a_kill_changes_nothing(easy, tmp_path):
    path = answers(tmp_path / "a.jsonl", 10, ["ann", "bob"])
    with Behind(easy, PanelWorld(beta=0.5)) as server:
        values = settings(server.url, path, name="audit", kind="self-preference", delta=1.0)
        given = {**values, "workspace": str(tmp_path / "whole")}
        whole = run_self_preference(create(load_config(None, (), given, kind=SelfPreferenceConfig)))
        calls = server.asked.copy()
        server.asked.clear()
        config = tmp_path / "audit.yaml"
        config.write_text(yaml.safe_dump({**values, "workspace": str(tmp_path / "killed")}), encoding="utf-8")
        folder = tmp_path / "killed" / "audit"
        child = subprocess.Popen(
            [*COMMAND, "audit", "self-preference", str(config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while child.poll() is None and len(server.asked) < len(calls) // 2:
            time.sleep(0.002)
        assert child.poll() is None
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        done = subprocess.run([*COMMAND, "resume", str(folder)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert server.asked.keys() == calls.keys()
    ours, theirs = (json.loads((path / "report.json").read_text()) for path in (folder, whole.folder.path))
    assert ours == theirs
