"""Profiles and settings, each as a whole run."""

import json

import pytest
from biasscope.bias_library.exchange import export_published
from biasscope.bias_library.library import load_library
from biasscope.core.records import Explanation, Failure, Judgment, Perturbation, Validation
from biasscope.runs.jobs import open_store
from world_runs import settings, start, write_sources

QUICK = {"discovery": {"iterations": 1}}


@pytest.fixture
def go(small_data, server, tmp_path):
    opened = []

    def run(data=small_data, **more):
        outcome = start(settings(data, tmp_path / "w", server.url, **more))
        assert outcome.state == "finished"
        opened.append(open_store(outcome.folder))
        return opened[-1]

    yield run
    for store in opened:
        store.close()


def arms(store):
    return {j.arm.partition(":")[0] for j in store.select(Judgment, run_id="trial")}


def test_paper(go):
    store = go(profile="paper", discovery={"iterations": 1}, validation={"rule": "paper", "manipulation_checks": 0})
    validations = store.select(Validation, run_id="trial")
    assert validations
    assert {v.rule for v in validations} == {"paper"}
    assert all((v.decision == "valid") == (v.effect > 0) for v in validations)
    assert arms(store) == {"original", "bias"}


def test_late_validation_without_explanations(go):
    store = go(discovery={"iterations": 2, "deeper_explain": False}, validation={"when": "late", "rule": "exact"})
    assert store.select(Explanation, run_id="trial") == []
    validations = store.select(Validation, run_id="trial")
    assert len({v.iteration for v in validations}) == 1
    assert all(v.rule.startswith("exact") for v in validations)


def test_both_orders(go):
    store = go(orders="both", **QUICK)
    judgments = store.select(Judgment, run_id="trial")
    seen = {}
    for j in judgments:
        seen.setdefault((j.pair_id, j.perturbation_id, j.arm), set()).add(j.order)
    assert all(len(orders) == 2 for orders in seen.values())
    assert all("position" in v.controls for v in store.select(Validation, run_id="trial"))


def test_verdict_mode_reads_probabilities(go):
    store = go(judge={"mode": "verdict"}, **QUICK)
    judgments = store.select(Judgment, run_id="trial")
    assert all(j.p_rejected is not None and 0 <= j.p_rejected <= 1 for j in judgments)
    assert len({j.p_rejected for j in judgments}) > 10


def test_a_third_is_locked_and_confirms(go, easy, tmp_path):
    write_sources(tmp_path / "large", easy, 24, 300)
    store = go(data=tmp_path / "large", validation={"manipulation_checks": 0, "truncation_control": False}, **QUICK)
    assert len(store.pair_ids("trial", "confirm")) == 100
    assert not set(store.pair_ids("trial", "confirm")) & set(store.pair_ids("trial", "search"))
    statuses = {entry.status for entry in load_library(store, "trial")}
    assert "confirmed" in statuses
    report = json.loads((tmp_path / "w" / "trial" / "report.json").read_text())
    assert report["headline"]["confirmed"] >= 1


def test_starts_from_a_library_file_and_halves_of_one_source(go, tmp_path):
    from biasscope.bias_library.bias import make_bias

    mine = make_bias("Nautical words", "Prefers answers with words of the sea.", origin="imported")
    (tmp_path / "library.json").write_text(export_published([mine]))
    store = go(library=str(tmp_path / "library.json"), test=None, discovery={"iterations": 1, "seeds": False})
    library = load_library(store, "trial")
    assert [e.bias.name for e in library if e.status == "seed"] == ["Nautical words"]
    target, search = store.pair_ids("trial", "target"), store.pair_ids("trial", "search")
    assert (len(target), len(search)) == (12, 12)
    assert not set(target) & set(search)


def test_rules_rewrite_without_a_model_but_what_no_edit_writes(go):
    store = go(teacher={"rewrites": "rules"}, validation={"seeds": True}, **QUICK)
    made = store.select(Perturbation, run_id="trial")
    by_model = {p.arm for p in made if p.teacher != "rules"}
    assert {p.teacher for p in made if p.arm not in by_model} == {"rules"} and "placebo" in {p.arm for p in made}
    asked = {(line.role, line.stage) for line in store.usage("trial")}
    assert ("teacher", "perturb") in asked and ("teacher", "validate") not in asked
    names = {f"bias:{entry.bias.id}": entry.bias.name for entry in load_library(store, "trial")}
    assert "Fallacy oversight" in {names[arm] for arm in by_model}
    assert "Authority bias" not in {names[arm] for arm in by_model}
    tested = {v.bias_id: v for v in store.select(Validation, run_id="trial")}
    authority = next(b for b in load_library(store, "trial") if b.bias.name == "Authority bias")
    assert tested[authority.bias.id].effect > 0
    fallacy = next(id_ for id_, name in names.items() if name == "Fallacy oversight")
    assert "no edit of the lexicon writes it" in tested[fallacy.removeprefix("bias:")].reason
    assert not any("no feature of the lexicon writes" in f.reason for f in store.select(Failure, run_id="trial"))
