"""Transfer over real HTTP between planted worlds whose effects are known, with faults and a kill."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import biasscope
import numpy as np
import pytest
from biasscope.apps.cli.main import app
from biasscope.audits.frozen import read_frozen, write_frozen
from biasscope.audits.replay import read_replay
from biasscope.audits.transfer import TransferReport
from biasscope.core.errors import ConfigError
from biasscope.runs.audits.heat import HeatCell, heat_map
from biasscope.runs.audits.transfer import TransferConfig, report_transfer, run_transfer
from biasscope.runs.audits.transfer_page import transfer_page
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create
from biasscope.simulation.effects import true_effects
from biasscope.simulation.pairs import world_pairs
from biasscope.simulation.scripted import Reply
from frozen_worlds import frozen_world, with_judge
from typer.testing import CliRunner
from world_runs import FaultyWorld, draw

COMMAND = (sys.executable, "-c", "from biasscope.apps.cli.main import main; main()")
PAIRS = 110
FEATURES = ("authority", "self_check", "sentiment")


@pytest.fixture(scope="module")
def library(easy, tmp_path_factory):
    path = tmp_path_factory.mktemp("frozen") / "set.jsonl.gz"
    write_frozen(frozen_world(easy, PAIRS, FEATURES), path)
    return path


@pytest.fixture(scope="module")
def small(easy, tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "set.jsonl"
    write_frozen(frozen_world(easy, 16, FEATURES[:2]), path)
    return path


def config(urls, library, workspace, **more):
    judges = [{"model": "openai:world", "base_url": url} for url in urls]
    given = {"judges": judges, "library": str(library), "workspace": str(workspace), "name": "t"}
    return load_config(None, (), {**given, **more}, kind=TransferConfig)


def transferred(urls, library, workspace, **more):
    outcome = run_transfer(create(config(urls, library, workspace, **more)))
    assert outcome.state == "finished"
    return outcome.result, outcome.folder


def called(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_shared_and_own_biases_are_those_that_were_planted(easy, library, tmp_path):
    """Both judges fall for authority, the first alone for self_check, neither for sentiment."""
    other = with_judge(easy, weights={"self_check": 0.0})
    with FaultyWorld(easy, keep=5) as one, FaultyWorld(other, keep=5) as two:
        found, folder = transferred([one.url, two.url], library, tmp_path)
        assert one.asked.total() == two.asked.total() == PAIRS * (len(FEATURES) + 2)
    shared, own, idle = found.biases
    assert (shared.sharing, shared.judges, shared.differ) == ("shared", (0, 1), False)
    assert (own.sharing, own.judges, own.differ) == ("own", (0,), True)
    assert (idle.sharing, idle.judges) == ("not shown", ())
    pairs = world_pairs(easy, PAIRS, 1)
    for k, world in enumerate((easy, other)):
        truth = true_effects(world, pairs)
        for bias, name in zip(found.biases, FEATURES, strict=True):
            cell = bias.cells[k]
            assert cell.interval[0] <= truth[name] <= cell.interval[1], (k, name, truth[name])
            assert cell.n >= PAIRS - found.judges[k].ties

    frozen = read_frozen(library)
    replays = [read_replay(folder.path / f"replay-{k}.json") for k in (1, 2)]
    d = replays[0].differences(frozen, own.id)
    assert own.cells[0].effect == pytest.approx(100 * np.nanmean(d))
    assert TransferReport.model_validate_json((folder.path / "transfer.json").read_bytes()) == found

    page = (folder.path / "transfer.html").read_text()
    assert "own to 1 world" in page and "<script" not in page
    assert "1 of 3 biases shared by all 2 judges, 1 one judge&#39;s own" in page
    assert "| Bias | 1 world | 2 world | Shared |" in (folder.path / "transfer.md").read_text()
    heat = ET.parse(folder.path / "plots" / "transfer.svg").getroot()
    assert any(f"{own.cells[0].effect:+.1f}" == (e.text or "").strip() for e in heat.iter())
    assert (folder.path / "plots" / "transfer.png").read_bytes().startswith(b"\x89PNG")
    assert report_transfer(folder, tmp_path / "again")["html"].read_text() == page


def test_one_set_of_several_judges_at_the_terminal(easy, small, tmp_path):
    with FaultyWorld(easy, keep=5) as one, FaultyWorld(easy, keep=5) as two:
        judges = f"openai:world@{one.url}, openai:world@{two.url}"
        given = ("transfer", "--judges", judges, "--library", small, "-w", tmp_path, "--name", "t", "--json")
        made = called(*given, "--set", "judges.1.mode=verdict", "--set", "judges.0.max_concurrency=3")
    assert made.exit_code == 0, made.output
    told = json.loads(made.stdout)
    assert [j["probabilities"] for j in told["judges"]] == [False, True]
    assert "transfer.html" in made.stderr and "of 2 biases shared by all 2 judges" in made.stderr
    assert called("report", "t", "-w", tmp_path).exit_code == 0
    assert "transfer" in called("runs", "list", "-w", tmp_path).stdout


def test_a_judge_that_faults_says_so_and_does_not_hide_the_others(easy, small, tmp_path):
    def stubborn(body, _):
        kind = draw({"messages": body["messages"][:2]}, 5)
        return Reply(text="Well.") if kind == 0 else Reply(text="The", finish_reason="length") if kind == 1 else None

    with FaultyWorld(easy, keep=5) as one, FaultyWorld(easy, stubborn, keep=5) as two:
        found, folder = transferred([one.url, two.url], small, tmp_path)
    calm, faulty = found.judges
    assert calm.invalid == calm.failed == 0 < min(faulty.invalid, faulty.failed)
    assert all(b.cells[0].n == 16 > b.cells[1].n for b in found.biases)
    assert "gave no verdict; its effects speak for the rest only" in (folder.path / "transfer.md").read_text()


def test_a_judge_without_any_verdict_has_empty_cells(easy, small, tmp_path):
    with FaultyWorld(easy, keep=5) as one, FaultyWorld(easy, lambda *_: Reply(text="Well."), keep=5) as two:
        found, _ = transferred([one.url, two.url], small, tmp_path)
    assert [(b.cells[1].n, b.cells[1].effect, b.cells[1].shown) for b in found.biases] == [(0, None, False)] * 2
    assert all(b.sharing in ("some", "not shown") for b in found.biases)
    page = transfer_page(found)
    assert "gave no verdict on any unperturbed pair" in " ".join(page.warnings)
    assert "–" in next(iter(page.plots)).wide


def test_a_killed_transfer_pays_nothing_twice(easy, small, tmp_path):
    with FaultyWorld(easy, keep=5) as one, FaultyWorld(easy, keep=5) as two:
        urls = [one.url, two.url]
        whole, _ = transferred(urls, small, tmp_path / "whole")
        calls = one.asked.total() + two.asked.total()
        one.asked.clear(), two.asked.clear()
        folder = create(config(urls, small, tmp_path / "killed")).path
        child = subprocess.Popen([*COMMAND, "resume", str(folder)], stdout=subprocess.DEVNULL)
        while child.poll() is None and len(two.asked) < 7:
            time.sleep(0.002)
        assert child.poll() is None
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        done = subprocess.run([*COMMAND, "resume", str(folder)], capture_output=True, text=True, timeout=120)
        paid = one.asked.total() + two.asked.total()
    assert done.returncode == 0, done.stderr
    assert TransferReport.model_validate_json((folder / "transfer.json").read_bytes()) == whole
    assert paid - calls <= 4 * 8 + 1  # items in flight at the kill: asked, or answered and not yet on disk


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--judges", "openai:a"), "judges: needs 2 entries or more"),
        (("--judges", "openai:a@http://127.0.0.1:1/v1,openai:a@http://127.0.0.1:1/v1"), "is there twice"),
        (("--judges", "openai:a,python:m:f"), "needs a kind"),
        (("--judges", "openai:a,openai:b", "--orders", "some"), "orders: must be"),
        (("--judges", ",", "--library", "no.jsonl"), "judges: needs 2 entries or more"),
        ((), "give --judges A,B,C and --library"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(small, tmp_path, monkeypatch, given, said):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    library = () if "--library" in given or not given else ("--library", str(small))
    error = called("transfer", *given, *library, "-w", tmp_path / "w").exception
    assert isinstance(error, ConfigError)
    assert said in str(error) and "\n" not in str(error)
    assert not (tmp_path / "w").exists() or not any((tmp_path / "w").iterdir())


def test_the_example_of_the_page_can_be_read(tmp_path):
    page = (Path(biasscope.__file__).parent / "docs" / "transfer.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "transfer.yaml").write_text(example)
    made = load_config(tmp_path / "transfer.yaml", ["judges.0.timeout_s=60"], kind=TransferConfig)
    assert [judge.kind for judge in made.judges] == ["pairwise", "score", "compare"]
    assert made.judges[0].timeout_s == 60


def test_names_of_others_do_no_harm_in_a_heat_map():
    cell = HeatCell(12.0, "+12.0", "+1.0 to +23.0", True)
    plot = heat_map(
        "t", "T", ["<script>alert(1)</script>", "b" * 500], [f"judge {k}" for k in range(9)], [[cell] * 9] * 2
    )
    assert "<script" not in plot.wide + plot.narrow + plot.file_svg
    ET.fromstring(plot.file_svg)
