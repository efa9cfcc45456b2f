"""Models in folders: which folder holds one, and who it is."""

import hashlib
from functools import cache
from pathlib import Path

ADAPTER = "adapter_config.json"
_CONFIGS = ("config.json", ADAPTER)


def holds_model(folder: Path) -> bool:
    """Whether a folder holds a model, or an adapter, in Hugging Face format."""
    return any((folder / name).is_file() for name in _CONFIGS)


def folder_identity(folder: Path) -> str:
    """`name#hash`, with 12 hex digits over configuration and all weights: a training may change any part of them.

    Of `out/model`, which every training writes, the name is that of the training.
    """
    path = folder.resolve()
    name = path.parent.name if path.name == "model" else path.name
    return f"{name}#{_hash(path)}"


@cache
def _hash(folder: Path) -> str:
    total = hashlib.sha256()
    there = [path for name in _CONFIGS if (path := folder / name).is_file()]
    for path in (*there, *sorted(folder.glob("*.safetensors"))):
        with path.open("rb") as handle:
            total.update(hashlib.file_digest(handle, "sha256").digest())
    return total.hexdigest()[:12]
