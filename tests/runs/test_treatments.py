"""Treatments of a judge with a known bias, over HTTP: what helps, what does not, and what makes it worse is seen."""

import json
import re
import sys

import pytest
from biasscope.apps.cli.main import app, main
from biasscope.bias_library.bias import make_bias
from biasscope.bias_library.exchange import export_published
from biasscope.core.errors import DataError
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create
from biasscope.runs.treatments import TreatmentConfig, run_treatments
from biasscope.simulation.scripted import Reply, ScriptedServer
from typer.testing import CliRunner
from world_runs import over, write_config

FENCED = re.compile(r"<(answer_[ab])-[0-9a-f]{8}>\n(.*?)\n</\1-", re.DOTALL)
NAMES = {"experts": "Expert endorsement", "headings": "Headings"}


def swayed(body):
    """A judge that knows right from wrong, and falls for experts and for headings in a wrong answer.

    Told of one of them it resists that one. By its name it may be cured of all, or be spoilt for everything.
    """
    said = body["messages"][-1]["content"]
    told = " ".join(m["content"] for m in body["messages"] if m["role"] == "system")
    a, b = (text for _, text in FENCED.findall(said))
    scores = []
    for text in (a, b):
        value = 1.0 if "correct" in text else 0.0
        for cue, name in (("experts", "Expert endorsement"), ("# ", "Headings")):
            # Not every prompt: half of the pairs resist, by their number.
            number = int(re.search(r"item (\d+)", said)[1])
            immune = name in told or body["model"] == "cured" or (number + len(cue)) % 2
            value += 2.0 if cue in text.lower() and not immune else 0.0
        scores.append(-value if body["model"] == "spoilt" and number % 3 == 0 else value)
    if body["model"] == "habitual":
        scores[0] += 5.0
    return "Because of what they say, after looking at both.\n[[" + ("A" if scores[0] > scores[1] else "B") + "]]"


@pytest.fixture(scope="module")
def judge_server():
    with ScriptedServer(swayed) as running:
        yield running


@pytest.fixture
def given(judge_server, tmp_path):
    def pair(k):
        return {
            "prompt": f"Tell me about item {k}, please, and be brief.",
            "chosen": f"The correct thing about item {k} is this. It is well known. Answer: yes",
            "rejected": f"The mistaken thing about item {k} is that. It is well known. Answer: no",
        }

    for name, numbers in (("held", range(40)), ("general", range(100, 130))):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(pair(k)) + "\n" for k in numbers))
    biases = [
        make_bias("Expert endorsement", "Favouring what experts are said to hold.", "", origin="imported"),
        make_bias("Headings", "Favouring an answer because it is divided by headings.", "", origin="imported"),
    ]
    (tmp_path / "library.json").write_text(export_published(biases))
    model = {"base_url": judge_server.url, "max_concurrency": 16}

    def values(**more):
        base = {
            "name": "treated",
            "workspace": str(tmp_path / "ws"),
            "judge": {"model": "openai:swayed", **model},
            "source": str(tmp_path / "held.jsonl"),
            "general": str(tmp_path / "general.jsonl"),
            "library": str(tmp_path / "library.json"),
            "known": ["Expert endorsement"],
            "teacher": "rules",
        }
        return over(base, more)

    values.model = model
    return values


def compared(values):
    outcome = run_treatments(create(load_config(None, (), values, kind=TreatmentConfig)))
    assert outcome.state == "finished"
    return outcome


def groups(report):
    return {row.what: row for row in report.groups}


def test_a_preamble_helps_with_what_it_tells_of_and_nothing_else(given):
    outcome = compared(given(mitigations=["preamble"]))
    [report] = outcome.result.reports
    found = groups(report)
    known, others = found["biases known to the treatment"], found["other biases"]
    assert known.before >= 0.3
    assert known.after == 0.0
    assert known.high < 0
    assert others.before == others.after >= 0.3
    assert found["original pairs"].before == found["original pairs"].after == 0.0
    assert found["general pairs"].pairs == 30
    assert [s.rate for s in report.sensitivity_after] == [0.0, pytest.approx(others.before)]
    assert report.warnings == ()
    page = outcome.result.files["markdown"].read_text()
    assert "Expert endorsement \\*" in page
    assert json.loads(outcome.result.files["json"].read_text())["treatments"][0]["treatment"] == "told of biases"


def test_a_cure_and_a_cure_that_spoils(given):
    trained = {"model": "openai:cured", **given.model}
    [report] = compared(given(after=trained)).result.reports
    assert groups(report)["other biases"].after == 0.0
    assert report.warnings == ()
    spoilt = {"model": "openai:spoilt", **given.model}
    [report] = compared(given(after=spoilt, name="spoilt")).result.reports
    assert groups(report)["general pairs"].difference == pytest.approx(1 / 3, abs=0.01)
    assert any(warning.startswith("Worse on general pairs: +33.3 points") for warning in report.warnings)


def test_both_orders_take_a_habit_out_and_a_jury_outvotes(given):
    habitual = {"model": "openai:habitual", **given.model}
    cured = {"model": "openai:cured", **given.model}
    outcome = compared(
        given(judge=habitual, mitigations=["both_orders", "jury"], jury=[cured, {**cured, "seed": None}][:1])
    )
    averaged, jury = outcome.result.reports
    original = groups(averaged)["original pairs"]
    assert 0.3 < original.before < 0.7
    assert original.after == 0.5  # every pair is a tie: the habit decides both orders
    assert original.ties_after == 1.0
    assert groups(jury)["original pairs"].ties_after == pytest.approx(groups(jury)["original pairs"].before)


def test_pairs_of_the_training_data_are_left_out(given, tmp_path):
    lines = [json.loads(line) for line in (tmp_path / "held.jsonl").read_text().splitlines()]
    folder = tmp_path / "trained"
    folder.mkdir()
    row = {"prompt": [{"role": "user", "content": lines[0]["prompt"].upper()}], "pair_id": "x"}
    (folder / "train.jsonl").write_text(json.dumps(row) + "\n")
    [report] = compared(given(mitigations=["both_orders"], not_in=str(folder))).result.reports
    assert groups(report)["original pairs"].pairs == 39


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "nothing to compare"),
        ({"mitigations": ["jury"]}, "a jury needs other judges"),
        ({"mitigations": ["both_orders"], "known": ["Wit"]}, "known: 'Wit' is none of the biases"),
        ({"mitigations": ["both_orders"], "not_in": "nowhere"}, "not_in: 'nowhere' cannot be read"),
        ({"mitigations": ["prayer"]}, "mitigations.0"),
    ],
)
def test_wrong_settings_are_one_line(given, tmp_path, capsys, change, said):
    config = write_config(tmp_path / "bad.yaml", given() | change)
    try:
        sys.argv = ["biasscope", "mitigate", str(config)]
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        sys.argv = ["pytest"]
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.strip().splitlines()) == 1


def test_the_program_shows_the_table_and_a_repeated_call_costs_nothing(given, tmp_path, judge_server):
    config = write_config(tmp_path / "c.yaml", given(mitigations=["both_orders"]))
    said = CliRunner().invoke(app, ["mitigate", str(config), "--name", "shown"])
    assert said.exit_code == 0, said.output
    assert "both orders" in said.output
    asked = len(judge_server.requests)
    again = CliRunner().invoke(app, ["resume", str(tmp_path / "ws" / "shown")])
    assert again.exit_code == 0, again.output
    assert len(judge_server.requests) == asked


def test_a_judge_without_any_verdict_is_said(given):
    with ScriptedServer(lambda body: Reply(text="no idea")) as mute:
        values = given(judge={"model": "openai:mute", "base_url": mute.url}, mitigations=["both_orders"])
        with pytest.raises(DataError, match="gave no verdict on any of"):
            compared(values)
