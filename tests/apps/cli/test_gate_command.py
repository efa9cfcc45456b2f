"""`biasscope gate` as CI calls it: exit codes, files, and no way to look worse by being broken."""

import json
import sys
import xml.etree.ElementTree as ET

import pytest
from biasscope.apps.cli.main import main
from biasscope.audits.frozen import write_frozen
from biasscope.simulation.scripted import failure
from frozen_worlds import frozen_world, with_judge
from world_runs import FaultyWorld


@pytest.fixture
def cli(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("BIASSCOPE_WORKSPACE", str(tmp_path / "space"))
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
def library(easy, tmp_path_factory):
    path = tmp_path_factory.mktemp("set") / "set.jsonl.gz"
    write_frozen(frozen_world(easy, 40, ("authority", "sentiment")), path)
    return path


def test_exit_codes_and_files(cli, easy, library, tmp_path):
    common = ("gate", "--library", library)
    out = {"--junit": tmp_path / "g.xml", "--summary": tmp_path / "g.md", "--report": tmp_path / "g.json"}
    files = [x for pair in out.items() for x in pair]
    with FaultyWorld(easy, keep=5) as server:
        judge = ("--judge", f"openai:world@{server.url}")
        code, said, err = cli(*common, *judge, "--max-effect", "5", *files, "--save", tmp_path / "base.json")
        assert code == 1, said + err
        assert "gate worse" in said
        assert json.loads((tmp_path / "g.json").read_text())["standing"] == "worse"
        assert ET.parse(tmp_path / "g.xml").getroot()[0].attrib["failures"] == "1"
        assert (tmp_path / "g.md").read_text().startswith("## Judge gate worse")
        assert cli(*common, *judge, "--max-effect", "30", "--name", "unclear")[0] == 3
        code, said, _ = cli(*common, *judge, "--max-change", "20", "--baseline", tmp_path / "base.json", "--json")
        assert code == 0
        assert json.loads(said)["drift"]["changed"] == 0
        assert cli("resume", "unclear")[0] == 3
        assert json.loads(cli("runs", "list", "--json")[1])[0]["kind"] == "gate"
    calm = with_judge(easy, weights={"authority": 0.0}, noise=0.1)
    with FaultyWorld(calm, keep=5) as server:
        code, said, _ = cli(*common, "--judge", f"openai:world@{server.url}", "--max-effect", "15")
        assert code == 0, said


def test_what_cannot_run_is_two(cli, easy, library, tmp_path):
    common = ("gate", "--library", library, "--max-effect", "5")
    junit, summary = tmp_path / "g.xml", tmp_path / "g.md"
    files = ("--junit", junit, "--summary", summary)

    def broken(*args, word):
        junit.unlink(missing_ok=True)
        code, out, err = cli(*args)
        assert code == 2, out + err
        assert word in err
        assert "Traceback" not in err
        assert err.count("\n") == 1
        if str(junit) in map(str, args):
            assert ET.parse(junit).getroot()[0].attrib["errors"] == "1"
            assert "could not run" in summary.read_text()

    broken("gate", *files, word="nothing to decide on")
    broken("gate", "--library", library, "--judge", "openai:m@http://127.0.0.1:1/v1", *files, word="needs a limit")
    broken(*common, "--judge", "nonsense", *files, word="nonsense")
    broken(*common, "--judge", "openai:m@http://127.0.0.1:1/v1", "--set", "judge.max_retries=0", *files, word="dead")
    broken("gate", "--library", tmp_path / "no.jsonl", "--judge", "openai:m@http://127.0.0.1:1/v1", "--max-effect", "5",
           *files, word="cannot be read")  # fmt: skip
    broken(*common, "--judge", "openai:m@http://127.0.0.1:1/v1", "--max-effect", "500", *files, word="max_effect")
    broken(*common, "--judge", "openai:m@http://127.0.0.1:1/v1", "--baseline", tmp_path / "x", *files, word="cannot be")
    broken("gate", tmp_path / "none.yaml", *files, word="none.yaml")
    with FaultyWorld(easy, lambda *_: failure(401, "bad key"), keep=5) as server:
        broken(*common, "--judge", f"openai:m@{server.url}", *files, word="access was denied")
    with FaultyWorld(easy, keep=5) as server:
        args = (*common, "--judge", f"openai:m@{server.url}", "--set", "budget.calls=9", "--name", "poor", *files)
        broken(*args, word="the budget of 9 calls is spent")
        code, _, err = cli("resume", "poor", "--set", "budget.calls=5000")
        assert code == 1, err
        assert ET.parse(junit).getroot()[0].attrib["failures"] == "1"


def test_a_bug_of_ours_is_two_as_well(cli, easy, library, monkeypatch):
    monkeypatch.setattr("biasscope.runs.audits.gate.gate_report", lambda *_: 1 / 0)
    with FaultyWorld(easy, keep=5) as server:
        code, _, err = cli("gate", "--library", library, "--max-effect", "5", "--judge", f"openai:m@{server.url}")
    assert (code, err) == (2, "biasscope: ZeroDivisionError: division by zero\n")
