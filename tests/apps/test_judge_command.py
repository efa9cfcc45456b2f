"""`biasscope judge`: presets, trials over real HTTP, and the accuracy of a log."""

import json
import re
from pathlib import Path

import pytest
import yaml
from biasscope.agents.judges.specs import KINDS, parse_judge
from biasscope.apps.cli.main import app
from biasscope.simulation.scripted import ScriptedServer
from typer.testing import CliRunner


def called(*arguments):
    return CliRunner().invoke(app, ["judge", *map(str, arguments)])


def test_three_pairs_in_both_orders_with_prompt_output_and_reading():
    with ScriptedServer(["I like it.\n[[A]]"] * 5 + ["no verdict"] * 2) as server:
        made = called("try", "--judge", f"openai:m@{server.url}", "--json")
    assert made.exit_code == 0, made.output
    told = json.loads(made.stdout)
    trials = told["trials"]
    assert [t["order"] for t in trials] == ["chosen_first", "rejected_first"] * 3 and told["left_out"] == []
    verdicts = [t["ruling"]["verdict"] for t in trials]
    assert verdicts == ["chosen", "rejected", "chosen", "rejected", "chosen", "invalid"]
    assert trials[0]["exchanges"][0]["reply"] == "I like it.\n[[A]]" and len(trials[-1]["exchanges"]) == 2


@pytest.mark.parametrize("name", ["target", "source", "data"])
def test_the_pairs_are_those_of_the_configuration_unless_others_are_given(tmp_path, name):
    rows = [{"q": f"Which is {n}?", "good": f"It is {n}.", "bad": "No idea."} for n in range(5)]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = {"source": str(tmp_path / "mine.jsonl"), "columns": {"prompt": "q", "chosen": "good", "rejected": "bad"}}
    config = tmp_path / "run.yaml"
    with ScriptedServer(["[[A]]"] * 10) as server:
        config.write_text(yaml.safe_dump({"judge": f"openai:m@{server.url}", name: given | {"limit": 4}}))
        mine = json.loads(called("try", config, "--pairs", 2, "--json").stdout)
        others = json.loads(called("try", config, "--data", "builtin", "--pairs", 1, "--json").stdout)
        shown = called("try", config, "--set", f"{name}=builtin:relevance", "--set", f"{name}.columns=null")
    asked = [t["exchanges"][0]["messages"][-1]["content"] for t in mine["trials"]]
    assert mine["data"] == given["source"] and len(asked) == 4
    assert all("Which is " in text and "No idea." in text for text in asked)
    assert others["data"] == "builtin" and "Which is " not in json.dumps(others["trials"])
    assert "on pairs of builtin:relevance" in shown.stdout


def test_pairs_of_a_configuration_that_are_not_there_are_one_line(tmp_path):
    config = tmp_path / "run.yaml"
    config.write_text("judge: openai:m@http://127.0.0.1:1/v1\ntarget: nowhere.jsonl\n")
    made = called("try", config)
    assert made.exit_code != 0 and "nowhere.jsonl" in str(made.exception)


def test_text_of_others_is_shown_harmless_and_nothing_readable_is_exit_3(tmp_path):
    with ScriptedServer(["\x1b[2Jnothing"] * 6) as server:
        config = tmp_path / "judge.yaml"
        config.write_text(f"judge: {{model: 'openai:m@{server.url}', prompt: arena-hard}}\n")
        made = called("try", config)
    assert made.exit_code == 3 and "\x1b[2J" not in made.stdout
    assert "6 verdicts: 6 invalid" in made.stdout


def test_the_presets_are_listed():
    made = called("presets")
    assert made.exit_code == 0 and "arena-hard" in made.stdout


def test_accuracy_of_a_log_of_ones_own(tmp_path):
    row = {"prompt": "Q", "answer_a": "x", "answer_b": "y", "label": "A", "judge": "mine"}
    swapped = row | {"answer_a": "y", "answer_b": "x", "label": "B"}
    rows = [row | {"verdict": "A"}, swapped | {"verdict": "A"}, row | {"prompt": "P", "verdict": None}]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(r) + "\n" for r in rows))
    made = called("accuracy", log, "--json")
    (told,) = json.loads(made.stdout)
    assert (told["verdicts"], told["right"], told["wrong"], told["unreadable"]) == (3, 1, 1, 1)
    assert told["accuracy"] == pytest.approx(1 / 3)
    assert (told["both_orders"], told["both_right"], told["same"]) == (1, 0, 0)


EXAMPLES = re.findall(
    r"```yaml\n(.*?)```", (Path(__file__).parents[2] / "docs/judges.md").read_text("utf-8"), re.DOTALL
)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_of_the_page_on_judges_can_be_read(example):
    given = yaml.safe_load(example)["judge"]
    assert parse_judge(given).kind == given["kind"]


def test_every_kind_has_an_example():
    assert {yaml.safe_load(example)["judge"]["kind"] for example in EXAMPLES} == set(KINDS)
