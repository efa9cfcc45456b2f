"""A printed command works as it is typed: it names the workspace when the command would look elsewhere by itself."""

import re
import shlex
from pathlib import Path

import biasscope
import pytest
from biasscope.runs.folder import RunFolder, command_in

ROOT = Path(biasscope.__file__).parent


def test_the_workspace_is_named_when_it_is_not_the_usual_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BIASSCOPE_WORKSPACE", raising=False)
    usual, own = tmp_path / "biasscope-workspace", tmp_path / "my runs"
    for workspace in (Path("biasscope-workspace"), usual):
        assert command_in(workspace, "discover") == "biasscope discover"
        assert RunFolder(workspace / "r").command("resume") == "biasscope resume r"
    assert shlex.split(command_in(own, "discover")) == ["biasscope", "discover", "-w", str(own)]
    said = RunFolder(own / "r").command("analyse length", "--truncate")
    assert shlex.split(said) == ["biasscope", "analyse", "length", str(own / "r"), "--truncate"]
    monkeypatch.setenv("BIASSCOPE_WORKSPACE", str(own))
    assert RunFolder(own / "r").command("resume") == "biasscope resume r"
    assert RunFolder(usual / "r").command("resume") == f"biasscope resume {usual / 'r'}"


def test_no_command_on_a_run_is_put_together_by_hand() -> None:
    folders = ("agents", "apps", "audits", "bias_library", "builders", "core", "graph", "runs", "validators")
    by_hand = re.compile(r"`biasscope [a-z -]*\{|biasscope [a-z -]+ \{(?:folder|outcome|run_id|name)")
    found = [
        f"{file.relative_to(ROOT)}:{number}"
        for folder in folders
        for file in (ROOT / folder).rglob("*.py")
        if file != ROOT / "runs" / "folder.py"
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if by_hand.search(line)
    ]
    assert not found
