"""Every command, with normal use and with bad input: one line on stderr, the right exit code, no traceback."""

import json
import shlex
import sys

import pytest
from biasscope.apps.cli.main import main
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create
from biasscope.simulation.scripted import ScriptedServer
from world_runs import FaultyWorld, settings, start, write_config


@pytest.fixture
def cli(monkeypatch, capsys, finished):
    monkeypatch.setenv("BIASSCOPE_WORKSPACE", str(finished.folder.path.parent))
    monkeypatch.setenv("USER", "Ada")
    monkeypatch.setenv("COLUMNS", "200")

    def call(*args):
        monkeypatch.setattr(sys, "argv", ["biasscope", *(str(a) for a in args)])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture(scope="module")
def finished(small_data, server, tmp_path_factory):
    light = {"discovery": {"iterations": 1}, "validation": {"rule": "paper"}}
    return start(settings(small_data, tmp_path_factory.mktemp("cli") / "space", server.url, **light))


@pytest.fixture
def values(small_data, server, tmp_path):
    return settings(small_data, tmp_path / "space", server.url)


def refused(outcome, *words, code=2):
    got, _, err = outcome
    assert got == code, err
    assert err.count("\n") == 1, err
    assert err.startswith("biasscope: ")
    assert "Traceback" not in err
    for word in words:
        assert word in err


def test_looking_at_a_run(cli):
    assert "trial: finished" in cli("status")[1]
    assert "trial: finished" in cli("status", "trial", "--watch")[1]
    assert json.loads(cli("status", "trial", "--json")[1])["state"] == "finished"
    assert json.loads(cli("runs", "list", "--json")[1])[0]["run"] == "trial"
    assert "finished" in cli("runs", "list")[1]


def test_a_run_that_cannot_be_read(cli, values, tmp_path):
    folder = create(load_config(None, given=values))
    folder.store.write_bytes(b"no database at all" * 100)
    space = ("--workspace", folder.path.parent)
    for options in ((), ("--json",), ("--watch",)):
        refused(cli("status", *options, *space), "cannot be used", "not a database", code=3)
    code, out, _ = cli("runs", "list", *space)
    table, said = out.rsplit("\n", 2)[0], out.splitlines()[-1]
    assert code == 0 and "unreadable" in table and "cannot be used" not in table
    assert said.startswith(f"{folder.run_id}: the database")
    assert json.loads(cli("runs", "list", "--json", *space)[1])[0]["state"] == "unreadable"


def test_stages_are_told_in_words(cli, values):
    folder = create(load_config(None, given=values | {"validation": {"rule": "paper", "batch": 4}}))
    code, out, err = cli("resume", folder.path)
    assert code == 0, err
    assert "iteration 1, perturb (" in out and "iteration 1, validate, batch 2 (" in out and "validate@" not in out


def test_report_and_resume_of_a_finished_run(cli, tmp_path):
    code, out, _ = cli("report", "trial", "-o", tmp_path / "out")
    assert code == 0
    assert str(tmp_path / "out" / "report.html") in out.replace("\n", "")
    assert (tmp_path / "out" / "report.json").exists()
    assert "trial: judge " in out and "n: pairs." in out
    assert cli("report", "trial", "trial")[1].count("report.html") == 2
    refused(cli("report", "trial", "trial", "-o", tmp_path / "out"), "--output", "one run")
    assert cli("resume", "trial")[0] == 0
    refused(cli("resume", "trial", "--approve", "all"), "waits for a decision")
    refused(cli("resume", "trial", "--approve", "all", "--reject-all"), "exclude each other")


@pytest.mark.parametrize("command", ["status", "report", "resume"])
@pytest.mark.parametrize("name", ["nothing", "../../etc", "[bold]x[/bold]", "", "a\nb"])
def test_unknown_runs(cli, command, name):
    outcome = cli(command, name)
    refused(outcome, "no run")


def test_the_library_commands(cli, tmp_path):
    rows = json.loads(cli("library", "list", "--json")[1])
    found = [row for row in rows if row["effect"] is not None]
    bias = found[0]["id"]
    assert found[0]["name"] in cli("library", "list")[1]
    assert cli("library", "list", "--status", "seed", "--json")[1].count('"id"') == 7
    assert json.loads(cli("library", "show", bias, "--json")[1])["validations"]
    assert "iteration 1" in cli("library", "show", bias[:8])[1]
    assert json.loads(cli("library", "history", bias, "--json")[1])
    assert json.loads(cli("library", "diff", "trial", "trial", "--json")[1])["only_first"] == []
    assert "in both" in cli("library", "diff", "trial", "trial")[1]

    for where in (("trial",), ("--run", "trial"), ("trial", "--run", "trial")):
        assert cli("library", "list", *where)[1] == cli("library", "list")[1]
        assert cli("library", "show", bias, *where)[1] == cli("library", "show", bias)[1]
        assert cli("library", "history", bias, *where)[1] == cli("library", "history", bias)[1]
    refused(cli("library", "list", "trial", "--run", "other"), "two runs are named, 'trial' and --run 'other'")
    refused(cli("library", "history", "trial"), "no bias 'trial'", "write --run trial")

    assert cli("library", "export", tmp_path / "full.json", "trial")[0] == 0
    said = cli("library", "export", "--published", tmp_path / "short.json")[1]
    used = sum(row["status"] in ("seed", "valid", "confirmed") for row in rows)
    assert len(json.loads((tmp_path / "short.json").read_text())) == used
    assert said.startswith(f"{used} of {len(rows)} biases, those in use, in ")
    said = cli("library", "import", tmp_path / "full.json")[1]
    assert said.startswith(f"0 biases taken in, {used} there already; {len(rows) - used} left aside, ")

    hostile = "[bold]loud[/bold] [link=file:///etc]x"
    assert hostile in cli("library", "rename", bias, hostile, "--reason", "a test")[1]
    for view in (("library", "list"), ("library", "show", bias), ("library", "history", bias), ("report",)):
        code, _, err = cli(*view)
        assert code == 0, err
    assert hostile in cli("library", "list")[1]
    event = json.loads(cli("library", "history", bias, "--json")[1])[-1]
    assert (event["author"], event["reason"]) == ("Ada", "a test")
    assert cli("library", "undo", event["id"][:12])[0] == 0
    assert hostile not in cli("library", "list")[1]
    refused(cli("library", "undo", event["id"][:12]), "was taken back already")

    (tmp_path / "parts.json").write_text(json.dumps({"One": "Likes the one.", "Two": "Likes the two."}))
    (tmp_path / "one.json").write_text(json.dumps({"One": "Likes the one."}))
    refused(cli("library", "split", bias, tmp_path / "one.json"), "holds 1 biases; a split needs two or more")
    name = found[0]["name"]
    told = cli("library", "split", bias, tmp_path / "parts.json")[1]
    assert f"{name}: split into One, Two (event " in told
    back = shlex.split(told.split("`")[1])
    assert cli(*back[1:])[0] == 0
    assert "One: merge into Two" not in cli("library", "list")[1]
    assert cli("library", "split", bias, tmp_path / "parts.json")[0] == 0
    assert "One: merge into Two (event " in cli("library", "merge", "One", "Two")[1]
    refused(cli("library", "merge", "One", "Two"), "'One' is merged into 'Two' already: undo that first")
    refused(cli("library", "split", bias, tmp_path / "parts.json"), "its part 'One' is in the library already")
    told = " ".join(cli("library", "history", "One")[1].split())
    assert "merge into Two" in told and "split into One, Two" in told
    assert cli("library", "retire", "Two")[0] == 0


@pytest.mark.parametrize(
    "args",
    [
        ("show", "no such"),
        ("history", "[bold]"),
        ("merge", "no such", "none"),
        ("retire", "no such"),
        ("rename", "no such", "x"),
        ("undo", "no such"),
        ("import", "/no/such.json"),
        ("export", "/no/such/folder/x.json"),
        ("split", "no such", "/no/such.json"),
        ("diff", "trial", "no such"),
        ("list", "--run", "no such"),
        ("list", "no such"),
        ("show", "length", "no such"),
        ("export", "/tmp/x.json", "no such"),
        ("import", "/no/such.json", "no such"),
        ("retire", "length", "no such"),
        ("list", "--status", "splendid"),
    ],
)
def test_library_commands_with_bad_input(cli, args):
    refused(cli("library", *args))


def test_discover_from_a_file(cli, values, tmp_path):
    config = write_config(tmp_path / "run.yaml", values | {"profile": "paper"})
    code, out, err = cli("discover", config, "--name", "second", "--set", "discovery.iterations=1")
    assert code == 0, err
    assert "report:" in out
    refused(cli("discover", config, "--name", "second"), "second", "already")


@pytest.mark.parametrize(
    ("args", "word"),
    [
        ((), "nothing to audit"),
        (("{config}", "--set", "discovery.iterations=many"), "discovery.iterations"),
        (("{config}", "--set", "discovery.rounds=1"), "discovery.rounds"),
        (("{config}", "--set", "nonsense"), "key=value"),
        (("{config}", "--set", "seed=[1"), "YAML"),
        (("{config}", "--profile", "strict"), "profile"),
        (("{config}", "--name", "../x"), "../x"),
        (("{config}", "--name", "a/b"), "a/b"),
        (("{config}", "--judge", "gpt-4"), "gpt-4"),
        (("{config}", "--target", "/no/such.jsonl", "--name", "gone"), "/no/such.jsonl"),
        (("{config}", "--set", "judge.api_key_env=NO_SUCH_KEY", "--name", "keyless"), "NO_SUCH_KEY"),
        (("/no/such.yaml",), "/no/such.yaml"),
    ],
)
def test_discover_with_bad_input(cli, values, tmp_path, args, word):
    config = write_config(tmp_path / "run.yaml", values)
    refused(cli("discover", *(a.format(config=config) for a in args)), word)


def test_a_budget_and_a_decision_have_their_exit_codes(cli, values, tmp_path):
    config = write_config(tmp_path / "run.yaml", values | {"approve": True, "budget": {"calls": 20}})
    space = ("-w", tmp_path / "space")
    code, out, _ = cli("discover", config, *space)
    assert code == 4
    assert "inconclusive: the budget of 20 calls is spent" in out
    folder = (tmp_path / "space" / "trial").resolve()
    assert f"give more with --set budget.calls=N; `biasscope resume {folder}` goes on" in out
    assert "trial: inconclusive (the budget of 20" in cli("status", *space)[1]
    assert f"`biasscope resume {folder}` goes on" in cli("status", *space)[1].replace("\n", "")
    assert json.loads(cli("status", *space, "--json")[1])["state"] == "inconclusive"
    code, out, _ = cli("resume", "trial", "--set", "budget.calls=100000", *space)
    assert code == 0
    decide = f"decide with `biasscope resume {folder} --approve NAME ...`, `--approve all` or `--reject-all`"
    assert "waits for approval" in out and decide in out
    assert "trial: waiting" in cli("status", *space)[1]
    assert decide in cli("status", *space)[1].replace("\n", "")
    assert json.loads(cli("runs", "list", "--json", *space)[1])[0]["state"] == "waiting"
    refused(cli("resume", "trial", "--approve", "nobody", *space), "'nobody' is none of the biases that wait")
    assert cli("resume", "trial", "--approve", "all", "--set", "budget.calls=100000", *space)[0] == 0


def test_data_inspect(cli, small_data, tmp_path):
    report = json.loads(cli("data", "inspect", small_data / "test.jsonl", "--preset", "pairs", "--json")[1])
    assert report
    assert cli("data", "inspect", "builtin", "--limit", "5")[0] == 0
    refused(cli("data", "inspect", tmp_path / "none.jsonl"), "none.jsonl")
    refused(cli("data", "inspect", "builtin", "--column", "prompt"), "FIELD=COLUMN")
    refused(cli("data", "inspect", "builtin", "--preset", "no-such"), "no-such")
    refused(cli("data", "inspect", "builtin", "--limit", "0"), "limit")


def test_doctor(cli, server):
    code, out, _ = cli("doctor", "--model", f"openai:world@{server.url}", "--json")
    assert code == 0
    assert json.loads(out)["model 1"]["reachable"]
    refused(cli("doctor"), "nothing to check")
    refused(cli("doctor", "--model", "nonsense"), "nonsense")
    with FaultyWorld(server.world, models=["other"]) as lacking:
        code, out, err = cli("doctor", "--model", f"openai:world@{lacking.url}")
    assert code == 3
    assert "Traceback" not in out + err


def test_doctor_says_what_a_model_means_for_its_role(cli, values, tmp_path):
    with ScriptedServer(lambda body: "yes", refuses=["response_format", "logprobs"]) as plain:
        changed = values | {role: {"model": f"openai:m@{plain.url}"} for role in ("judge", "teacher")}
        code, out, _ = cli("doctor", write_config(tmp_path / "run.yaml", changed), "--json")
    found = json.loads(out)
    assert code == 3
    assert {role: found[role]["works"] for role in found} == {"judge": "yes", "teacher": "no", "embedder": "yes"}
    assert not any("JSON" in said for said in found["judge"]["says"])
    assert "a teacher names, words and compares biases in JSON" in found["teacher"]["says"][0]


def test_doctor_looks_at_every_address(cli, values, server, tmp_path):
    """One of two is dead: said for the judge, and for the embedder's two, which are both well."""
    dead, again = "http://127.0.0.1:1/v1", server.url.replace("127.0.0.1", "localhost")
    changed = values | {
        "judge": {"model": f"openai:world@{server.url},{dead}"},
        "embedder": {"model": "openai:world", "base_url": server.url, "endpoints": [again]},
    }
    code, out, _ = cli("doctor", write_config(tmp_path / "run.yaml", changed), "--json")
    found = json.loads(out)
    assert code == 3
    assert {name: row["works"] for name, row in found.items() if name.startswith("judge")} == {
        f"judge at {server.url}": "yes",
        f"judge at {dead}": "no",
    }
    assert [row["works"] for name, row in found.items() if name.startswith("embedder at ")] == ["yes", "yes"]


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"judges": ["MODEL", "MODEL"], "library": "set.gz"}, ["judges 1", "judges 2"]),
        ({"judge": {"kind": "jury", "members": ["MODEL", "MODEL"]}, "teacher": "rules"}, ["judge 1", "judge 2"]),
        ({"kind": "taxonomy", "judge": "MODEL", "verifier": "rules", "source": "builtin"}, ["judge"]),
        (
            {"judge": "MODEL", "panel": ["MODEL", "MODEL"], "check": "MODEL"},
            ["check", "judge", "panel 1", "panel 2"],
        ),
    ],
)
def test_doctor_reads_the_configuration_of_any_kind_of_job(cli, server, tmp_path, settings, found):
    text = json.dumps(settings).replace("MODEL", f"openai:world@{server.url}")
    code, out, _ = cli("doctor", write_config(tmp_path / "job.yaml", json.loads(text)), "--json")
    assert code == 0
    assert sorted(json.loads(out)) == found


def test_doctor_needs_a_model_to_look_at(cli, tmp_path):
    refused(cli("doctor", write_config(tmp_path / "job.yaml", {"teacher": "rules"})), "names no model")


def test_a_start_that_failed_leaves_the_name_free(cli, tmp_path):
    common = ["discover", "--judge", "openai:m@http://127.0.0.1:1/v1", "--teacher", "openai:m@http://127.0.0.1:1/v1"]
    for _ in range(2):
        code, _, err = cli(
            *common, "--embedder", "openai:m@http://127.0.0.1:1/v1", "--target", "nowhere.jsonl", "--name", "typo",
            "-w", tmp_path,
        )  # fmt: skip
        assert code == 2 and "nowhere.jsonl" in err
    assert not (tmp_path / "typo").exists()
