"""A run through a batch API, killed between submitting and collecting, finds what one that asks directly finds."""

import os
import random
import signal
import subprocess
import sys
import time

from biasscope.runs.folder import RunFolder
from biasscope.runs.launch import run
from biasscope.simulation.batches import BatchDesk
from world_runs import FaultyWorld, over, results, settings, start, write_config, write_sources

COMMAND = (sys.executable, "-c", "from biasscope.apps.cli.main import main; main()")
SMALL = {"discovery": {"iterations": 1}, "validation": {"batch": 12, "manipulation_checks": 2}}
BATCHES = {role: {"batch": {"quiet_s": 0.05, "poll_s": 0.02}} for role in ("judge", "teacher")}


def found(folder):
    every = results(folder)
    every.pop("report")  # tells the settings too
    return every


def test_a_run_killed_between_submit_and_collect_loses_nothing_and_pays_nothing_twice(easy, tmp_path):
    write_sources(tmp_path / "data", easy, 10, 10)
    desk = BatchDesk()
    with FaultyWorld(easy, batches=desk) as server:
        direct = start(settings(tmp_path / "data", tmp_path / "direct", server.url, **SMALL))
        calls = sum(server.asked.values())
        server.asked.clear()
        values = settings(tmp_path / "data", tmp_path / "killed", server.url, **over(SMALL, BATCHES))
        config, folder = write_config(tmp_path / "run.yaml", values), RunFolder(tmp_path / "killed" / "trial")
        generator = random.Random(5)
        for moment in (2, 6):
            args = ["resume", str(folder.path)] if folder.config.exists() else ["discover", str(config)]
            child = subprocess.Popen([*COMMAND, *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            while child.poll() is None and len(desk.batches) < moment:
                time.sleep(0.001)
            time.sleep(generator.random() * 0.05)
            assert child.poll() is None, child.communicate()
            os.kill(child.pid, signal.SIGKILL)
            child.communicate()
        assert run(folder).state == "finished"
    assert len(desk.batches) > 6
    assert len(desk.lines) == len(set(desk.lines)) == calls
    assert max(server.asked.values()) == 1
    assert found(folder) == found(direct.folder)
