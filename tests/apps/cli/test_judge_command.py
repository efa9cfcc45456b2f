import json

import pytest
from biasscope.apps.cli.main import main
from world_runs import FaultyWorld, write_sources


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    def call(*args):
        monkeypatch.setattr("sys.argv", ["biasscope", *map(str, args), "-w", str(tmp_path / "space")])
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        else:
            code = 0
        out = capsys.readouterr()
        return code, out.out, out.err

    return call


@pytest.fixture
def data(easy, tmp_path):
    write_sources(tmp_path, easy, 12, 1)
    return tmp_path / "target.jsonl"


def test_a_profile_from_the_command_line(cli, easy, data, tmp_path):
    with FaultyWorld(easy, keep=5) as server:
        common = ("judge", "profile", "--judge", f"openai:world@{server.url}", "--data", data, "--limit", "8")
        code, out, err = cli(*common, "--again", "2", "--name", "one")
        assert code == 0, out + err
        assert "Right in both orders" in out
        assert "profile.html: " in out
        code, out, _ = cli(*common, "--json", "--set", "judge.mode=verdict")
        assert (code, json.loads(out)["pairs"]) == (0, 8)
        code, out, _ = cli(*common, "--name", "poor", "--set", "budget.calls=3")
        assert code == 4
        assert "the budget of 3 calls is spent" in out
        assert cli("resume", "poor", "--set", "budget.calls=500")[0] == 0
        assert cli("report", "one")[0] == 0
        assert {row["kind"] for row in json.loads(cli("runs", "list", "--json")[1])} == {"profile"}


@pytest.mark.parametrize(
    ("args", "word"),
    [
        ((), "nothing to measure: give --judge and --data"),
        (("--judge", "openai:m@http://127.0.0.1:1/v1"), "nothing to measure"),
        (("--judge", "nonsense", "--data", "builtin"), "nonsense"),
        (("--judge", "openai:m@http://127.0.0.1:1/v1", "--data", "none.jsonl"), "none.jsonl"),
        (("--judge", "openai:m@http://127.0.0.1:1/v1", "--data", "builtin", "--again", "-1"), "again"),
        (("--judge", "openai:m@http://127.0.0.1:1/v1", "--data", "builtin", "--labels", "no.csv"), "no.csv"),
    ],
)
def test_bad_input_is_one_line(cli, tmp_path, args, word):
    code, out, err = cli("judge", "profile", *args)
    assert code == 2, out + err
    assert word in err
    assert err.count("\n") == 1
    assert not list((tmp_path / "space").glob("*/config.yaml"))
