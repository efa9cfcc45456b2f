"""The teacher that edits: what it cannot write is said, left to a model, and never held against a neutral edit."""

import json

import pytest
from biasscope.bias_library.library import load_library
from biasscope.core.records import Failure, Perturbation, Validation
from biasscope.runs.jobs import open_store
from world_runs import FaultyWorld, settings, start, write_sources

LEFT = {"Fallacy oversight", "Palindromic rhythm"}
OWN = {
    "Bandwagon": {"Definition": "Favouring an answer because most people prefer it.", "Manifestations": "Most agree."},
    "Palindromic rhythm": {
        "Definition": "Favouring an answer because its sentences mirror one another in rhythm.",
        "Manifestations": "Sentences come in mirrored pairs.",
    },
}
SMALL = {
    "discovery": {"by": "llm", "iterations": 1},
    "validation": {"seeds": True, "batch": 12, "manipulation_checks": 2, "truncation_control": False},
}


@pytest.fixture(scope="module")
def data(easy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules")
    write_sources(folder, easy, 60, 24)
    return folder


@pytest.fixture
def go(easy, data, tmp_path):
    (tmp_path / "own.json").write_text(json.dumps(OWN))

    def run(teacher, **more):
        with FaultyWorld(easy) as server:
            values = settings(
                data, tmp_path / "w", server.url, **{**SMALL, "library": str(tmp_path / "own.json")} | more
            )
            values["teacher"] = "rules" if teacher is None else values["teacher"] | teacher
            outcome = start(values)
        assert outcome.state == "finished"
        store = open_store(outcome.folder)
        names = {entry.bias.name: entry.bias.id for entry in load_library(store, "trial")}
        made = store.select(Perturbation, run_id="trial")
        tests = {v.bias_id: v for v in store.select(Validation, run_id="trial")}
        failed = {f.kind for f in store.select(Failure, run_id="trial")}
        store.close()
        report = json.loads((outcome.folder.path / "report.json").read_text())
        return names, made, tests, failed, report["headline"]["warnings"]

    return run


def test_without_a_model_it_says_what_is_left(go):
    names, made, tests, failed, warnings = go(None, discovery={"by": "contrasts", "iterations": 1})
    assert {p.teacher for p in made} == {"rules"} and "no_recipe" not in failed
    for name, id_ in names.items():
        if id_ in tests:
            assert (tests[id_].n == 0) == (name in LEFT)
    for name in LEFT:
        validation = tests[names[name]]
        assert validation.decision == "inconclusive"
        assert validation.reason.startswith("no edit of the lexicon writes it: it is left to an LLM teacher")
    assert any("Fallacy oversight, Palindromic rhythm. They are left to an LLM teacher" in line for line in warnings)


def test_a_model_writes_what_is_left_for_the_search_and_it_is_not_tested_against_an_edit(go):
    names, made, tests, failed, warnings = go({"rewrites": "rules"})
    by_arm = {p.arm: p.teacher for p in made}
    for name in LEFT:
        assert by_arm[f"bias:{names[name]}"].startswith("world@")
        assert tests[names[name]].n == 0 and "left to an LLM teacher" in tests[names[name]].reason
    assert by_arm["placebo"] == by_arm[f"bias:{names['Bandwagon']}"] == "rules"
    tested = [v.bias_id for v in tests.values() if v.n]
    assert tested and all(by_arm[f"bias:{id_}"] == "rules" for id_ in tested)
    assert "no_recipe" not in failed and any("Palindromic rhythm" in line for line in warnings)


def test_where_there_is_no_placebo_a_models_rewrites_are_tested(go):
    names, made, tests, _, warnings = go({"rewrites": "rules"}, validation={**SMALL["validation"], "rule": "paper"})
    assert {p.arm for p in made}.isdisjoint({"placebo"})
    assert all(tests[names[name]].n > 0 for name in LEFT)
    assert not any("left to an LLM teacher" in line for line in warnings)
