"""`biasscope features`."""

import json

import pytest
from biasscope.apps.cli.main import app
from biasscope.core.errors import DataError, LibraryError
from typer.testing import CliRunner

runner = CliRunner()


def test_list():
    rows = json.loads(runner.invoke(app, ["features", "list", "--json"]).stdout)
    assert len(rows) >= 60 and {"name", "definition", "dimension"} <= set(rows[0])
    some = json.loads(runner.invoke(app, ["features", "list", "--json", "--dimension", "layout"]).stdout)
    assert {row["dimension"] for row in some} == {"layout"}
    assert "citations" in runner.invoke(app, ["features", "list"]).stdout


def test_show():
    shown = runner.invoke(app, ["features", "show", "citations"]).stdout
    assert "Citations and references" in shown and "before (0)" in shown
    row = json.loads(runner.invoke(app, ["features", "show", "citations", "--json"]).stdout)
    assert row["sample"]["measure_after"] > row["sample"]["measure_before"]


def test_measure(tmp_path):
    file = tmp_path / "answer.txt"
    file.write_bytes(b"What a great question! Experts say so. \xff [1]")
    found = json.loads(runner.invoke(app, ["features", "measure", str(file), "--json"]).stdout)
    assert {"praise", "experts", "exclamation_marks", "citations"} <= set(found) and "emoji" not in found
    every = json.loads(runner.invoke(app, ["features", "measure", "-", "--json", "--all"], input="Plain.").stdout)
    assert every["emoji"] == 0
    assert "praise" in runner.invoke(app, ["features", "measure", str(file)]).stdout


def test_own_features(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text(
        "- {name: sea, title: Sea, dimension: style, definition: Favouring the sea., phrases: [sea], "
        "write: {templates: [The sea is near.]}}"
    )
    found = runner.invoke(app, ["features", "measure", "-", "--json", "--features", str(own)], input="The sea.").stdout
    assert json.loads(found)["sea"] == 4


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (["show", "citation"], LibraryError, "did you mean 'citations'"),
        (["show", "zzz"], LibraryError, "see `biasscope features list`"),
        (["list", "--dimension", "depth"], LibraryError, "no dimension 'depth'"),
        (["measure", "/no/such/file"], DataError, "cannot be read"),
    ],
)
def test_mistakes_are_one_line(arguments, kind, message):
    error = runner.invoke(app, ["features", *arguments]).exception
    assert isinstance(error, kind) and message in str(error) and "\n" not in str(error)
