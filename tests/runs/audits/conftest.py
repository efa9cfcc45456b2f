"""Audits over real HTTP against the planted world."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create
from biasscope.simulation.pairs import world_pairs

for _name in ("audit_runs", "panel_world"):
    _spec = importlib.util.spec_from_file_location(_name, Path(__file__).parent / f"{_name}.py")
    sys.modules[_name] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[_name])


@pytest.fixture(scope="session")
def world_file(easy, tmp_path_factory):
    """Pairs on which the easy world's judge is mostly right."""
    path = tmp_path_factory.mktemp("audit") / "pairs.jsonl"
    with path.open("w", encoding="utf-8") as handle:
        for pair in world_pairs(easy, 60, 7):
            row = {key: getattr(pair, key) for key in ("prompt", "chosen", "rejected", "domain", "id")}
            handle.write(json.dumps(row) + "\n")
    return path


@pytest.fixture
def made(tmp_path):
    """The folder of an audit with these settings."""

    def make(kind, **values):
        given = {"workspace": str(tmp_path / "w"), "name": "audit", **values}
        return create(load_config(None, (), given, kind=kind))

    return make
