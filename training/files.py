"""Training data as the builders write it, read through `datasets` so that it stays on disk."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from datasets import Dataset, load_dataset
from datasets.utils.logging import disable_progress_bar

from ..core.errors import DataError

disable_progress_bar()


class Split(NamedTuple):
    """What is trained on and, where there is one, what is evaluated on."""

    train: Any
    validation: Any
    hashes: dict[str, str]
    """SHA-256 of each file."""


def read_split(
    data: Path, names: tuple[str, str], needed: Sequence[str], cache: Path, validation: Path | None, limit: int | None
) -> Split:
    """`names`: the train and the validation file of a data folder; `needed`: columns that rows must have.

    Raises DataError.
    """
    train = data / names[0] if data.is_dir() else data
    if validation is None and data.is_dir() and (data / names[1]).is_file():
        validation = data / names[1]
    hashes = {"train": _sha256(train)} | ({"validation": _sha256(validation)} if validation else {})
    rows = _rows(train, needed, cache)
    if limit is not None:
        rows = rows.select(range(min(limit, len(rows))))
    return Split(rows, _rows(validation, needed, cache) if validation else None, hashes)


def _rows(file: Path, needed: Sequence[str], cache: Path) -> Dataset:
    if file.stat().st_size == 0:
        raise DataError(f"{file}: holds no rows")
    with file.open(encoding="utf-8") as handle:
        try:
            first = json.loads(handle.readline())
        except ValueError:
            raise DataError(f"{file}: line 1 is not JSON; give what the builders write (JSON lines)") from None
    missing = [name for name in needed if not isinstance(first, dict) or name not in first]
    if missing:
        raise DataError(f"{file}: rows have no {missing[0]!r}; this training needs {', '.join(needed)}")
    try:
        return load_dataset("json", data_files=str(file), split="train", cache_dir=str(cache))
    except Exception as error:  # datasets raises its own and pyarrow's, none of which it documents
        cause = " ".join(str(error.__cause__ or error).split())[:200]
        raise DataError(f"{file}: cannot be read as rows of one shape: {cause}") from None


def _sha256(file: Path) -> str:
    try:
        with file.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror}; give a data folder or a JSON lines file") from None
