"""Audits over real HTTP against the planted world."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create
from biasscope.simulation.pairs import world_pairs

_spec = importlib.util.spec_from_file_location("audit_runs", Path(__file__).parent / "audit_runs.py")
audit_runs = importlib.util.module_from_spec(_spec)
sys.modules["audit_runs"] = audit_runs
_spec.loader.exec_module(audit_runs)


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
