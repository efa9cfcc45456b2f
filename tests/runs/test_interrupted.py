"""What a process that dies at an awkward moment leaves behind, and what the next one makes of it."""

import contextlib
import fcntl
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import threading
import time

import pytest
from biasscope.apps.cli.runs import _state as shown
from biasscope.bias_library.library import load_library
from biasscope.core.errors import ConfigError, StoreError
from biasscope.graph.nodes import admit
from biasscope.runs import jobs
from biasscope.runs.config import load_config
from biasscope.runs.folder import RunFolder
from biasscope.runs.jobs import create, open_store
from biasscope.runs.launch import Approval, run
from biasscope.simulation.scripted import Reply, failure
from world_runs import FaultyWorld, draw, results, settings, start, write_config

LIGHT = {"discovery": {"iterations": 1}, "validation": {"rule": "paper"}}
COMMAND = (sys.executable, "-c", "from biasscope.apps.cli.main import main; main()")


def cli(*args):
    return subprocess.run([*COMMAND, *map(str, args)], capture_output=True, text=True, timeout=120)


def state_of(folder):
    row = shown(folder)
    return row.state, row.reason


@pytest.mark.slow
def test_a_killed_run_has_its_failures_once(easy, small_data, tmp_path):
    """Items that fail for good fail again after a kill, and are counted once."""
    faults = [
        Reply(text=""),
        Reply(text="The first", finish_reason="length"),
        Reply(text=None, refusal="No."),
        failure(400, "this one is not to my liking"),
    ]

    def fault(body, _):
        k = draw(body, 40)
        return faults[k] if k < len(faults) else None

    # With `auto` every process learns anew what the endpoint takes: an early 400 is asked again in another form.
    form = {"structured": "json_schema"}
    known = {"judge": form, "teacher": form, "orders": "both", **LIGHT}
    generator = random.Random(3)
    with FaultyWorld(easy, fault) as server:
        whole = start(settings(small_data, tmp_path / "whole", server.url, **known))
        calls = server.asked.copy()
        server.asked.clear()
        config = write_config(tmp_path / "run.yaml", settings(small_data, tmp_path / "killed", server.url, **known))
        folder = type(whole.folder)(tmp_path / "killed" / "trial")
        for moment in sorted(generator.sample(range(1, len(calls)), 2)):
            args = ["resume", str(folder.path)] if folder.config.exists() else ["discover", str(config)]
            child = subprocess.Popen([*COMMAND, *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while child.poll() is None and len(server.asked) < moment:
                time.sleep(0.002)
            assert child.poll() is None
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
        said = cli("status", folder.path)
        assert (said.returncode, said.stdout.splitlines()[0]) == (0, "trial: stopped"), said.stderr
        assert f"`biasscope resume {folder.path}` goes on" in said.stdout.replace("\n", "")
        done = cli("resume", folder.path)
        assert done.returncode == 0, done.stderr
        again = server.asked.copy()
    ours = results(folder)
    assert len(ours["Failure"]) > 3
    assert ours == results(whole.folder)
    paid_twice = [body for body, n in again.items() if n > 1 and draw(json.loads(body), 40) != 3]
    assert len(paid_twice) <= 2 * 16


def test_the_manifest_is_written_by_the_next_process(easy, small_data, server, tmp_path, monkeypatch):
    folder = create(load_config(None, (), settings(small_data, tmp_path / "w", server.url, **LIGHT)))

    def die(*_):
        raise StoreError("died before the file")

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "_write_whole", die)
        with pytest.raises(StoreError):
            run(folder)
    assert not folder.manifest.exists()
    run(folder)
    store = open_store(folder)
    assert json.loads(folder.manifest.read_text()) == store.note(folder.run_id, "manifest")
    store.close()


def test_a_broken_machine_is_named_by_the_runs_state(easy, small_data, tmp_path):
    with FaultyWorld(easy, models=["another"]) as server:
        config = write_config(tmp_path / "run.yaml", settings(small_data, tmp_path / "w", server.url, **LIGHT))
        done = cli("discover", config)
        assert done.returncode == 3
        assert done.stderr.count("\n") == 1
        assert "not found, status 404" in done.stderr
        folder = RunFolder(tmp_path / "w" / "trial")
        assert f"stopped: `biasscope resume {folder.path.resolve()}` goes on" in done.stdout
        state, reason = state_of(folder)
        assert state == "stopped"
        assert "not found, status 404" in reason
        server._models = ()
        assert run(folder).state == "finished"
    assert state_of(folder)[0] == "finished"


def test_a_process_that_dies_after_a_spent_budget_is_stopped(easy, small_data, server, tmp_path, monkeypatch):
    outcome = start(settings(small_data, tmp_path / "w", server.url, budget={"calls": 20}, **LIGHT))
    assert outcome.state == "budget"

    class Killed(BaseException):
        pass

    async def dying(*_, **__):
        raise Killed

    with monkeypatch.context() as patch, contextlib.suppress(Killed):
        patch.setattr("langgraph.pregel.Pregel.ainvoke", dying)
        run(outcome.folder, changes=("budget.calls=100000",))
    assert state_of(outcome.folder) == ("stopped", "")


def test_a_glance_at_the_lock_does_not_stop_a_run(small_data, server, tmp_path):
    folder = create(load_config(None, (), settings(small_data, tmp_path / "w", server.url, **LIGHT)))
    with folder.lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_SH)
        threading.Timer(0.05, lambda: fcntl.flock(handle, fcntl.LOCK_UN)).start()
        assert run(folder).state == "finished"
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="another process is driving the run 'trial'"):
            run(folder)


def test_a_decision_stands_when_the_process_dies_after_it_was_recorded(easy, small_data, server, tmp_path, monkeypatch):
    outcome = start(settings(small_data, tmp_path / "w", server.url, approve=True))
    assert outcome.state == "waiting"
    record = admit.record

    async def dying(*args, **options):
        await record(*args, **options)
        raise StoreError("died before the checkpoint")

    with monkeypatch.context() as patch, pytest.raises(StoreError):
        patch.setattr(admit, "record", dying)
        run(outcome.folder, approval=Approval(("all",), "Ada", "read them"))
    with pytest.raises(ConfigError, match="were decided on by 'Ada' before the run stopped"):
        run(outcome.folder, approval=Approval((), "Bob", "no"))
    run(outcome.folder)
    store = open_store(outcome.folder)
    library = load_library(store, "trial")
    store.close()
    for bias_id in outcome.waiting_for:
        assert [e.author for e in library.history(bias_id) if e.kind == "status"] == ["Ada"]
        assert library.entries[bias_id].status == "valid"


def test_what_an_interrupted_run_says_goes_on_with_it(easy, small_data, tmp_path):
    with FaultyWorld(easy) as server:
        values = settings(small_data, tmp_path / "my runs", server.url, **LIGHT)
        config = write_config(tmp_path / "run.yaml", values)
        # A child of a process in the background is born deaf to Ctrl-C.
        hear = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        command = (sys.executable, "-c", hear + COMMAND[-1], "discover", config)
        child = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        while child.poll() is None and len(server.asked) < 20:
            time.sleep(0.002)
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=60)[1].decode()
        assert said.count("\n") == 1
        assert child.returncode == 130
        typed = shlex.split(said.split("`")[1])
        assert typed == ["biasscope", "resume", str(tmp_path / "my runs" / "trial")]
        assert cli(*typed[1:]).returncode == 0
    assert state_of(RunFolder(tmp_path / "my runs" / "trial"))[0] == "finished"


def test_an_interrupt_without_a_run_promises_nothing(tmp_path):
    code = "import sys; sys.argv[1:] = ['world', 'list']\nimport biasscope.apps.cli.main as m\n"
    code += "import biasscope.apps.cli.world as w\ndef load_spec(_): raise KeyboardInterrupt\n"
    code += "w.load_spec = load_spec\nm.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "biasscope: stopped\n")
