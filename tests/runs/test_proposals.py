"""Proposals from a log: alone they are printed and kept; with a judge the run tests them like all candidates."""

import json
import random

import pytest
from biasscope.apps.cli.main import app
from biasscope.bias_library.features import load_features
from biasscope.bias_library.library import load_library
from biasscope.core.errors import ConfigError, DataError
from biasscope.core.records import Candidate, Judgment, Validation
from biasscope.data.builtin import builtin_pairs
from biasscope.runs.config import load_config
from biasscope.runs.jobs import open_store
from typer.testing import CliRunner
from world_runs import settings, start

FEATURES = load_features()


def log_rows(n, *, labels=True, judge="fan of institutes", seed=0, skip=0):
    """Verdicts of a judge that goes for named institutions, on answers of which half name some."""
    rng = random.Random(seed)
    rows = []
    for pair in builtin_pairs(n + skip)[skip:]:
        texts = [pair.chosen, pair.rejected]
        for k in range(2):
            if rng.random() < 0.5:
                texts[k] = FEATURES["institutions"].write(texts[k], rng, pair.prompt)
        pull = [4 if "niversity" in text or "nstitut" in text else 0 for text in texts]
        lean = pull[1] - pull[0]
        wrong = lean + rng.gauss(-1.5, 1) > 0
        swap = rng.random() < 0.5
        a, b = (texts[1], texts[0]) if swap else texts
        row = {
            "id": pair.source_id,
            "judge": judge,
            "prompt": pair.prompt,
            "answer_a": a,
            "answer_b": b,
            "verdict": "A" if wrong == swap else "B",
            "domain": pair.domain,
        }
        rows.append(row | ({"label": "B" if swap else "A"} if labels else {}))
    return rows


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def discover(*args):
    return CliRunner(env={"COLUMNS": "160"}).invoke(app, ["discover", *(str(a) for a in args)])


def test_without_a_judge_proposals_are_printed_and_kept_as_such(tmp_path):
    log = write(tmp_path / "mine.jsonl", log_rows(240) + log_rows(240, judge="other", labels=False, seed=1, skip=240))
    said = discover("--from-judgments", log, "-w", tmp_path / "space")
    assert said.exit_code == 0, said.output
    text = " ".join(said.stdout.split())
    assert "Named institutions" in said.stdout and "These are proposals, not findings" in text
    assert "at most 0.9 are expected to be chance" in text or "at most 1.0 are expected to be chance" in text
    kept = json.loads((tmp_path / "space" / "mine.proposals.json").read_text())
    assert kept["note"].startswith("These are proposals")
    by_judge = {judge["judge"]: judge for judge in kept["judges"]}
    assert set(by_judge) == {"fan of institutes", "other"}
    for name, judge in by_judge.items():
        assert (judge["pairs"], judge["judgments"], judge["response"]) == (240, 240, "verdict")
        assert "institutions" in {f["feature"] for f in judge["found"] if f["direction"] == "more"}
        assert not any(f["candidate"] for f in judge["found"])
        assert judge["labelled"] == (240 if name == "fan of institutes" else 0)
    assert 0.5 < by_judge["fan of institutes"]["right"] / 240 < 0.95
    # The same log, the same proposals; and one judge alone.
    again = discover("--from-judgments", log, "--judged-by", "other", "-w", tmp_path / "again")
    assert again.exit_code == 0
    [only] = json.loads((tmp_path / "again" / "mine.proposals.json").read_text())["judges"]
    assert only == by_judge["other"]


def test_a_log_without_texts_finds_its_pairs(tmp_path):
    rows = log_rows(120)
    pairs = [
        {"id": r["id"], "prompt": r["prompt"], "chosen": r[f"answer_{x}"], "rejected": r[f"answer_{y}"]}
        for r in rows
        for x, y in ["ab" if r["label"] == "A" else "ba"]
    ]
    data = write(tmp_path / "pairs.jsonl", pairs)
    bare = [
        {"item": r["id"], "judge": "j", "decision_as_shown": r["verdict"], "label_AB": r["label"], "order": "AB"}
        for r in rows
    ]
    log = write(tmp_path / "bare.jsonl", bare)
    said = discover("--from-judgments", log, "--pairs", data, "-w", tmp_path)
    assert said.exit_code == 0, said.output
    [judge] = json.loads((tmp_path / "bare.proposals.json").read_text())["judges"]
    assert judge["pairs"] == 120
    refused = discover("--from-judgments", log, "-w", tmp_path).exception
    assert isinstance(refused, DataError) and "give the data set that was judged with --pairs" in str(refused)


def test_settings_have_an_effect_without_a_judge_or_are_refused(tmp_path):
    rows = log_rows(240)
    log = write(tmp_path / "mine.jsonl", rows)
    bounds = []
    for setting in ("discovery.contrasts.false_selections=0.2", "discovery.contrasts.false_selections=2"):
        said = discover("--from-judgments", log, "-w", tmp_path / "space", "--set", setting, "--seed", "3")
        assert said.exit_code == 0, said.output
        [judge] = json.loads((tmp_path / "space" / "mine.proposals.json").read_text())["judges"]
        bounds.append(judge["false_bound"])
    assert bounds[0] <= 0.2 < bounds[1]
    pairs = [
        {"id": r["id"], "prompt": r["prompt"], "chosen": r[f"answer_{x}"], "rejected": r[f"answer_{y}"]}
        for r in rows
        for x, y in ["ab" if r["label"] == "A" else "ba"]
    ]
    data = write(tmp_path / "pairs.jsonl", pairs)
    bare = write(
        tmp_path / "bare.jsonl",
        [{"item": r["id"], "judge": "j", "decision_as_shown": r["verdict"], "label_AB": r["label"]} for r in rows],
    )
    said = discover("--from-judgments", bare, "--pairs", data, "--limit", 100, "-w", tmp_path / "space")
    assert said.exit_code == 0, said.output
    [judge] = json.loads((tmp_path / "space" / "bare.proposals.json").read_text())["judges"]
    assert judge["pairs"] == 100
    for args, words in (
        (("--profile", "paper", "--name", "mine"), "--profile, --name: of no use to --from-judgments without a judge"),
        (("--limit", 5), "--limit: of no use"),
        (("--teacher", "rules"), "leave it out, or give --judge"),
        (("--set", "validation.alpha=0.1"), "validation"),
        (("--set", "discovery.iterations=2"), "discovery.iterations"),
    ):
        error = discover("--from-judgments", log, "-w", tmp_path, *args).exception
        assert isinstance(error, ConfigError) and words in str(error) and "\n" not in str(error)


def test_mistakes_are_one_line(tmp_path):
    log = write(tmp_path / "mine.jsonl", log_rows(8) + log_rows(8, judge="other"))
    for args, kind, words in (
        (("--judged-by", "nobody"), ConfigError, "'nobody' is not in"),
        (("--features", tmp_path / "none.yaml"), Exception, "cannot be read"),
    ):
        error = discover("--from-judgments", log, "-w", tmp_path, *args).exception
        assert isinstance(error, kind) and words in str(error) and "\n" not in str(error)
    missing = discover("--from-judgments", tmp_path / "none.jsonl").exception
    assert isinstance(missing, DataError) and "\n" not in str(missing)


def test_a_run_tests_what_its_log_proposes(easy, small_data, server, tmp_path):
    log = write(tmp_path / "mine.jsonl", log_rows(240))
    values = settings(
        small_data,
        tmp_path / "w",
        server.url,
        judge={"mode": "verdict"},
        judgments={"source": str(log)},
        discovery={"iterations": 1, "by": "contrasts"},
        validation={"seeds": False, "manipulation_checks": 0},
    )
    values["teacher"] = "rules"
    outcome = start(values)
    assert outcome.state == "finished"
    store = open_store(outcome.folder)
    named = {c.contrast.feature: c for c in store.select(Candidate, run_id="trial")}
    assert named["institutions"].contrast.rows == 240
    # The verdicts of the log are no judgments of this run.
    assert {j.judge.partition("#")[0] for j in store.select(Judgment, run_id="trial")} == {f"world@{server.url}"}
    entry = next(e for e in load_library(store, "trial") if e.bias.name == "Named institutions")
    [validation] = store.select(Validation, run_id="trial", bias_id=entry.bias.id)
    assert validation.effect > 0 and validation.n > 10
    report = json.loads((outcome.folder.path / "report.json").read_text())
    assert [c["iteration"] for c in report["contrasts"]] == [None, 0]
    assert "from the log of verdicts" in (outcome.folder.path / "report.md").read_text()
    store.close()


def test_a_log_of_several_judges_needs_a_name(small_data, server, tmp_path):
    log = write(tmp_path / "mine.jsonl", log_rows(8) + log_rows(8, judge="other"))
    values = settings(small_data, tmp_path / "w", server.url, judgments=str(log))
    assert load_config(None, (), values).judgments.source == str(log)
    with pytest.raises(ConfigError, match=r"verdicts of 2 judges; name the one .*: fan of institutes, other"):
        start(values)
