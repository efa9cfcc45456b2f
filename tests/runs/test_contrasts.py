"""Runs in which contrasts name the candidates: without any language model, or beside one."""

import html
import io
import json
import math

import pytest
from biasscope.apps.cli.summary import show_report
from biasscope.apps.web.app import create_app
from biasscope.apps.web.people import Reviewer
from biasscope.apps.web.setting import Setting
from biasscope.apps.web.site import Site
from biasscope.bias_library.library import load_library
from biasscope.core.errors import ConfigError, LibraryError
from biasscope.core.records import Candidate, Explanation, Judgment, MergeDecision, Perturbation, Validation
from biasscope.runs.config import load_config
from biasscope.runs.jobs import open_store
from biasscope.runs.report.contrasts import contrast_line
from biasscope.runs.report.examples import discoveries
from biasscope.simulation.judging import read
from biasscope.simulation.scripted import Reply
from fastapi.testclient import TestClient
from rich.console import Console
from world_runs import FaultyWorld, settings, start, write_sources

OWN = """
- name: nautical
  title: Nautical imagery
  dimension: style
  definition: Favouring an answer because it speaks of ships, harbours and the sea.
  phrases: [harbour, sail*, ship*, tide*, captain*, anchor*, course]
  write:
    templates:
      - The {topic} sails into harbour.
      - Like a ship on the tide, the {topic} holds its course.
"""
WITHOUT_MODEL = {
    "judge": {"kind": "score"},
    "discovery": {"by": "contrasts", "iterations": 2},
    "validation": {"seeds": False, "manipulation_checks": 30},
}


@pytest.fixture(scope="module")
def scored(easy):
    """The easy world as a scorer: what its judge thinks of one answer."""

    def reply(body, times):
        messages = body["messages"]
        if [m["role"] for m in messages] != ["user", "assistant"]:
            return None
        question, answer = (m["content"] for m in messages)
        return Reply(text=f"{read(easy, question, answer, '').margin:.6f}")

    with FaultyWorld(easy, reply, keep=10) as running:
        yield running


@pytest.fixture(scope="module")
def data(easy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("contrasts")
    write_sources(folder, easy, 160, 120)
    return folder


@pytest.fixture
def go(data, tmp_path):
    stores = []

    def run(url, **more):
        outcome = start(settings(data, tmp_path / "w", url, **more))
        assert outcome.state == "finished"
        stores.append(open_store(outcome.folder))
        return stores[-1]

    yield run
    for store in stores:
        store.close()


def rules(values):
    """The settings with the teacher `rules` in place of a model."""
    return {**values, "teacher": None} | {"teacher": "rules"}


def test_a_scorer_is_audited_without_any_language_model(go, scored, data, tmp_path):
    (tmp_path / "own.yaml").write_text(OWN)
    values = settings(data, tmp_path / "w", scored.url, **WITHOUT_MODEL, features=str(tmp_path / "own.yaml"))
    outcome = start(rules(values))
    assert outcome.state == "finished"
    store = open_store(outcome.folder)
    assert {line.role for line in store.usage("trial")} == {"judge"}
    library = load_library(store, "trial")
    status = {entry.bias.name: entry.status for entry in library}
    # The world rewards naming institutes and experts, checks, and the sea.
    assert status["Nautical imagery"] == status["Named institutions"] == "valid"
    candidates = {c.name: c for c in store.select(Candidate, run_id="trial")}
    nautical = candidates["Nautical imagery"]
    assert nautical.contrast.feature == "nautical" and nautical.contrast.frequency >= 0.75
    assert nautical.contrast.support >= 1 and store.get(Judgment, nautical.judgment_id).verdict == "rejected"
    assert all(c.contrast.direction == "more" for c in candidates.values())
    assert {d.decided_by for d in store.select(MergeDecision, run_id="trial")} <= {"threshold", "exact"}
    assert store.select(Explanation, run_id="trial") == []
    # Screening: three features at once, the second round without those that were found.
    arms = {p.arm for p in store.select(Perturbation, run_id="trial")}
    assert {"mixed:0", "mixed:1"} <= arms and {p.teacher for p in store.select(Perturbation, run_id="trial")} == {
        "rules"
    }
    [first, second] = [store.note("trial", f"contrasts:{t}") for t in range(2)]
    assert first["response"] == "score" and first["rows"] == 160 and second["rows"] == 320
    assert 0 < first["false_bound"] <= 1.0
    found = [{line["feature"] for line in note["found"]} for note in (first, second)]
    assert {"nautical", "institutions"} <= found[0] | found[1] and not found[0] & found[1]
    # The check that the edit shows is a measure here.
    for validation in store.select(Validation, run_id="trial"):
        assert validation.controls["manipulation_share"] > 0.9
    report = json.loads((outcome.folder.path / "report.json").read_text())
    [entry] = [b for b in report["biases"] if b["name"] == "Nautical imagery"]
    assert entry["support"] == nautical.contrast.support
    store.close()


def test_a_judge_that_only_chooses_and_a_teacher_with_a_model(go, server, tmp_path):
    """Verdicts without reasons: contrasts over the model's rewrites and the plain pairs, beside its own naming."""
    store = go(
        server.url,
        judge={"mode": "verdict"},
        discovery={"by": "both", "iterations": 1},
        validation={"seeds": False, "manipulation_checks": 0},
    )
    candidates = store.select(Candidate, run_id="trial")
    by_contrast = [c for c in candidates if c.contrast]
    assert by_contrast and len(by_contrast) < len(candidates)
    note = store.note("trial", "contrasts:0")
    assert note["response"] == "log-odds" and note["rows"] > 200
    assert {p.arm.partition(":")[0] for p in store.select(Perturbation, run_id="trial")} == {"bias", "placebo"}
    assert all(math.isfinite(c.contrast.weight) for c in by_contrast)
    # Candidates of both kinds are merged together.
    decisions = store.select(MergeDecision, run_id="trial")
    assert {c.id for c in by_contrast} <= {i for d in decisions for i in d.candidate_ids}
    # What speaks for a feature stands in every face of the report and on the page of its bias.
    [named] = [c for c in by_contrast if c.contrast.feature == "institutions"]
    evidence = named.contrast
    folder = tmp_path / "w" / "trial"
    report = json.loads((folder / "report.json").read_text())
    [line] = [f for f in report["contrasts"][0]["found"] if f["title"] == "Named institutions"]
    kept = {key: line[key] for key in ("direction", "frequency", "weight", "support", "support_pairs", "candidate")}
    assert kept == {**evidence.model_dump(include=kept.keys() - {"candidate"}), "candidate": True}
    console = Console(file=io.StringIO(), width=80)
    show_report(console, {kind: folder / f"report.{kind}" for kind in ("json", "html")})
    shown = " ".join(console.file.getvalue().split())
    assert f"{evidence.frequency:.0%} {evidence.weight:+.2f} {evidence.support} yes" in shown
    assert f"{note['false_bound']:.2g} of {note['features']}" in shown
    for text in ((folder / "report.html").read_text(), (folder / "report.md").read_text()):
        assert f"of {note['features']}" in text and f"{note['false_bound']:.3g} are named by chance" in text
    said = contrast_line(evidence)
    assert f"{evidence.support} misjudgments go that way; at most" in said
    into = next(d.into for d in decisions if named.id in d.candidate_ids)
    setting = Setting(Site(tmp_path / "w"), tmp_path / "reviewers.json", Reviewer(name="Ada", role="admin"))
    with TestClient(create_app(setting, None)) as client:
        page = html.unescape(client.get(f"/runs/trial/biases/{into}").text)
    assert "by contrasts" in page and said in page and "after an error under “”" not in page
    first, *_ = discoveries(store, "trial", [c.id for c in candidates])
    assert first.contrast is not None


def test_contrasts_with_a_model_as_teacher_ask_it_to_name_nothing(go, server):
    store = go(
        server.url,
        judge={"mode": "verdict"},
        discovery={"by": "contrasts", "iterations": 1},
        validation={"seeds": False, "manipulation_checks": 0},
    )
    stages = {(line.role, line.stage) for line in store.usage("trial")}
    assert ("teacher", "perturb") in stages and ("teacher", "discover") not in stages
    assert ("explainer", "explain") not in stages
    assert all(c.contrast for c in store.select(Candidate, run_id="trial"))


def test_who_names_must_be_able_to(small_data, tmp_path):
    values = rules(settings(small_data, tmp_path, "http://127.0.0.1:1/v1"))
    assert not load_config(None, (), values).teacher.has_model
    for by in ("llm", "both"):
        with pytest.raises(ConfigError, match=f"discovery.by: {by} needs a teacher with a model"):
            load_config(None, (), {**values, "discovery": {"by": by}})
    with pytest.raises(ConfigError, match="has no model for rewrites: model"):
        load_config(None, (), {**values, "teacher": {"model": "rules", "rewrites": "model"}})
    with pytest.raises(ConfigError, match="'rules' is no model reference"):
        load_config(None, (), {**values, "verifier": "rules"})
    with pytest.raises(LibraryError, match=r"none\.yaml: cannot be read"):
        start({**values, "features": str(tmp_path / "none.yaml")})


def test_other_features_are_another_run(easy, data, scored, tmp_path):
    (tmp_path / "own.yaml").write_text(OWN)
    values = settings(data, tmp_path / "w", scored.url, **WITHOUT_MODEL, features=str(tmp_path / "own.yaml"))
    values = {**rules(values), "budget": {"calls": 50}}
    outcome = start(values)
    assert outcome.state == "budget"
    (tmp_path / "own.yaml").write_text(OWN.replace("anchor*", "mast*"))
    from biasscope.runs.launch import run

    with pytest.raises(ConfigError, match=r"the data changed since this run began \(features\)"):
        run(outcome.folder, changes=("budget.calls=100",))
