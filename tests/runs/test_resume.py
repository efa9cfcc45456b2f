"""A run that is killed again and again finds what an undisturbed one finds, and pays for nothing twice."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from biasscope.bias_library.exchange import export_full
from biasscope.bias_library.library import load_library
from biasscope.core.errors import StoreError
from biasscope.core.records import Validation
from biasscope.graph.build import LOOP
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create, open_store
from biasscope.runs.launch import run
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from world_runs import FaultyWorld, results, settings, start, write_config, write_sources

COMMAND = (sys.executable, "-c", "from biasscope.apps.cli.main import main; main()")


def exported(folder):
    store = open_store(folder)
    try:
        return export_full(load_library(store, folder.run_id), store.select(Validation, run_id=folder.run_id))
    finally:
        store.close()


def killed(args, server, moment, wait):
    """Start a command and kill it once `moment` different questions were asked; True when it was still alive."""
    child = subprocess.Popen([*COMMAND, *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while child.poll() is None and len(server.asked) < moment:
        time.sleep(0.002)
    time.sleep(wait)
    alive = child.poll() is None
    if alive:
        os.kill(child.pid, signal.SIGKILL)
    _, said = child.communicate()
    assert alive or child.returncode == 0, said
    return alive


def kill_and_compare(tmp_path: Path, world, *, target, test, kills, seed, **more):
    write_sources(tmp_path / "data", world, target, test)
    with FaultyWorld(world) as server:
        whole = start(settings(tmp_path / "data", tmp_path / "whole", server.url, **more))
        calls = server.asked.copy()
        assert max(calls.values()) == 1
        server.asked.clear()

        values = settings(tmp_path / "data", tmp_path / "killed", server.url, **more)
        config = write_config(tmp_path / "run.yaml", values)
        folder = tmp_path / "killed" / "trial"
        generator = random.Random(seed)
        moments = sorted(generator.sample(range(1, len(calls)), kills))
        hits = 0
        for moment in moments:
            begun = (folder / "config.yaml").exists()
            args = ["resume", str(folder)] if begun else ["discover", str(config)]
            hits += killed(args, server, moment, wait=generator.random() * 0.02)
        done = subprocess.run([*COMMAND, "resume", str(folder)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        again = server.asked.copy()

    assert hits == kills
    resumed = type(whole.folder)(folder)
    assert results(resumed) == results(whole.folder)
    assert exported(resumed) == exported(whole.folder)
    assert again.keys() == calls.keys()
    # Four items a slot: asked, or answered and not yet on disk.
    in_flight = 4 * (values["judge"]["max_concurrency"] + values["teacher"]["max_concurrency"])
    assert max(again.values()) <= 1 + kills
    assert again.total() - calls.total() <= in_flight * kills


def test_three_kills_change_nothing(easy, tmp_path):
    kill_and_compare(tmp_path, easy, target=16, test=20, kills=3, seed=1)


def test_three_kills_change_nothing_without_a_language_model(easy, tmp_path):
    kill_and_compare(
        tmp_path,
        easy,
        target=60,
        test=40,
        kills=3,
        seed=3,
        judge={"mode": "verdict"},
        teacher={"model": "rules", "base_url": None},
        discovery={"by": "contrasts", "misjudgments": "flipped"},
    )


@pytest.mark.slow
def test_ten_kills_change_nothing(easy, tmp_path):
    kill_and_compare(
        tmp_path,
        easy,
        target=100,
        test=120,
        kills=10,
        seed=2,
        discovery={"iterations": 3, "misjudgments": "flipped"},
        validation={"seeds": True, "batch": 40, "confirm_share": 0.3},
    )


def test_a_process_that_dies_at_every_checkpoint_comes_to_the_same_end(easy, small_data, server, tmp_path, monkeypatch):
    whole = start(settings(small_data, tmp_path / "whole", server.url))
    folder = create(load_config(None, (), settings(small_data, tmp_path / "dying", server.url)))
    put, died = AsyncSqliteSaver.aput, []

    async def dying(self, config, checkpoint, metadata, versions):
        if metadata["step"] not in died:
            died.append(metadata["step"])
            raise StoreError("died before the checkpoint")
        return await put(self, config, checkpoint, metadata, versions)

    monkeypatch.setattr(AsyncSqliteSaver, "aput", dying)
    outcome = None
    while outcome is None:
        with contextlib.suppress(StoreError):
            outcome = run(folder)
    assert len(died) > len(LOOP)
    assert results(folder) == results(whole.folder)
