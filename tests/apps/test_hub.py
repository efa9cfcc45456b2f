"""Data sets and models of the hub: how they are read and downloaded, and what is said when they cannot be."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from biasscope.agents.engines.gguf import BETTER
from local_hub import LocalHub, serve_hub
from world_runs import COLUMNS, FaultyWorld, results, settings, start, write_config

COMMAND = "from biasscope.apps.cli.main import main; main()"
INSPECT = """
import sys
from biasscope.apps.cli.main import main
for arguments in sys.argv[1:]:
    sys.argv[1:] = ["data", "inspect", *arguments.split()]
    try:
        main()
    except SystemExit as stop:
        print(stop.code)
"""
RESOLVE = """
import sys
from biasscope.agents.engines.gguf import find_gguf, resolve
from biasscope.agents.engines.reference import parse_reference
spec, notice = resolve(parse_reference("local:"))
print(spec.model, notice, sep="\\n")
if "download" in sys.argv:
    print(find_gguf(spec).read_bytes().decode())
"""


@pytest.fixture
def hub() -> Iterator[LocalHub]:
    with serve_hub({}) as server:
        yield server


def _said(tmp_path: Path, hub: LocalHub, *arguments: str, code: str = COMMAND) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}
    environment.pop("HF_TOKEN", None)
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)


def _asked_for_data(hub: LocalHub) -> list[str]:
    return [path for _, path in hub.asked if "/datasets/" in path]


def test_no_hub_is_one_line_after_one_request(tmp_path: Path, hub: LocalHub) -> None:
    hub.status = 503
    said = _said(tmp_path, hub, "data", "inspect", "no/hub")
    assert said.returncode == 2 and said.stdout == ""
    assert said.stderr.startswith("biasscope: 'no/hub' is no file or folder here, and the hub cannot be asked")
    assert said.stderr.endswith("check the path, or the network\n") and said.stderr.count("\n") == 1
    assert len(_asked_for_data(hub)) == 1


def test_a_name_that_the_hub_does_not_have(tmp_path: Path, hub: LocalHub) -> None:
    model = "openai:any@http://127.0.0.1:9/v1"
    run = ("discover", "--judge", model, "--teacher", model, "--target", "is/gone", "--embedder", model)
    said = _said(tmp_path, hub, *run)
    assert said.returncode == 2
    assert said.stderr.startswith("biasscope: 'is/gone' is no file or folder here and no data set on the hub")
    assert said.stderr.count("\n") == 1
    assert len(_asked_for_data(hub)) == 1
    assert not [path for path in (tmp_path / "biasscope-workspace").iterdir() if path.is_dir()]


def test_a_run_on_data_sets_of_the_hub_is_the_run_on_their_files(tmp_path, easy, small_data, hub):
    light = {"discovery": {"iterations": 1}, "validation": {"rule": "paper"}}
    both = {
        f"data/{name}-00000-of-00001.jsonl": (small_data / f"{name}.jsonl").read_bytes() for name in ("target", "test")
    }
    hub.repos = {"datasets/team/pairs": both}
    with FaultyWorld(easy) as world:
        files = start(settings(small_data, tmp_path / "files", world.url, **light))
        values = settings(small_data, tmp_path / "hub", world.url, **light)
        for name in ("target", "test"):
            values[name] = {"source": "team/pairs", "split": name, "columns": COLUMNS}
        said = _said(tmp_path, hub, "discover", str(write_config(tmp_path / "run.yaml", values)))
    assert said.returncode == 0, said.stderr
    ours, theirs = results(type(files.folder)(tmp_path / "hub" / "trial")), results(files.folder)
    assert len(theirs["Judgment"]) > 24
    for kind in ("Perturbation", "Judgment", "Candidate", "Validation", "LibraryEvent"):
        assert ours[kind] == theirs[kind]


def test_data_sets_of_the_hub_that_cannot_be_read(tmp_path, small_data, hub):
    good = (small_data / "target.jsonl").read_bytes()
    hub.repos = {
        "datasets/team/two": {"data/train.jsonl": good, "data/test.jsonl": good},
        "datasets/team/none": {"README.md": b"# Nothing yet"},
        "datasets/team/cut": {"train.jsonl": good[: len(good) // 2]},
        "datasets/team/gated": {"train.jsonl": good},
    }
    hub.tokens["datasets/team/gated"] = "hf_of_the_team"
    inspected = ("team/two", "team/two --split nope", "team/none", "team/cut", "team/gated")
    said = _said(tmp_path, hub, *inspected, code=INSPECT)
    two, nope, none, cut, gated = said.stderr.splitlines()
    assert said.stdout.split() == ["2"] * 5
    assert "has the splits ['test', 'train']: choose one with split" in two
    assert "Bad split: nope. Available splits" in nope
    assert "doesn't contain any data files" in none
    assert "'team/cut': after row " in cut and "JSON parse error" in cut
    assert "for a private or gated one set HF_TOKEN" in gated


def test_a_gated_data_set_is_read_with_the_token(tmp_path, small_data, hub):
    hub.repos = {"datasets/team/gated": {"train.jsonl": (small_data / "target.jsonl").read_bytes()}}
    hub.tokens["datasets/team/gated"] = "hf_of_the_team"
    code = f"import os; os.environ['HF_TOKEN'] = 'hf_of_the_team'\n{COMMAND}"
    said = _said(tmp_path, hub, "data", "inspect", "team/gated", "--json", code=code)
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["rows"] == 24
    assert "hf_of_the_team" not in said.stdout + said.stderr


def test_local_prefers_the_better_model_of_the_hub_and_says_so(tmp_path, hub):
    repo, file = BETTER.rsplit("/", 1)
    hub.repos = {repo: {file: b"GGUF of the hub"}}
    first = _said(tmp_path, hub, "download", code=RESOLVE)
    assert first.returncode == 0, first.stderr
    model, notice, content = first.stdout.splitlines()
    assert model == f"local:{BETTER}" and content == "GGUF of the hub"
    assert notice.startswith(f"local: uses {BETTER} from the model hub")
    hub.status = 503  # what was downloaded stays, with the hub or without
    again = _said(tmp_path, hub, "download", code=RESOLVE)
    assert again.stdout == first.stdout


@pytest.mark.parametrize("status", [0, 503])
def test_local_is_the_packaged_model_without_a_hub_and_says_so(tmp_path, hub, status):
    hub.status = status
    said = _said(tmp_path, hub, code=RESOLVE)
    model, notice = said.stdout.splitlines()
    assert model == "local:smollm2"
    assert "a weak model" in notice and BETTER in notice
    assert len([path for _, path in hub.asked if path.endswith(".gguf")]) == 1


def test_a_file_that_the_hub_does_not_have(tmp_path, hub):
    said = _said(tmp_path, hub, "doctor", "--model", "local:team/tiny/none.gguf", "--json")
    assert said.returncode == 3
    assert "the hub has no such file" in said.stdout
