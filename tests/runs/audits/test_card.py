"""The judge card: parts from runs over HTTP, joined; what is missing is said."""

import json
import os
import shutil
import subprocess

import pytest
from audit_runs import COMMAND, model
from biasscope.core.errors import ConfigError
from biasscope.runs.audits.card import JudgeCard, collect_card, find_judge
from biasscope.runs.audits.card_page import card_page, summary_table
from biasscope.runs.audits.page import page_html, page_md, write_page
from biasscope.runs.audits.profile import ProfileConfig, run_profile
from biasscope.runs.audits.self_preference import SelfPreferenceConfig
from biasscope.runs.audits.self_preference_job import run_self_preference
from biasscope.runs.audits.taxonomy import TaxonomyConfig
from biasscope.runs.audits.taxonomy_job import run_taxonomy
from biasscope.runs.config import load_config
from biasscope.runs.folder import RunFolder
from biasscope.runs.jobs import create, open_store
from panel_world import PanelWorld, answers
from world_runs import FaultyWorld, settings, start


def audited(kind, run, workspace, **values):
    return run(create(load_config(None, (), {"workspace": str(workspace), **values}, kind=kind)))


@pytest.fixture(scope="module")
def workspace(easy, small_data, world_file, tmp_path_factory):
    """Discovery and taxonomy of one judge, self-preference of another."""
    place = tmp_path_factory.mktemp("cards")
    with FaultyWorld(easy) as server:
        start(settings(small_data, place, server.url, name="found", discovery={"iterations": 1}))
        common = {"judge": model(server.url), "data": str(world_file), "biases": ["authority", "gender"]}
        audited(TaxonomyConfig, run_taxonomy, place, name="small", pairs=5, **common)
        audited(TaxonomyConfig, run_taxonomy, place, name="twelve", pairs=40, **common)
    world = PanelWorld(beta=1.0)
    with FaultyWorld(easy, world) as server:
        panel = [model(server.url, name) for name in ("p-one", "p-two", "p-three")]
        file = answers(place / "a.jsonl", 20, ["me", "ann", "bob"])
        judge = model(server.url, "me", mode="verdict")
        audited(
            SelfPreferenceConfig, run_self_preference, place, name="sp", judge=judge, answers=str(file), panel=panel
        )
    return place


@pytest.fixture(scope="module")
def card(workspace):
    return collect_card(find_judge("world", workspace), workspace)


def test_the_parts_are_the_runs(card):
    assert card.judge.startswith("world@http://127.0.0.1") and card.self_preference is None
    assert card.missing == {"reliability": "not run", "self_preference": "not run"}
    assert card.discovery.source.run_id == "found" and card.discovery.biases
    assert card.discovery.source.data == ("target.jsonl", "test.jsonl")
    taxonomy = card.taxonomy
    assert (taxonomy.source.run_id, taxonomy.source.others, taxonomy.source.state) == ("twelve", 1, "finished")
    assert [b.name for b in taxonomy.result.biases] == ["Authority", "Gender"]


def test_the_last_finished_run_stands(card, workspace, tmp_path):
    for name in ("small", "twelve"):
        shutil.copytree(workspace / name, tmp_path / name)
    os.utime(tmp_path / "twelve" / "manifest.json", (1e9, 1e9))
    assert collect_card(card.judge, tmp_path).taxonomy.source.run_id == "small"
    store = open_store(RunFolder(tmp_path / "small"))
    store.write_note("small", "outcome", {})
    store.close()
    again = collect_card(card.judge, tmp_path).taxonomy.source
    assert (again.run_id, again.state) == ("twelve", "finished")


def test_a_page_of_all_parts_and_no_text_of_the_data(card, workspace, tmp_path):
    page = card_page(card)
    html, text = page_html(page), page_md(page)
    for said in ("Authority", "found", "twelve", "biasscope judge profile", "biasscope audit self-preference"):
        assert said in html and said in text
    assert "<script" not in html and "default-src 'none'" in html
    rows = [json.loads(line) for line in (workspace / "twelve" / "suite.jsonl").read_text().splitlines()]
    assert not any(row["question"] in html for row in rows)
    files = write_page(page, card, tmp_path, "card")
    assert JudgeCard.model_validate_json(files["json"].read_text()) == card
    shown = {cells[0].text: cells[1].text for cells in summary_table(card).rows}
    assert shown["Reliability"] == "not run" and shown["Twelve biases"].endswith("of 2 biases found")


def test_self_preference_of_another_judge(workspace):
    card = collect_card(find_judge("openai:me", workspace), workspace)
    assert card.self_preference.result.own == "me" and card.taxonomy is None
    html = page_html(card_page(card))
    assert "Own: bias propensity" in html and "discovered biases, twelve biases" in html


def test_reliability_is_a_real_profile(card, easy, world_file, tmp_path):
    """A whole profile, with labels and probabilities; then one that has not ended, and one of another version."""
    labels = tmp_path / "labels.jsonl"
    rows = [json.loads(line) for line in world_file.read_text().splitlines()]
    labels.write_text("".join(json.dumps({"id": row["id"], "label": "chosen"}) + "\n" for row in rows))
    with FaultyWorld(easy) as server:
        judge = model(server.url, mode="verdict", price_input=1.0, price_output=2.0)
        given = {"judge": judge, "data": str(world_file), "labels": str(labels), "name": "prof", "again": 10}
        outcome = audited(ProfileConfig, run_profile, tmp_path / "w", **given)
    found = collect_card(outcome.result.judge, tmp_path / "w")
    assert found.reliability.result == outcome.result.model_copy(update={"data": world_file.name})
    assert found.missing == dict.fromkeys(("discovery", "taxonomy", "self_preference"), "not run")
    html = page_html(card_page(found))
    accuracy = f"{100 * outcome.result.accuracy.value:.1f} %"
    for said in (f"Right on {accuracy}", "The same verdict in both orders", "with people", "Brier", "1,000 judgments"):
        assert said in html, said
    assert str(world_file.parent) not in found.model_dump_json()
    assert JudgeCard.model_validate_json(found.model_dump_json()) == found

    path = outcome.folder.path / "profile.json"
    whole = json.loads(path.read_text())
    path.write_text(json.dumps({**whole, "version": 2}))
    assert "profile.json: version: must be 1" in collect_card(found.judge, tmp_path / "w").missing["reliability"]
    path.unlink()
    assert "has no profile.json yet" in collect_card(found.judge, tmp_path / "w").missing["reliability"]


@pytest.mark.parametrize(
    ("name", "said"),
    [(None, "there are several judges in"), ("nobody", "no run in .* is about the judge 'nobody'; judges there:")],
)
def test_which_judge_is_asked_for(workspace, name, said):
    with pytest.raises(ConfigError, match=said):
        find_judge(name, workspace)


def test_an_empty_workspace_says_what_makes_a_card(tmp_path):
    with pytest.raises(ConfigError, match="has asked a judge yet; `biasscope discover -w"):
        find_judge(None, tmp_path)


def test_hostile_names_stay_text(card):
    nasty = "<img src=x onerror=alert(1)>\x1b[31m|#"
    hostile = card.model_copy(
        update={"discovery": card.discovery.model_copy(update={"biases": (_named(card, nasty),)}), "judge": nasty}
    )
    html = page_html(card_page(hostile))
    assert "<img" not in html and "\x1b" not in html


def _named(card, name):
    return card.discovery.biases[0].model_copy(update={"name": name, "definition": name, "status": "confirmed"})


def test_the_command(workspace, tmp_path):
    asked = (*COMMAND, "card", "world", "-w", str(workspace), "-o", str(tmp_path / "out"), "--json")
    done = subprocess.run(asked, capture_output=True, text=True, timeout=120, check=True)
    assert JudgeCard.model_validate_json(done.stdout).taxonomy.source.run_id == "twelve"
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"card.html", "card.md", "card.json", "plots"}
    none = subprocess.run((*COMMAND, "card", "x", "-w", str(workspace)), capture_output=True, text=True, timeout=120)
    assert none.returncode == 2 and none.stderr.startswith("biasscope: no run in")
