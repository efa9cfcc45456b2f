"""LangGraph Studio's entry opens the graph of a configuration."""

import importlib
import json
from pathlib import Path

import biasscope
import pytest
from biasscope.core.errors import ConfigError
from biasscope.runs.studio import make_graph
from world_runs import settings, write_config

ROOT = Path(biasscope.__file__).parent


def test_langgraph_json_points_to_it():
    module, name = json.loads((ROOT / "langgraph.json").read_text())["graphs"]["biasscope"].split(":")
    assert getattr(importlib.import_module(module), name) is make_graph


async def test_the_graph_runs_from_an_empty_input_and_opens_again(small_data, server, tmp_path, monkeypatch):
    values = settings(small_data, tmp_path / "w", server.url, discovery={"iterations": 1}, validation={"rule": "paper"})
    monkeypatch.setenv("BIASSCOPE_CONFIG", str(write_config(tmp_path / "run.yaml", values)))
    async with make_graph() as graph:
        assert {"perturb", "judge", "merge", "validate", "admit", "confirm"} <= graph.nodes.keys()
        first = await graph.ainvoke({})
    async with make_graph() as graph:
        again = await graph.ainvoke({})
    assert first == again
    assert first["stop"]


async def test_without_a_configuration(monkeypatch):
    monkeypatch.delenv("BIASSCOPE_CONFIG", raising=False)
    with pytest.raises(ConfigError, match="BIASSCOPE_CONFIG"):
        async with make_graph():
            pass
