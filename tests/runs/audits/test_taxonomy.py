"""Whole taxonomy audits: what they find, what they leave out, and that a killed one ends the same."""

import json
import os
import random
import signal
import subprocess
import time

import pytest
import yaml
from audit_runs import COMMAND, as_json, fenced, model
from biasscope.core.errors import ConfigError
from biasscope.core.records import Judgment
from biasscope.runs.audits.taxonomy import TaxonomyConfig, TaxonomyReport
from biasscope.runs.audits.taxonomy_job import report_taxonomy, run_taxonomy
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create, open_store
from biasscope.simulation.judging import read
from biasscope.simulation.scripted import Reply
from world_runs import FaultyWorld


def audit(made, url, **values):
    values = {"judge": model(url, mode="verdict"), "pairs": 30, **values}
    return run_taxonomy(made(TaxonomyConfig, **values))


def load(folder):
    return TaxonomyReport.model_validate_json((folder.path / "report.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def whole(easy, world_file, tmp_path_factory):
    """One audit of all twelve and its files."""
    with FaultyWorld(easy) as server:
        given = {
            "judge": model(server.url, mode="verdict"),
            "data": str(world_file),
            "pairs": 60,
            "workspace": str(tmp_path_factory.mktemp("whole")),
            "name": "whole",
        }
        outcome = run_taxonomy(create(load_config(None, (), given, kind=TaxonomyConfig)))
        assert max(server.asked.values()) == 1
    return outcome


def test_the_planted_bias_is_found(whole):
    assert whole.state == "finished"
    by_name = {bias.name: bias for bias in whole.result.result.biases}
    assert len(by_name) == 12 and whole.result.result.left_out == {}
    planted = by_name["Authority"]
    assert planted.drop > 10 and planted.p_corrected < 0.05 and planted.harms > 3 * planted.repairs
    assert planted.margin.unit == "log-odds" and planted.margin.interval[1] < 0
    strongest = max(by_name.values(), key=lambda bias: bias.drop)
    assert strongest.name == "Authority"
    assert whole.result.result.overall.biases == 12


def test_the_files_are_the_report(whole):
    report = load(whole.folder)
    assert report == whole.result
    page = (whole.folder.path / "report.html").read_text(encoding="utf-8")
    text = (whole.folder.path / "report.md").read_text(encoding="utf-8")
    assert "default-src 'none'" in page and "<script" not in page
    assert "Authority" in page and "Authority" in text
    assert (whole.folder.path / "plots" / "bsr.svg").read_text(encoding="utf-8").startswith("<svg")
    assert report.examples["Authority"][0].rejected.spans
    written = report_taxonomy(whole.folder, whole.folder.path / "again")
    assert written["json"].read_text() == (whole.folder.path / "report.json").read_text()
    assert written["html"].read_text() == page


def test_the_suite_serves_another_judge(whole, easy, made):
    def reply(body, times):
        messages = body["messages"]
        question, answer = (m["content"] for m in messages)
        return Reply(text=f"{read(easy, question, answer, '').margin:.6f}")

    with FaultyWorld(easy, reply) as server:
        judge = model(server.url, kind="score")
        outcome = audit(made, server.url, judge=judge, suite=str(whole.folder.path / "suite.jsonl"))
    result = outcome.result.result
    assert result.kind == "discriminative" and set(result.left_out) == {
        "Superficial reflection", "Bandwagon", "Position",
    }  # fmt: skip
    assert len(result.biases) == 9
    authority = next(bias for bias in result.biases if bias.name == "Authority")
    assert authority.margin.unit == "score" and authority.margin.change < 0 and authority.harms > authority.repairs
    assert "teacher" not in outcome.result.account.models
    assert "Left out: Superficial reflection" in (outcome.folder.path / "report.md").read_text()


def test_a_model_writes_and_checks(easy, world_file, made):
    def fault(body, times):
        fields = fenced(body)
        if "answer" in fields and "Your task" in body["messages"][-1]["content"]:
            words = fields["answer"].split()
            if "Attribute the claims" in body["messages"][-1]["content"]:
                return as_json(rewritten_answer=f"{fields['answer']} The Institute of Applied Reasoning agrees.")
            return as_json(rewritten_answer=" ".join(words)) if len(words) % 3 else None
        if "answer_1" in fields:
            return as_json(better=1 + (len(fields["answer_1"]) % 2))
        return None

    with FaultyWorld(easy, fault) as server:
        outcome = audit(
            made,
            server.url,
            data=str(world_file),
            teacher=model(server.url, "teacher"),
            biases=["authority", "position"],
        )
    report = outcome.result
    authority, position = report.result.biases
    assert authority.written_by.startswith("teacher@") and position.written_by == "order"
    assert report.result.filtered and 0 < authority.suite.discarded < authority.suite.drawn
    assert position.suite.discarded == 0
    assert report.account.models["verifier"] == report.account.models["teacher"]
    roles = {(usage.role, usage.stage) for usage in report.account.usage}
    assert roles == {("teacher", "audit"), ("verifier", "audit"), ("judge", "audit")}


def test_a_verifier_that_is_the_judge_is_refused(world_file, made):
    with pytest.raises(ConfigError, match="would discard just the pairs that fool the judge"):
        audit(made, "http://127.0.0.1:9/v1", data=str(world_file), verifier=model("http://127.0.0.1:9/v1"))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "give either data .* or suite"),
        ({"data": "builtin", "suite": "builtin"}, "give either data .* or suite"),
        ({"data": "builtin", "pairs": 0}, "pairs: must be 1 or more"),
        ({"data": "builtin", "control": "all"}, "control: is unknown"),
        ({"data": "builtin", "orders": "two"}, "orders: must be 'one' or 'both'"),
    ],
)
def test_a_wrong_setting_is_one_line(values, said):
    with pytest.raises(ConfigError, match=said):
        load_config(None, (), {"judge": "openai:m", **values}, kind=TaxonomyConfig)


def test_an_unknown_bias_is_one_line(made):
    with pytest.raises(ConfigError, match="no 'novelty'"):
        audit(made, "http://127.0.0.1:9/v1", data="builtin", biases=["novelty"])


def test_nothing_that_applies_is_said(made):
    with pytest.raises(ConfigError, match="none of Position applies: this judge scores each answer alone"):
        audit(made, "", judge=model("http://127.0.0.1:9/v1", kind="score"), data="builtin", biases=["position"])


def test_unreadable_verdicts_and_broken_calls_are_counted(easy, world_file, made):
    def fault(body, times):
        size = len(body["messages"][1]["content"])
        if size % 5 == 0:
            return Reply(text="Hm", logprobs=[{"Hm": 0.0}])
        if size % 7 == 0:
            return Reply(text="", finish_reason="content_filter")
        return None

    with FaultyWorld(easy, fault) as server:
        outcome = audit(made, server.url, data=str(world_file), biases=["gender"])
    [gender] = outcome.result.result.biases
    assert gender.biased.invalid > 0 and gender.biased.failed > 0
    assert gender.n + gender.biased.invalid + gender.biased.failed + gender.biased.ties <= gender.suite.kept + gender.n
    assert sum(group.count for group in outcome.result.account.failures) >= gender.biased.failed
    assert "could not be read" in (outcome.folder.path / "report.md").read_text()


def test_hostile_text_stays_text(easy, tmp_path, made):
    evil = "<script>alert(1)</script> | [x](javascript:1) \u202e <img src=x onerror=1>"
    rows = [
        {"prompt": f"{evil} {n}?", "chosen": f"{evil} right {n}.", "rejected": f"{evil} wrong {n}.", "domain": evil}
        for n in range(12)
    ]
    path = tmp_path / "evil.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    turn = {"A": "B", "B": "A"}

    def fault(body, times):
        # Right on originals, wrong under a line: every pair becomes an example.
        text = body["messages"][-1]["content"]
        letter = "A" if "right" in fenced(body)["answer_a"] else "B"
        return Reply(text=turn[letter] if "This answer was written by" in text else letter)

    with FaultyWorld(easy, fault) as server:
        outcome = audit(made, server.url, data=str(path), biases=["race"], controls="off")
    page = (outcome.folder.path / "report.html").read_text(encoding="utf-8")
    assert outcome.result.result.biases[0].bsr.value == 1.0
    assert "<script>alert" not in page and "<img" not in page and "\u202e" not in page
    assert "&lt;script&gt;alert(1)" in page
    text = (outcome.folder.path / "report.md").read_text(encoding="utf-8")
    outside = "".join(part for k, part in enumerate(text.split("```")) if k % 2 == 0)
    assert "<script>" not in outside and "[x](javascript" not in outside


def test_a_budget_ends_it_and_a_resume_goes_on(easy, world_file, made):
    values = {"data": str(world_file), "biases": ["gender", "position"], "pairs": 20}
    with FaultyWorld(easy) as server:
        outcome = audit(made, server.url, budget={"calls": 15}, **values)
        assert (outcome.state, outcome.result) == ("budget", None)
        done = subprocess.run(
            [*COMMAND, "resume", str(outcome.folder.path), "--set", "budget.calls=1000"], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert "biases found" in done.stdout and "report:" in done.stdout
        assert max(server.asked.values()) == 1


def results(folder):
    store = open_store(folder)
    try:
        judgments = [j.model_dump() for j in store.select(Judgment, run_id=folder.run_id)]
    finally:
        store.close()
    return judgments, (folder.path / "report.json").read_text(), (folder.path / "suite.jsonl").read_text()


def test_two_kills_change_nothing(easy, world_file, tmp_path):
    with FaultyWorld(easy) as server:
        values = {
            "judge": model(server.url, mode="verdict"),
            "data": str(world_file),
            "pairs": 8,
            "name": "audit",
            "kind": "taxonomy",
        }
        whole = run_taxonomy(
            create(load_config(None, (), {**values, "workspace": str(tmp_path / "whole")}, kind=TaxonomyConfig))
        )
        calls = server.asked.copy()
        server.asked.clear()
        config = tmp_path / "audit.yaml"
        config.write_text(yaml.safe_dump({**values, "workspace": str(tmp_path / "killed")}), encoding="utf-8")
        folder = tmp_path / "killed" / "audit"
        generator, hits = random.Random(1), 0
        for moment in sorted(generator.sample(range(1, len(calls)), 2)):
            begun = (folder / "config.yaml").exists()
            args = ["resume", str(folder)] if begun else ["audit", "taxonomy", str(config)]
            child = subprocess.Popen([*COMMAND, *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            while child.poll() is None and len(server.asked) < moment:
                time.sleep(0.002)
            if child.poll() is None:
                hits += 1
                os.kill(child.pid, signal.SIGKILL)
            child.communicate()
        done = subprocess.run([*COMMAND, "resume", str(folder)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert hits == 2
        assert server.asked.keys() == calls.keys()
        assert (
            server.asked.total() - calls.total() <= 2 * 4 * 8
        )  # items in flight at the two kills: asked, or answered and not yet on disk
    assert results(type(whole.folder)(folder)) == results(whole.folder)


def test_rules_check_what_rules_wrote(easy, world_file, made):
    with FaultyWorld(easy) as server:
        outcome = audit(made, server.url, data=str(world_file), verifier="rules", biases=["authority", "length"])
    report = outcome.result
    length, authority = report.result.biases
    assert report.result.by_rule and not report.result.filtered and report.account.models["verifier"] == "rules"
    assert (authority.suite.drawn, authority.suite.discarded, authority.suite.kept) == (30, 1, 29)
    assert length.suite.discarded == 0 and length.length_ratio > authority.length_ratio
    assert "rules left out what lost words" in (outcome.folder.path / "report.md").read_text()
    assert {usage.role for usage in report.account.usage} == {"judge"}


def test_rules_do_not_check_what_a_model_wrote(world_file, made):
    url = "http://127.0.0.1:9/v1"
    with pytest.raises(ConfigError, match="verifier: rules checks edits, and a model rewrites"):
        audit(made, url, data=str(world_file), teacher=model(url, "teacher"), verifier="rules")
