"""Folders that may not be written and disks that are full: one clear line, and nothing lost."""

import contextlib
import json
import shutil
import subprocess
import sys

import pytest
from biasscope.core.errors import StoreError
from biasscope.core.records import PreferencePair
from biasscope.core.store import Store
from biasscope.runs.folder import RunFolder
from biasscope.runs.report.write import write_files
from world_runs import FaultyWorld, results, settings, start, write_config

LIGHT = {"discovery": {"iterations": 1}, "validation": {"rule": "paper"}}
COMMAND = (sys.executable, "-c", "from biasscope.apps.cli.main import main; main()")


def cli(*args):
    return subprocess.run([*COMMAND, *map(str, args)], capture_output=True, text=True, timeout=300)


def refused(done, *words):
    assert done.returncode == 3, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert all(word in done.stderr for word in ("biasscope: ", *words)), done.stderr


class Disk:
    """A small file system of its own, in memory."""

    def __init__(self, at):
        self.at = at

    def mount(self, options):
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.at)]
        return subprocess.run(command, capture_output=True).returncode == 0


@pytest.fixture
def disk(tmp_path):
    disk = Disk(tmp_path / "disk")
    disk.at.mkdir()
    if not disk.mount("size=1500k"):
        pytest.skip("file systems may not be mounted here")
    yield disk
    subprocess.run(["umount", "-l", str(disk.at)], check=True)


@pytest.mark.slow
def test_a_full_disk_stops_a_run_that_goes_on_when_there_is_space(easy, small_data, tmp_path, disk):
    with FaultyWorld(easy) as server:
        whole = start(settings(small_data, tmp_path / "whole", server.url, **LIGHT))
        server.asked.clear()
        config = write_config(tmp_path / "run.yaml", settings(small_data, disk.at / "w", server.url, **LIGHT))
        folder = RunFolder(disk.at / "w" / "trial")
        refused(cli("discover", config), "disk is full", "resume")
        refused(cli("resume", folder.path), "disk is full", "resume")
        assert "stopped" in cli("status", folder.path).stdout
        assert disk.mount("remount,size=64m")
        done = cli("resume", folder.path)
        assert done.returncode == 0, done.stderr
        asked = server.asked.copy()
    assert results(folder) == results(whole.folder)
    # What was in flight when the disk was full could not be kept, each of the two times.
    assert sum(n - 1 for n in asked.values()) <= 2 * 16


@pytest.mark.slow
def test_a_folder_that_may_not_be_written_can_be_looked_at(easy, small_data, tmp_path, disk):
    assert disk.mount("remount,size=64m")
    with FaultyWorld(easy) as server:
        values = settings(small_data, disk.at / "w", server.url, budget={"calls": 100}, **LIGHT)
        folder = start(values).folder
        assert disk.mount("remount,ro")
        assert "trial: inconclusive" in cli("status", folder.path).stdout
        assert "trial: inconclusive" in cli("status", folder.path, "--watch").stdout
        assert "inconclusive" in cli("runs", "list", "--workspace", disk.at / "w").stdout
        shown = json.loads(cli("library", "list", folder.path, "--json").stdout)
        name = next(entry["name"] for entry in shown if entry["origin"] == "discovered")
        assert cli("report", folder.path, "-o", tmp_path / "elsewhere").returncode == 0
        refused(cli("report", folder.path), str(folder.path), "Read-only")
        refused(cli("resume", folder.path), str(folder.path), "Read-only")
        retired = cli("library", "retire", name, folder.path, "--reason", "no")
        refused(retired, "store.db", "may not write")
        config = write_config(tmp_path / "run.yaml", {**values, "name": "other"})
        refused(cli("discover", config), "other", "Read-only", "--workspace")
        assert disk.mount("remount,rw")
        done = cli("resume", folder.path, "--set", "budget.calls=null")
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("left", ["nothing", "a log", "a log and its index"])
def test_a_store_that_may_not_be_written_can_be_read(tmp_path, disk, left):
    """`left` by a process that was killed."""
    pair = PreferencePair(id="p", prompt="q", chosen="yes", rejected="no")
    store = Store(tmp_path / "store.db")
    store.write_now(pair)
    if left == "nothing":
        store.close()
    for ending in ("", "-wal", "-shm") if left == "a log and its index" else ("", "-wal"):
        with contextlib.suppress(FileNotFoundError):
            shutil.copy(tmp_path / f"store.db{ending}", disk.at)
    store.close()
    assert disk.mount("remount,ro")
    if left == "a log":
        with pytest.raises(StoreError, match="copy of its folder"):
            Store(disk.at / "store.db")
        return
    looking = Store(disk.at / "store.db")
    assert looking.get(PreferencePair, "p") == pair
    with pytest.raises(StoreError, match="may not write"):
        looking.write_now(pair.model_copy(update={"id": "q"}))
    looking.close()


def test_a_report_that_does_not_fit_leaves_the_one_before(disk):
    write_files(disk.at, {"html": ("report.html", b"good")}, "report")
    with pytest.raises(StoreError, match="No space left"):
        write_files(disk.at, {"html": ("report.html", b"x" * 2_000_000)}, "report")
    assert (disk.at / "report.html").read_bytes() == b"good"
    assert [path.name for path in disk.at.iterdir()] == ["report.html"]
