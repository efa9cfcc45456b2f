"""A plan is measured on a small real run, scaled, and held against the outcome."""

import contextlib
import json

import pytest
from biasscope.core.errors import ConfigError
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create, open_store
from biasscope.runs.launch import run
from biasscope.runs.plan import make_plan
from biasscope.runs.planned import read_plan, save_plan
from biasscope.runs.report import load_report
from biasscope.simulation.world import load_world
from typer.testing import CliRunner
from world_runs import FaultyWorld, settings, write_config, write_sources


@pytest.fixture(scope="module")
def easy():
    return load_world("easy")


@pytest.fixture(scope="module")
def data(easy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_sources(folder, easy, target=40, test=60)
    return folder


PRICES = {"price_input": 1.0, "price_output": 2.0}


def test_the_outcome_lies_in_the_plan_and_the_report_shows_both(easy, data, tmp_path):
    with FaultyWorld(easy) as server:
        config = load_config(
            None, (), settings(data, tmp_path, server.url, judge=PRICES, teacher=PRICES, validation={"seeds": True})
        )
        plan = make_plan(config, probe_pairs=12, new_biases=(2, 12))
        save_plan(config, plan)
        outcome = run(create(config))
    assert (plan.target_pairs, plan.search_pairs, plan.confirm_pairs) == (40, 60, 0)
    report = load_report(outcome.files["json"])
    *stages, total = report.planned
    assert {row.stage for row in stages} >= {"perturb", "judge", "validate"}
    assert total.calls[0] <= total.calls_taken <= total.calls[1]
    assert total.tokens[0] <= total.tokens_taken <= total.tokens[1]
    assert total.cost[0] <= total.cost_taken <= total.cost[1]
    with contextlib.closing(open_store(outcome.folder)) as store:
        spent = sum(completion.seconds for *_, completion in store.calls(outcome.folder.run_id))
    assert total.seconds_taken == pytest.approx(spent / 8, abs=0.1) and 0 < total.seconds[0] < total.seconds[1]
    assert all(row.seconds_taken is not None for row in stages)
    perturb = next(row for row in stages if row.stage == "perturb")
    # A pair that draws the same bias in two rounds is rewritten once.
    assert 0.8 * perturb.calls[0] <= perturb.calls_taken <= perturb.calls[1]
    assert "Plan and outcome" in outcome.files["html"].read_text()
    assert "Time planned" in outcome.files["markdown"].read_text()


def test_a_probe_in_a_shared_store_is_not_paid_for_again(easy, data, tmp_path):
    with FaultyWorld(easy) as server:
        values = settings(data, tmp_path, server.url, store=f"sqlite:///{tmp_path}/shared.db")
        config = load_config(None, (), values)
        first = make_plan(config, probe_pairs=6)
        asked = len(server.requests)
        again = make_plan(config, probe_pairs=6)
        assert len(server.requests) == asked
        assert again == first


def test_no_plan_no_table(easy, data, tmp_path):
    with FaultyWorld(easy) as server:
        outcome = run(create(load_config(None, (), settings(data, tmp_path, server.url))))
    assert load_report(outcome.files["json"]).planned == ()
    assert "Plan and outcome" not in outcome.files["html"].read_text()


def test_a_plan_belongs_to_what_is_asked_not_to_the_name(easy, data, tmp_path):
    values = settings(data, tmp_path, "http://127.0.0.1:1/v1")
    config = load_config(None, (), values)
    assert read_plan(config) is None
    with FaultyWorld(easy) as server:
        made = make_plan(load_config(None, (), settings(data, tmp_path, server.url)), probe_pairs=4)
    save_plan(config, made)
    assert read_plan(config.model_copy(update={"name": "another"})) == made
    assert read_plan(config.model_copy(update={"seed": 7})) is None


@pytest.mark.parametrize(
    ("probe", "new", "message"), [(1, (5, 20), "give 2 or more"), (4, (9, 2), "the fewest and the most")]
)
def test_impossible_probes_are_refused(easy, data, tmp_path, probe, new, message):
    config = load_config(None, (), settings(data, tmp_path, "http://127.0.0.1:1/v1"))
    with pytest.raises(ConfigError, match=message):
        make_plan(config, probe_pairs=probe, new_biases=new)


def test_the_command_prints_stages_and_assumptions(easy, data, tmp_path):
    from biasscope.apps.cli.main import app

    with FaultyWorld(easy) as server:
        file = write_config(tmp_path / "c.yaml", settings(data, tmp_path, server.url))
        shown = CliRunner().invoke(app, ["plan", str(file), "--probe", "6"], env={"COLUMNS": "160"})
        as_json = CliRunner().invoke(app, ["plan", str(file), "--probe", "6", "--json"])
    assert shown.exit_code == 0, shown.output
    assert "assumed: 5 to 20 biases" in shown.output and "validate" in shown.output
    assert json.loads(as_json.output)["target_pairs"] == 40


def test_a_plan_for_batches_is_measured_online_and_takes_up_to_a_day_a_turn(easy, data, tmp_path):
    with FaultyWorld(easy) as server:
        batch = {"judge": {"batch": True}, "teacher": {"batch": True}}
        plan = make_plan(load_config(None, (), settings(data, tmp_path, server.url, **batch)), probe_pairs=4)
        direct = make_plan(load_config(None, (), settings(data, tmp_path, server.url)), probe_pairs=4)
    judged, directly = (next(s for s in p.stages if (s.role, s.stage) == ("judge", "judge")) for p in (plan, direct))
    assert judged.calls == directly.calls and judged.prompt_tokens == directly.prompt_tokens
    assert (judged.seconds.low, judged.seconds.high) == (2 * 60.0, 2 * 86_400.0)
