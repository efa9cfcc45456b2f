import importlib.util
import sys
from pathlib import Path

import pytest
from biasscope.core.records import PreferencePair
from biasscope.simulation.pairs import world_pairs
from biasscope.simulation.world import World, load_world

# tests/ has no packages: the shared request makers are loaded by path, under a name of their own.
_spec = importlib.util.spec_from_file_location("world_asking", Path(__file__).parent / "asking.py")
assert _spec is not None and _spec.loader is not None
sys.modules["world_asking"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sys.modules["world_asking"])


@pytest.fixture(scope="session")
def easy() -> World:
    return load_world("easy")


@pytest.fixture(scope="session")
def realistic() -> World:
    return load_world("realistic")


@pytest.fixture(scope="session")
def null() -> World:
    return load_world("null")


@pytest.fixture(scope="session")
def pairs(realistic: World) -> list[PreferencePair]:
    return world_pairs(realistic, 300, seed=3)
