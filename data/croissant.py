"""Croissant 1.0 metadata (mlcommons.org/croissant) of a data set that we make: files with hashes, fields described."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..core.visible import one_line

_TYPES = {
    ".parquet": "application/x-parquet",
    ".jsonl": "application/jsonlines",
    ".md": "text/markdown",
    ".json": "application/json",
}
_CROISSANT = (
    "citeAs column conformsTo equivalentProperty extract field fileProperty fileObject fileSet format includes "
    "isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate "
    "separator source subField transform"
)


class FieldInfo(NamedTuple):
    """One column of the parquet files."""

    name: str
    description: str
    type: str = "sc:Text"
    """sc:Text, sc:Float, sc:Integer or sc:Boolean."""


def croissant(
    folder: Path,
    *,
    name: str,
    description: str,
    licence: str,
    date: str,
    splits: Sequence[tuple[str, str]],
    fields: Sequence[FieldInfo],
    others: Sequence[str] = (),
    version: str = "1.0.0",
) -> dict[str, Any]:
    """The JSON-LD document. `splits`: (split, path of its parquet under `folder`); `others`: further files to list.

    Every split is a record set of its own. `date`: ISO 8601 day.
    """
    return {
        "@context": _context(),
        "@type": "sc:Dataset",
        "name": one_line(name, 120),
        "description": one_line(description, 2000),
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": one_line(licence, 200) or "unknown",
        "datePublished": date,
        "version": version,
        "distribution": [_file(folder, path) for path in (*(p for _, p in splits), *others)],
        "recordSet": [_records(split, path, fields) for split, path in splits],
    }


def _records(split: str, path: str, fields: Sequence[FieldInfo]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": split,
        "name": split,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{split}/{f.name}",
                "name": f.name,
                "description": one_line(f.description, 1000),
                "dataType": f.type,
                "source": {"fileObject": {"@id": path}, "extract": {"column": f.name}},
            }
            for f in fields
        ],
    }


def _file(folder: Path, path: str) -> dict[str, Any]:
    with (folder / path).open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentSize": f"{(folder / path).stat().st_size} B",
        "contentUrl": path,
        "encodingFormat": _TYPES.get(Path(path).suffix, "application/octet-stream"),
        "sha256": digest,
    }


def _context() -> dict[str, Any]:
    """The context that Croissant 1.0 prescribes."""
    words: dict[str, Any] = {word: f"cr:{word}" for word in _CROISSANT.split() if word != "conformsTo"}
    return {
        "@language": "en",
        "@vocab": "https://schema.org/",
        "cr": "http://mlcommons.org/croissant/",
        "dct": "http://purl.org/dc/terms/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "sc": "https://schema.org/",
        "conformsTo": "dct:conformsTo",
        "data": {"@id": "cr:data", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "examples": {"@id": "cr:examples", "@type": "@json"},
        **words,
    }
