"""A team's store: runs in one PostgreSQL database, with the same results as in a file."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from biasscope.bias_library.events import retire
from biasscope.bias_library.library import append_now, load_library, stamp_now
from biasscope.core.errors import ConfigError, StoreError
from biasscope.core.store import Store
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create
from biasscope.runs.launch import run
from world_runs import results, settings, start

LIGHT = {"discovery": {"iterations": 1}}


def test_a_run_finds_the_same_as_in_a_file(small_data, server, tmp_path, postgres_url):
    here = start(settings(small_data, tmp_path / "file", server.url, **LIGHT))
    there = start(settings(small_data, tmp_path / "shared", server.url, store=postgres_url, **LIGHT))
    assert there.state == "finished"
    assert results(there.folder) == results(here.folder)
    assert not there.folder.store.exists() and not there.folder.checkpoints.exists()


def test_two_runs_at_once_share_a_database(small_data, server, tmp_path, postgres_url):
    outcomes = {}

    def go(name):
        values = settings(small_data, tmp_path / name, server.url, store=postgres_url, name=name, **LIGHT)
        outcomes[name] = run(create(load_config(None, (), values)))

    threads = [threading.Thread(target=go, args=(name,)) for name in ("anna", "ben")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: outcome.state for name, outcome in outcomes.items()} == {"anna": "finished", "ben": "finished"}
    found = [results(outcome.folder) for outcome in outcomes.values()]
    assert len(found[0]["Judgment"]) == len(found[1]["Judgment"]) > 0


def test_a_budgeted_run_goes_on_from_its_checkpoint(small_data, server, tmp_path, postgres_url):
    values = settings(small_data, tmp_path, server.url, store=postgres_url, budget={"calls": 60}, **LIGHT)
    stopped = start(values)
    assert stopped.state == "budget"
    done = run(stopped.folder, changes=("budget.calls=100000",))
    whole = start(settings(small_data, tmp_path / "whole", server.url, **LIGHT))
    assert done.state == "finished"
    assert results(done.folder) == results(whole.folder)


def test_a_name_is_taken_for_all_who_share_the_store(small_data, server, tmp_path, postgres_url):
    start(settings(small_data, tmp_path / "anna", server.url, store=postgres_url, **LIGHT))
    with pytest.raises(ConfigError, match="is in the shared store already"):
        start(settings(small_data, tmp_path / "ben", server.url, store=postgres_url, **LIGHT))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://me:geheim@host/db", r"store 'postgresql://me:\*\*\*@host/db': leave the password out"),
        ("postgresql://host/db?password=geheim", "leave the password out"),
        ("mysql://host/db", "is neither sqlite:// nor postgresql://"),
        ("postgresql://host:port/db", "is no database URL"),
    ],
)
def test_addresses_that_cannot_be_kept_are_refused(small_data, tmp_path, url, message):
    with pytest.raises(ConfigError, match=message) as refused:
        load_config(None, (), settings(small_data, tmp_path, "http://127.0.0.1:1/v1", store=url))
    assert "geheim" not in str(refused.value)


def test_a_server_that_is_not_there_is_one_line():
    with pytest.raises(StoreError, match=r"cannot be used: .*connection"):
        Store("postgresql://nobody@127.0.0.1:1/none")


def test_people_decide_on_a_library_while_another_run_writes(small_data, server, tmp_path, postgres_url):
    first = start(settings(small_data, tmp_path / "one", server.url, store=postgres_url, name="one", **LIGHT))
    with contextlib.closing(Store(postgres_url)) as store:
        biases = load_library(store, "one").biases()[:4]

    def retire_one(who, bias):
        with contextlib.closing(Store(postgres_url)) as mine:
            stamp = stamp_now(load_library(mine, "one"), who, "seen enough", "one")
            append_now(mine, [retire(stamp, bias.id)])

    values = settings(small_data, tmp_path / "two", server.url, store=postgres_url, name="two", **LIGHT)
    with ThreadPoolExecutor(5) as pool:
        running = pool.submit(lambda: run(create(load_config(None, (), values))))
        for done in [pool.submit(retire_one, f"person {k}", bias) for k, bias in enumerate(biases)]:
            done.result()
        assert running.result().state == first.state == "finished"
    with contextlib.closing(Store(postgres_url)) as store:
        library = load_library(store, "one")
    assert {e.author for e in library.events} >= {f"person {k}" for k in range(4)}
    assert not {b.id for b in biases} & {b.id for b in library.biases()}
