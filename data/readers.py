"""Rows of a file, a folder or a hub data set, one at a time, each with the place where it stands."""

import re
from collections.abc import Iterator
from pathlib import Path

from ..core.errors import DataError
from .files import Row, kind_of, read_file
from .hub import files_of, read_hub, stream
from .spec import SourceSpec

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


def read_rows(spec: SourceSpec, notes: list[str] | None = None) -> Iterator[Row]:
    """The rows of `spec.source`. Raises DataError with file, line and reason; what was left aside goes to `notes`."""
    path = Path(spec.source).expanduser()
    if path.is_dir():
        return _folder(spec, path, notes if notes is not None else [])
    if path.is_file():
        rows = read_file(path)
        if spec.split or spec.config:
            raise DataError(f"{spec.source}: split and config belong to hub data sets: leave them out for a file")
        return rows
    if kind_of(path) is None and _HUB_ID.fullmatch(spec.source):
        return read_hub(spec)
    raise DataError(
        f"{spec.source!r} is no file or folder here: check the path, or give a hub data set (owner/name), 'builtin' or "
        "'builtin:relevance'"
    )


def _folder(spec: SourceSpec, folder: Path, notes: list[str]) -> Iterator[Row]:
    """Splits and files as `datasets` finds them; the files read here, so that a broken one is named with its line."""
    files = files_of(spec, folder := folder.resolve())
    if not all(map(kind_of, files)):
        yield from stream(spec, str(folder))
        return
    kinds = {kind_of(file) for file in files}
    aside = [f for f in sorted(folder.iterdir()) if f.is_file() and (kind := kind_of(f)) and kind not in kinds]
    if aside:
        notes.append(f"not read, since the other files are of another type: {', '.join(f.name for f in aside)}")
    for file in files:
        for row in read_file(file):
            yield Row(f"{_within(folder, file)} {row.place}", row.values)


def _within(folder: Path, file: Path) -> Path:
    return file.relative_to(folder) if file.is_relative_to(folder) else file
