"""What a run was made with: versions, prompts, models, data, seed."""

import platform
from importlib import metadata
from typing import Any

from .. import __version__
from ..core.errors import ConfigError
from ..prompts import prompt_hashes

_PACKAGES = ("langgraph", "langchain-openai", "openai", "faiss-cpu", "numpy", "datasets", "xllamacpp", "pydantic")


def manifest(*, config: dict[str, Any], models: dict[str, str], data: dict[str, str], seed: int) -> dict[str, Any]:
    """The manifest: `models` are identities by role, `data` hashes by set."""
    return {
        "biasscope": __version__,
        "python": platform.python_version(),
        "packages": {name: version for name in _PACKAGES if (version := _version(name))},
        "prompts": prompt_hashes(),
        "models": models,
        "data": data,
        "seed": seed,
        "config": config,
    }


def check_unchanged(then: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse to resume a run whose prompts, models or data are other ones now: its results would be mixed."""
    for part, word in (("prompts", "prompt templates"), ("models", "models"), ("data", "data")):
        changed = sorted(k for k in then[part].keys() | now[part].keys() if then[part].get(k) != now[part].get(k))
        if changed:
            raise ConfigError(
                f"the {word} changed since this run began ({', '.join(changed)}); resuming would mix two versions: "
                "start a new run, or go back to what it began with"
            )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
