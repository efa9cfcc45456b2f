"""`biasscope world` and `biasscope selftest`."""

import json

import pytest
from biasscope.apps.cli import selftest as command
from biasscope.apps.cli.main import app
from biasscope.core.errors import ConfigError
from biasscope.runs.selftest import Planted, Reported, Score
from typer.testing import CliRunner

SCORE = Score(
    world="easy",
    profile="rigorous",
    seed=7,
    state="nothing_validated",
    rounds=2,
    planted=(Planted("nautical", 1.6, 22.0, "confirmed"), Planted("latin", 1.3, 12.0, "inconclusive")),
    reported=(Reported("sea talk", "nautical", True, True), Reported("[b]moon[/b]", None, False, False)),
    confirms=True,
    calls=1234,
    tokens=5678,
    seconds=3.2,
)


def run(*words):
    return CliRunner(env={"COLUMNS": "160"}).invoke(app, list(words), catch_exceptions=True)


def test_the_shipped_worlds_are_listed():
    shown = run("world", "list").output
    assert all(name in shown for name in ("easy", "realistic", "null"))


def test_a_world_is_checked(tmp_path):
    assert "easy: 6 features, 3 rewarded, 0 punished" in run("world", "check", "easy").output
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: bad\nfeatures: 3\n")
    result = run("world", "check", str(bad))
    assert isinstance(result.exception, ConfigError) and "features" in str(result.exception)


def test_pairs_are_written(tmp_path):
    out = tmp_path / "pairs.jsonl"
    assert "5 pairs" in run("world", "pairs", "easy", "--n", "5", "--seed", "3", "--out", str(out)).output
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 5 and set(rows[0]) == {"id", "prompt", "chosen", "rejected", "domain"}
    result = run("world", "pairs", "easy", "--n", "1", "--out", str(tmp_path / "no" / "x.jsonl"))
    assert isinstance(result.exception, ConfigError) and "cannot be written" in str(result.exception)


@pytest.fixture
def asked(monkeypatch):
    seen = {}

    def fake(world, **given):
        given["tell"](SCORE)
        seen.update(given, world=world.name)
        return [SCORE]

    monkeypatch.setattr(command, "selftest", fake)
    return seen


def test_the_selftest_says_what_was_found_missed_and_false(asked):
    result = run(
        "selftest", "--seeds", "2", "--first-seed", "7", "--profile", "paper", "--set", "discovery.iterations=1"
    )
    assert result.exit_code == 0
    assert asked["world"] == "easy" and list(asked["seeds"]) == [7, 8] and asked["profile"] == "paper"
    assert asked["settings"] == ["discovery.iterations=1"]
    assert "1/2 = 0.50" in result.output
    assert "missed latin (12.0 points): inconclusive" in result.output
    assert "'[b]moon[/b]', which means nothing in this world" in result.output


def test_the_selftest_prints_json(asked):
    result = CliRunner().invoke(app, ["selftest", "--json"])
    made = json.loads(result.stdout)
    assert made["summary"]["recall"]["n"] == 2 and made["runs"][0]["seed"] == 7
