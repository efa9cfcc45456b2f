"""Rows of one file, in memory that does not grow with their number.

Files are read here rather than by the loaders of `datasets`: those read blocks, so that a broken line has no number,
and they settle each column's type from the first block.
"""

import csv
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from ..core.errors import DataError

SUFFIXES = (".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".tsv")


class Row(NamedTuple):
    """One row and where it stands, e.g. `line 12`."""

    place: str
    values: dict[str, Any]


def read_file(path: Path) -> Iterator[Row]:
    """The rows of a file. Raises DataError with file, line and reason."""
    kind = kind_of(path)
    if kind is None:
        raise DataError(f"{path}: unknown file type {path.suffix!r}: use one of {', '.join(SUFFIXES)}, or .gz")
    return {"parquet": _parquet, "jsonl": _jsonl, "json": _json, "csv": _csv, "tsv": _csv}[kind](path)


def kind_of(path: Path) -> str | None:
    """The kind of a file by its name; None for one that cannot be read."""
    suffixes = [s.lower() for s in path.suffixes]
    last = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else (suffixes[-1] if suffixes else "")
    kinds = {s: s[1:] for s in SUFFIXES} | {".ndjson": "jsonl"}
    if suffixes[-1:] == [".gz"] and last == ".parquet":
        return None
    return kinds.get(last)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with _open(path) as file:
            for number, raw in enumerate(file, 1):
                try:
                    text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    byte = raw[error.start]
                    raise DataError(
                        f"{path}: line {number}: not UTF-8 (byte 0x{byte:02x} at position {error.start}): "
                        "save the file as UTF-8"
                    ) from error
                yield number, text
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path}: after line {number}: broken gzip ({error}): fetch the file again") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _jsonl(path: Path) -> Iterator[Row]:
    for number, text in _lines(path):
        if not text.strip():
            continue
        yield Row(f"line {number}", _object(path, f"line {number}", _parsed(path, text.rstrip(), number)))


def _json(path: Path) -> Iterator[Row]:
    # One JSON value cannot be read piece by piece: the whole file is held in memory.
    content = "".join(text for _, text in _lines(path))
    if _holds_lines(content):
        yield from _jsonl(path)
        return
    value = _parsed(path, content, 1)
    if not isinstance(value, list):
        raise DataError(f"{path}: holds one {_name(value)}: a .json file must hold a list of rows (or use .jsonl)")
    for number, item in enumerate(value, 1):
        yield Row(f"item {number}", _object(path, f"item {number}", item))


def _holds_lines(content: str) -> bool:
    """Whether a .json file holds one object a line, as many on the hub do."""
    first, _, rest = content.lstrip().partition("\n")
    if not first.startswith("{") or not rest.strip():
        return False
    try:
        json.loads(first)
    except ValueError:
        return False
    return True


def _parsed(path: Path, text: str, first_line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise DataError(f"{path}: line {line}: not JSON: {error.msg} at column {error.colno}") from error
    except (RecursionError, ValueError) as error:
        raise DataError(f"{path}: line {first_line}: not usable JSON: {error}") from error


def _object(path: Path, place: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"{path}: {place}: a {_name(value)} where an object with named fields should be")
    return value


def _name(value: Any) -> str:
    return {list: "list", str: "text", dict: "object", type(None): "null"}.get(type(value), type(value).__name__)


def _csv(path: Path) -> Iterator[Row]:
    csv.field_size_limit(2**31 - 1)
    delimiter = "\t" if kind_of(path) == "tsv" else ","
    reader = csv.reader((text for _, text in _lines(path)), delimiter=delimiter, strict=True)
    number = 0
    try:
        names = next(reader, [])
        if len(set(names)) != len(names):
            twice = sorted({n for n in names if names.count(n) > 1})
            raise DataError(f"{path}: line 1: column names {twice!r} occur twice: rename them")
        for number, fields in enumerate(reader, 1):
            if not fields:
                continue
            if len(fields) != len(names):
                raise DataError(
                    f"{path}: row {number} (ends at line {reader.line_num}): "
                    f"{len(fields)} fields where the header has {len(names)}"
                )
            yield Row(f"row {number}", dict(zip(names, fields, strict=True)))
    except csv.Error as error:
        raise DataError(f"{path}: row {number + 1} (line {reader.line_num}): {error}") from error


def _parquet(path: Path) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=256):
                for values in batch.to_pylist():
                    number += 1
                    yield Row(f"row {number}", values)
    except (pa.ArrowException, OSError) as error:
        where = f"after row {number}: " if number else ""
        raise DataError(f"{path}: {where}not readable as parquet: {first_line(error)}") from error


def first_line(error: BaseException) -> str:
    """What an error of another library says, in one line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]
