"""Fixtures that whole runs and commands share. The helpers beside it are imported by name from any test."""

import importlib.util
import sys
import uuid
from pathlib import Path

import hypothesis
import pytest
import sqlalchemy as sa
from biasscope.simulation.world import load_world

# A busy machine is no fault of the code: examples have no time limit.
hypothesis.settings.register_profile("biasscope", deadline=None)
hypothesis.settings.load_profile("biasscope")


def _shared(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


world_runs, postgres = _shared("world_runs"), _shared("postgres")
_shared("local_hub")
_shared("tiny_model")
_shared("training_files")
_shared("frozen_worlds")


@pytest.fixture(scope="session")
def _postgres_server():
    if postgres.programs() is None:
        pytest.skip("no PostgreSQL server is installed (Debian: apt-get install postgresql)")
    with postgres.serve() as url:
        yield url


@pytest.fixture
def postgres_url(_postgres_server):
    """An empty database."""
    name = f"t{uuid.uuid4().hex[:12]}"
    admin = sa.create_engine(
        _postgres_server.format(name="postgres").replace("postgresql://", "postgresql+psycopg://"),
        isolation_level="AUTOCOMMIT",
    )
    with admin.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    admin.dispose()
    return _postgres_server.format(name=name)


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
