"""Small runs against the planted world."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from biasscope.runs.config import load_config
from biasscope.runs.folder import RunFolder
from biasscope.runs.jobs import create, open_store
from biasscope.runs.launch import run
from biasscope.simulation.pairs import world_pairs
from biasscope.simulation.server import WorldServer
from biasscope.simulation.world import load_world

COLUMNS = {k: k for k in ("prompt", "chosen", "rejected", "domain", "id")}


@dataclass
class Made:
    """A finished run, its stages in order, and its store."""

    folder: RunFolder
    stages: list
    store: object


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """Configuration values and the world they point to, for as long as the tests last."""
    folder = tmp_path_factory.mktemp("world")
    world = load_world("easy")
    with WorldServer(world) as server:
        model = f"openai:world@{server.url}"
        values = {
            "judge": {"model": model, "max_concurrency": 16},
            "teacher": {"model": model, "max_concurrency": 16},
            "embedder": model,
            "workspace": str(folder / "ws"),
            "discovery": {"iterations": 1},
            "validation": {"manipulation_checks": 5, "retests": 4, "batch": 24, "seeds": True},
        }
        for name, n, seed in (("target", 16, 1), ("test", 24, 2)):
            path = folder / f"{name}.jsonl"
            rows = [p.model_dump(include=set(COLUMNS)) for p in world_pairs(world, n, seed)]
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            values[name] = {"source": str(path), "columns": COLUMNS}
        yield values


@pytest.fixture(scope="session")
def start(base):
    """Run to the end under a name, with settings; the store is open until the tests end."""
    opened = []

    def begin(name: str, *settings: str, **given) -> Made:
        folder = create(load_config(None, settings, {**json.loads(json.dumps(base)), "name": name, **given}))
        stages: list = []
        run(folder, listener=lambda p: stages.append(p.stage) if p.stage not in stages else None)
        opened.append(open_store(folder))
        return Made(folder, stages, opened[-1])

    yield begin
    for store in opened:
        store.close()


@pytest.fixture(scope="session")
def drawn(start):
    """One order, reasons."""
    return start("drawn")


@pytest.fixture(scope="session")
def with_probabilities(start):
    """Both orders, log-probabilities."""
    return start(
        "both-p", "orders=both", "judge.mode=verdict", "validation.truncation_control=false", "validation.max_pairs=12"
    )


@pytest.fixture
def config_file(base, tmp_path) -> Path:
    """The configuration as a file, in a workspace of its own."""
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({**base, "workspace": str(tmp_path / "ws")}))
    return path
