"""Fixtures that whole runs and commands share. `world_runs` is imported by its name from any test."""

import importlib.util
import sys
from pathlib import Path

import hypothesis
import pytest
from biasscope.simulation.world import load_world

# A busy machine is no fault of the code: examples have no time limit.
hypothesis.settings.register_profile("biasscope", deadline=None)
hypothesis.settings.load_profile("biasscope")

_spec = importlib.util.spec_from_file_location("world_runs", Path(__file__).parent / "world_runs.py")
world_runs = importlib.util.module_from_spec(_spec)
sys.modules["world_runs"] = world_runs
_spec.loader.exec_module(world_runs)


@pytest.fixture(scope="session")
def easy():
    return load_world("easy")


@pytest.fixture(scope="session")
def small_data(easy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    world_runs.write_sources(folder, easy, 24, 30)
    return folder


@pytest.fixture(scope="session")
def server(easy):
    """A healthy world for all tests that need no fault."""
    with world_runs.FaultyWorld(easy, keep=10) as running:
        yield running
