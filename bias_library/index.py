"""Nearest neighbours by cosine: a FAISS inner-product index derived from stored vectors, never a source of truth."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import faiss
import numpy as np
import numpy.typing as npt

from ..core.errors import LibraryError

Floats = npt.NDArray[np.float32]


class Hit(NamedTuple):
    """A neighbour and its cosine."""

    id: str
    similarity: float


def normalise(vectors: npt.ArrayLike, what: str = "vectors") -> Floats:
    """(n, d) rows of length one; LibraryError for rows that have no direction."""
    rows = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise LibraryError(f"{what} of the embedder hold zeros or non-numbers: try another embedder")
    return np.ascontiguousarray(rows / lengths, dtype=np.float32)


@dataclass(frozen=True)
class Index:
    """Ids and their FAISS rows, in order of id."""

    ids: tuple[str, ...]
    fingerprint: str
    _faiss: Any

    def nearest(self, vectors: npt.ArrayLike, k: int) -> list[list[Hit]]:
        """For each row the k nearest, nearest first; equal cosines in order of id. Fewer when there are fewer."""
        rows = normalise(vectors)
        if not self.ids or k < 1:
            return [[] for _ in rows]
        if rows.shape[1] != self._faiss.d:
            raise LibraryError(f"vectors have {rows.shape[1]} numbers, the index {self._faiss.d}: use one embedder")
        similarities, places = self._faiss.search(rows, min(k, len(self.ids)))
        return [
            sorted((Hit(self.ids[p], float(s)) for p, s in zip(ps, ss, strict=True)), key=lambda h: (-h[1], h[0]))
            for ps, ss in zip(places, similarities, strict=True)
        ]

    def save(self, path: Path) -> None:
        """One file: a JSON line with fingerprint and checksum, then the FAISS bytes."""
        body = faiss.serialize_index(self._faiss).tobytes() if self.ids else b""
        head = {"fingerprint": self.fingerprint, "ids": self.ids, "sha256": hashlib.sha256(body).hexdigest()}
        partial = path.with_name(path.name + ".partial")
        partial.write_bytes(json.dumps(head).encode() + b"\n" + body)
        partial.replace(path)


def build(vectors: Mapping[str, npt.ArrayLike]) -> Index:
    """The index of these vectors by id; they are normalised."""
    ids = tuple(sorted(vectors))
    if not ids:
        return Index((), fingerprint(vectors), None)
    rows = normalise(np.stack([np.asarray(vectors[i], dtype=np.float32) for i in ids]))
    index = faiss.IndexFlatIP(rows.shape[1])
    index.add(rows)
    return Index(ids, fingerprint(vectors), index)


def open_index(path: Path, vectors: Mapping[str, npt.ArrayLike]) -> Index:
    """The index saved at `path` when it is that of `vectors`, else built anew and saved there."""
    saved = _load(path, fingerprint(vectors))
    if saved is None:
        saved = build(vectors)
        saved.save(path)
    return saved


def fingerprint(vectors: Mapping[str, npt.ArrayLike]) -> str:
    """SHA-256 over ids and numbers."""
    digest = hashlib.sha256()
    for id_ in sorted(vectors):
        row = np.asarray(vectors[id_], dtype="<f4")
        digest.update(json.dumps([id_, row.size]).encode() + row.tobytes())
    return digest.hexdigest()


def _load(path: Path, expected: str) -> Index | None:
    try:
        head, _, body = path.read_bytes().partition(b"\n")
        said = json.loads(head)
        ids: Sequence[str] = said["ids"]
        fits = said["fingerprint"] == expected and said["sha256"] == hashlib.sha256(body).hexdigest()
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not fits:
        return None
    return Index(tuple(ids), expected, faiss.deserialize_index(np.frombuffer(body, dtype=np.uint8)) if ids else None)
