"""Data sets of the hub, and folders as `datasets` sees them: which splits there are, which files they have."""

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..core.errors import DataError
from .files import Row, first_line
from .spec import SourceSpec

_SECONDS = 10.0


def read_hub(spec: SourceSpec) -> Iterator[Row]:
    """The rows of a hub data set, streamed. Raises DataError, at once when the hub cannot be reached."""
    with _quiet():
        _must_be_there(spec.source)
    return stream(spec, spec.source)


def stream(spec: SourceSpec, name: str) -> Iterator[Row]:
    """The rows that `datasets` streams for a data set's name or a folder."""
    import datasets

    with _opening(name):
        loaded = datasets.load_dataset(name, spec.config, split=spec.split, streaming=True)
    if isinstance(loaded, dict):
        loaded = loaded[_split(name, spec.split, loaded)]
    number = 0
    rows = iter(loaded)
    while True:
        try:
            with _quiet():
                values = next(rows, None)
        except Exception as error:
            raise DataError(f"data set {name!r}: after row {number}: {first_line(error)}") from error
        if values is None:
            return
        number += 1
        yield Row(f"row {number}", dict(values))


def files_of(spec: SourceSpec, folder: Path) -> list[Path]:
    """The files of a folder that make up the split that is asked for, or its only one."""
    import datasets

    with _opening(str(folder)):
        found = datasets.load_dataset_builder(str(folder), spec.config).config.data_files
    splits = {str(split): [Path(file) for file in files] for split, files in (found or {}).items()}
    return splits[_split(str(folder), spec.split, splits)] if splits else []


def _split(name: str, wanted: str | None, splits: Any) -> str:
    if wanted is None and len(splits) == 1:
        return str(next(iter(splits)))
    if wanted is None or wanted not in splits:
        what = "choose one with split" if wanted is None else f"there is none named {wanted!r}"
        raise DataError(f"data set {name!r} has the splits {sorted(map(str, splits))}: {what}")
    return wanted


def _must_be_there(name: str) -> None:
    """One request without retries: `datasets` makes six, with growing pauses, before it says that none is answered."""
    import httpx2
    import huggingface_hub as hub

    try:
        hub.HfApi().dataset_info(name, timeout=_SECONDS)
    except (hub.errors.RepositoryNotFoundError, hub.errors.HFValidationError):
        raise DataError(
            f"{name!r} is no file or folder here and no data set on the hub that this machine may read: check the "
            "name; for a private or gated one set HF_TOKEN"
        ) from None
    except (httpx2.HTTPError, hub.errors.HfHubHTTPError, hub.errors.OfflineModeIsEnabled, OSError, ValueError) as error:
        raise DataError(
            f"{name!r} is no file or folder here, and the hub cannot be asked for a data set of that name "
            f"({first_line(error)}): check the path, or the network"
        ) from None


@contextlib.contextmanager
def _opening(name: str) -> Iterator[None]:
    try:
        with _quiet():
            yield
    except Exception as error:  # the loaders of `datasets` raise whatever their libraries raise
        raise DataError(f"data set {name!r} cannot be opened: {first_line(error)}") from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the log lines of the hub's libraries; what goes wrong comes back as one error of ours."""
    loggers = [logging.getLogger(name) for name in ("huggingface_hub", "datasets", "fsspec")]
    before = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
