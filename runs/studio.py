"""LangGraph Studio's entry: the graph of the run whose configuration BIASSCOPE_CONFIG names."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from langgraph.graph.state import CompiledStateGraph

from ..core.errors import ConfigError
from ..graph.build import build
from .config import load_config
from .folder import RunFolder
from .inputs import start_library
from .jobs import create
from .launch import opened


@asynccontextmanager
async def make_graph() -> AsyncIterator[CompiledStateGraph[Any]]:
    """The compiled loop with its models and store open, for as long as Studio uses it; it takes `{}` as input.

    A named run that exists is opened again. Raises ConfigError.
    """
    path = os.environ.get("BIASSCOPE_CONFIG")
    if not path:
        raise ConfigError("BIASSCOPE_CONFIG: is not set; give it the path of a run's configuration, then start Studio")
    config = load_config(Path(path))
    known = RunFolder((config.workspace / config.name).resolve()) if config.name else None
    folder = known if known and known.config.exists() else create(config)
    config = load_config(folder.config)
    async with opened(folder, config, None) as context:
        library = start_library(context.store, folder.run_id, config, has_position=context.judge.has_position)
        yield build(context, start={"iteration": 0, "library": library, "validated": []})
