"""Stopping before admission, and a person's decision."""

import dataclasses
import shutil

import pytest
from biasscope.bias_library.library import load_library
from biasscope.core.errors import ConfigError, UserError
from biasscope.runs.analyses.growth import growth_line
from biasscope.runs.folder import RunFolder
from biasscope.runs.jobs import open_store
from biasscope.runs.launch import Approval, run
from biasscope.runs.report import load_report
from biasscope.runs.report.tables import standing
from world_runs import results, settings, start

DECISION = {"author": "Ada", "reason": "read the examples"}


@pytest.fixture(scope="module")
def stopped(small_data, server, tmp_path_factory):
    outcome = start(settings(small_data, tmp_path_factory.mktemp("stopped"), server.url, approve=True))
    assert outcome.state == "waiting"
    return outcome


@pytest.fixture
def waiting(stopped, tmp_path):
    shutil.copytree(stopped.folder.path, tmp_path / "trial")
    return dataclasses.replace(stopped, folder=RunFolder(tmp_path / "trial"))


def library(folder):
    store = open_store(folder)
    try:
        return load_library(store, folder.run_id)
    finally:
        store.close()


def test_the_names_that_wait_are_said(waiting):
    names = library(waiting.folder).entries
    assert waiting.waiting_for
    assert all(names[id_].bias.name in waiting.reason and id_[:8] in waiting.reason for id_ in waiting.waiting_for)
    assert all(names[id_].status == "candidate" for id_ in waiting.waiting_for)
    assert run(waiting.folder).state == "waiting"


@pytest.mark.parametrize("how", ["name", "id", "all"])
def test_approved_by(waiting, how):
    [bias_id] = waiting.waiting_for
    name = library(waiting.folder).entries[bias_id].bias.name
    run(waiting.folder, approval=Approval(({"name": name.upper(), "id": bias_id[:8], "all": "all"}[how],), **DECISION))
    after = library(waiting.folder)
    assert after.entries[bias_id].status == "valid"
    decided = [(e.author, e.reason) for e in after.history(bias_id) if e.kind == "status"]
    assert decided == [("Ada", "read the examples")]


def test_rejecting_all(waiting):
    [bias_id] = waiting.waiting_for
    outcome = run(waiting.folder, approval=Approval((), **DECISION))
    after = library(waiting.folder)
    assert outcome.state == "finished"
    assert after.entries[bias_id].status == "rejected"
    assert [e.author for e in after.history(bias_id) if e.kind == "status"] == ["Ada"]
    report = load_report(waiting.folder.path / "report.json")
    [entry] = [b for b in report.biases if b.id == bias_id]
    assert (standing(entry), report.headline.validated) == ("declined", len(report.valid) - 1)
    assert f"Of these, 1 was declined by a person: “{entry.name}”." in report.headline.sentences


@pytest.mark.parametrize("key", ["no such bias", "", "all "])
def test_a_key_that_means_nothing_records_nothing(waiting, key):
    before = results(waiting.folder)
    with pytest.raises(UserError, match=r"is none of the biases that wait: .*; give a name or an id"):
        run(waiting.folder, approval=Approval((key,), **DECISION))
    assert results(waiting.folder) == before
    assert run(waiting.folder).state == "waiting"


def test_a_decision_that_nobody_waits_for(small_data, server, tmp_path):
    outcome = start(settings(small_data, tmp_path / "w", server.url))
    with pytest.raises(ConfigError, match="waits for a decision"):
        run(outcome.folder, approval=Approval(("all",), **DECISION))


def test_a_run_with_approval_of_all_finds_what_one_without_finds(waiting, small_data, server, tmp_path):
    whole = start(settings(small_data, tmp_path / "whole", server.url))
    outcome = waiting
    while outcome.state == "waiting":
        outcome = run(outcome.folder, approval=Approval(("all",), **DECISION))
    ours, theirs = results(outcome.folder), results(whole.folder)
    assert ours["Validation"] == theirs["Validation"]
    assert ours["Judgment"] == theirs["Judgment"]


def test_late_validation_waits_for_biases_that_were_injected_untested(small_data, server, tmp_path):
    late = {"validation": {"when": "late", "rule": "paper"}, "approve": True}
    outcome = start(settings(small_data, tmp_path, server.url, **late))
    found = results(outcome.folder)
    passed = {v["bias_id"] for v in found["Validation"] if v["decision"] == "valid"}
    early = {m["into"] for m in found["MergeDecision"] if m["iteration"] == 0 and m["novel"]}
    assert outcome.state == "waiting" and set(outcome.waiting_for) == passed and passed & early
    assert run(outcome.folder, approval=Approval(("all",), **DECISION)).state == "finished"
    store = open_store(outcome.folder)
    try:
        assert growth_line(store, outcome.folder.run_id).points[-1].cumulative == len(passed)
    finally:
        store.close()
