"""Decision impact of real runs of the planted world: a discovery run, a gate and a transfer."""

import json

import numpy as np
import pytest
from biasscope.apps.cli.main import app
from biasscope.audits.frozen import write_frozen
from biasscope.core.errors import ConfigError
from biasscope.core.records import Validation
from biasscope.runs.analyses import markdown
from biasscope.runs.analyses.arms import read_arms
from biasscope.runs.analyses.impact import impact_of
from biasscope.runs.audits.gate import GateConfig, run_gate
from biasscope.runs.audits.transfer import TransferConfig, run_transfer
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create
from frozen_worlds import frozen_world
from typer.testing import CliRunner

FEATURES = ("authority", "sentiment")


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    path = tmp_path_factory.mktemp("board") / "results.jsonl"
    rows = [("top", "mid", "a", 55), ("top", "mid", "b", 45), ("mid", "last", "a", 56), ("mid", "last", "b", 44)]
    keys = ("model_a", "model_b", "winner", "count")
    path.write_text("".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def library(easy, tmp_path_factory):
    path = tmp_path_factory.mktemp("frozen") / "set.jsonl"
    write_frozen(frozen_world(easy, 60, FEATURES), path)
    return path


def made(kind, workspace, library, server, **more):
    given = {"library": str(library), "workspace": str(workspace), "name": kind, **more}
    kinds = {"gate": (GateConfig, run_gate), "transfer": (TransferConfig, run_transfer)}
    config, run = kinds[kind]
    folder = create(load_config(None, (), given, kind=config))
    run(folder)
    return folder


def test_the_arms_of_a_gate_and_of_each_judge_of_a_transfer(server, library, board, tmp_path):
    judge = {"model": "openai:world", "base_url": server.url}
    gate = made("gate", tmp_path, library, server, judge=judge, max_effect=5)
    found = impact_of(gate, board, 50, "mid")
    planted, idle = found.judges[0].biases
    assert (planted.name, found.models, found.battles) == ("authority bias", 3, 200)
    assert planted.interval[0] > 0.3 and idle.interval[0] < 0
    # Authority is worth more than any gap of this leaderboard.
    assert (planted.overtakes.value, planted.gainers.value, planted.opened.value) == (3, 2, 1)
    told = markdown.impact(found)
    assert "| authority bias |" in told and "against mid" in told and "New leaders" in told

    both = {"judges": [judge, {**judge, "mode": "verdict"}]}
    folder = made("transfer", tmp_path, library, server, **both)
    first, second = impact_of(folder, None, 60, None).judges
    assert first.biases[0].shift == pytest.approx(planted.shift)
    assert second.judge.endswith("#verdict")
    called = CliRunner().invoke(app, ["analyse", "impact", str(folder.path), "--threshold", "60", "--json"])
    assert json.loads(called.stdout)["judges"][0]["biases"][0]["passes_from"]["value"] < 60


def test_the_arms_of_a_discovery_run(start, drawn, board):
    """The published rule accepts something on 24 pairs, and compares with the original answers."""
    run = start("accepting", "validation.rule=paper", "validation.truncation_control=false")
    valid = {v.bias_id for v in run.store.select(Validation, run_id="accepting") if v.decision == "valid"}
    found = impact_of(run.folder, board, None, None)
    arms = read_arms(run.store, "accepting")
    assert found.judges[0].biases
    for bias in found.judges[0].biases:
        d = arms.vector(f"bias:{bias.id}", arms.pairs) - arms.vector("original", arms.pairs)
        assert bias.effect == pytest.approx(100 * np.nanmean(d))
    assert {b.id for b in found.judges[0].biases} <= valid
    assert "were accepted" in found.notes[0]
    with pytest.raises(ConfigError, match="no bias of the run 'drawn' is valid"):
        impact_of(drawn.folder, board, None, None)


def test_what_does_not_go_together(drawn, board, tmp_path, library, server):
    for results, threshold, against, said in (
        (None, None, None, "nothing to decide on"),
        (board, 0, None, "--threshold 0: is no win rate"),
        (board, float("nan"), None, "is no win rate"),
        (None, 50, "mid", "give both"),
        (board, None, "mid", "give both"),
        (board, 50, "best", "--against 'best': is none of the models"),
    ):
        with pytest.raises(ConfigError, match=said):
            impact_of(drawn.folder, results, threshold, against)
    judge = {"model": "openai:world", "base_url": server.url}
    folder = made("gate", tmp_path, library, server, judge=judge, max_effect=5)
    (folder.path / "replay.json").unlink()
    with pytest.raises(ConfigError, match="has not ended"):
        impact_of(folder, board, None, None)
