"""A spent budget ends a run as inconclusive; with more it comes to the same end."""

import json

import pytest
from biasscope.core.errors import ConfigError
from biasscope.runs.launch import run
from world_runs import results, settings, start

PRICES = {"judge": {"price_input": 1.0, "price_output": 2.0}, "teacher": {"price_input": 3.0, "price_output": 4.0}}


@pytest.fixture(scope="module")
def unlimited(small_data, server, tmp_path_factory):
    return results(start(settings(small_data, tmp_path_factory.mktemp("all"), server.url, **PRICES)).folder)


@pytest.mark.parametrize(
    ("what", "limit", "more"),
    [("calls", 100, 10**6), pytest.param("tokens", 90_000, 10**9, marks=pytest.mark.slow), ("cost", 0.3, 99)],
)
def test_a_budget_stops_and_more_of_it_finishes(small_data, server, tmp_path, unlimited, what, limit, more):
    outcome = start(settings(small_data, tmp_path / "w", server.url, budget={what: limit}, **PRICES))
    assert outcome.state == "budget"
    assert what in outcome.reason
    report = json.loads((outcome.folder.path / "report.json").read_text())
    assert report["headline"]["state"] == "inconclusive"
    assert "budget" in " ".join([*report["headline"]["sentences"], *report["headline"]["warnings"]])
    spent = report["total"]
    used = {
        "calls": spent["calls"],
        "tokens": spent["prompt_tokens"] + spent["completion_tokens"],
        "cost": spent["cost"],
    }
    assert used[what] >= limit
    assert used[what] <= limit + {"calls": 0, "tokens": 16 * 2_000, "cost": 16 * 0.02}[what]

    outcome = run(outcome.folder, changes=(f"budget.{what}={more}",))
    assert outcome.state == "finished"
    assert results(outcome.folder) == unlimited


def test_a_budget_in_money_needs_prices(small_data, server, tmp_path):
    with pytest.raises(ConfigError, match="price_input"):
        start(settings(small_data, tmp_path / "w", server.url, budget={"cost": 1}))
