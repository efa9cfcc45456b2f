"""The library as JSON, out and in: our full form, and the published `{name: {"Definition", "Manifestations"}}`.

Reading is strict: an unknown or repeated key, a wrong type or an id that does not fit its content is an error that
names the place.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from ..core.errors import LibraryError
from ..core.mistakes import mistakes
from ..core.records import Bias, LibraryEvent, Validation
from . import events as line
from .bias import make_bias
from .events import Stamp, event_id
from .library import IN_USE, Library, read_bias, replay

FORMAT = "biasscope-library"
VERSION = 1
R = TypeVar("R", LibraryEvent, Validation, Bias)
_KEYS = {"format", "version", "biases", "events", "validations"}


@dataclass(frozen=True)
class Imported:
    """What a file holds. The published form has biases only."""

    biases: tuple[Bias, ...]
    events: tuple[LibraryEvent, ...] = ()
    validations: tuple[Validation, ...] = ()

    @property
    def library(self) -> Library:
        """The library of the file's own events."""
        return replay(self.events)

    @property
    def offered(self) -> Sequence[Bias]:
        """Those for another library to take in: of a full file what was in use there."""
        return self.library.biases(*IN_USE) if self.events else self.biases


def export_full(library: Library, validations: Iterable[Validation] = ()) -> str:
    """Everything: biases as they stand, the events that they follow from, validations. Same library, same text."""
    return _json(
        {
            "format": FORMAT,
            "version": VERSION,
            "biases": [
                {**e.bias.model_dump(mode="json"), "status": e.status, "merged_into": e.merged_into} for e in library
            ],
            "events": [e.model_dump(mode="json") for e in library.events],
            "validations": [v.model_dump(mode="json") for v in sorted(validations, key=lambda v: v.id)],
        }
    )


def export_published(biases: Iterable[Bias]) -> str:
    """Name to definition and manifestations. A name that two biases share gets the start of the id behind it."""
    chosen = list(biases)
    names = [bias.name for bias in chosen]
    return _json(
        {
            b.name if names.count(b.name) == 1 else f"{b.name} [{b.id[:8]}]": {
                "Definition": b.definition,
                "Manifestations": b.manifestation,
            }
            for b in chosen
        }
    )


def read_exchange(text: str, source: str = "the file") -> Imported:
    """Either form; LibraryError names `source` and the offending key."""
    try:
        found = json.loads(text, object_pairs_hook=lambda pairs: _no_repeats(pairs, source))
    except json.JSONDecodeError as error:
        raise LibraryError(f"{source} is no JSON: {error.msg} in line {error.lineno}") from error
    except RecursionError as error:
        raise LibraryError(f"{source} is nested too deeply to be a library") from error
    if not isinstance(found, dict):
        raise LibraryError(f"{source} holds a {type(found).__name__}: a library is an object")
    return _read_full(found, source) if "format" in found else _read_published(found, source)


def read_file(path: Path) -> Imported:
    """`read_exchange` of a file; LibraryError when it cannot be read."""
    try:
        return read_exchange(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise LibraryError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise LibraryError(f"{path}: is not UTF-8 text; a library is a JSON file") from None


def adopt(imported: Imported, stamp: Stamp, known: Library | None = None) -> list[LibraryEvent]:
    """Events that bring the biases of a file into a run's library, as candidates: another judge has to be tested anew.

    From a full file those that were in use there. What the library has already is left out.
    """
    there = set(known.entries) if known else set()
    added = []
    for bias in imported.offered:
        fresh = make_bias(bias.name, bias.definition, bias.manifestation, origin="imported", parents=bias.parents)
        if fresh.id not in there:
            there.add(fresh.id)
            added.append(line.add(stamp, fresh))
            stamp = stamp.next()
    return added


def _read_full(found: dict[str, Any], source: str) -> Imported:
    if found["format"] != FORMAT or found.get("version") != VERSION:
        given = f"{found['format']!r} version {found.get('version')!r}"
        raise LibraryError(f"{source} is in the form {given}: this release reads {FORMAT!r} version {VERSION}")
    _only(found, _KEYS, source)
    events = [_record(LibraryEvent, e, f"{source}: events[{k}]") for k, e in enumerate(_list(found, "events", source))]
    for k, event in enumerate(events):
        where = f"{source}: events[{k}]"
        if event.id != event_id(event):
            raise LibraryError(f"{where}.id is {event.id!r}, which does not fit its content: export the library again")
        _check_payload(event, where)
    rows = _list(found, "validations", source)
    validations = [_record(Validation, v, f"{source}: validations[{k}]") for k, v in enumerate(rows)]
    library = replay(events)
    stated = {}
    for k, row in enumerate(_list(found, "biases", source)):
        where = f"{source}: biases[{k}]"
        if not isinstance(row, dict):
            raise LibraryError(f"{where} is a {type(row).__name__}: a bias is an object")
        bias = _record(Bias, {key: v for key, v in row.items() if key not in ("status", "merged_into")}, where)
        stated[bias.id] = (bias, row.get("status"), row.get("merged_into"))
    actual = {e.bias.id: (e.bias, e.status, e.merged_into) for e in library}
    if wrong := sorted(i for i in {*stated, *actual} if stated.get(i) != actual.get(i)):
        raise LibraryError(f"{source}: biases do not follow from its events, first at {wrong[0]!r}: export it again")
    return Imported(tuple(e.bias for e in library), tuple(library.events), tuple(validations))


def _read_published(found: dict[str, Any], source: str) -> Imported:
    biases: dict[str, Bias] = {}
    for name, given in found.items():
        where = f"{source}: {name!r}"
        body: Any = given
        if isinstance(given, str):
            body = {"Definition": given}
        if not isinstance(body, dict):
            raise LibraryError(f"{where} is a {type(body).__name__}: give an object with 'Definition' or a text")
        fields: dict[str, Any] = {str(key).strip().lower(): value for key, value in body.items()}
        _only(fields, {"definition", "manifestations", "manifestation"}, where)
        if "definition" not in fields:
            raise LibraryError(f"{where} has no 'Definition'")
        shown = fields.get("manifestations", fields.get("manifestation", ""))
        try:
            bias = make_bias(
                name,
                _words(fields["definition"], f"{where}.Definition"),
                _words(shown, f"{where}.Manifestations"),
                origin="imported",
            )
        except LibraryError as error:
            raise LibraryError(f"{where}: {error}") from error
        biases.setdefault(bias.id, bias)
    return Imported(tuple(biases.values()))


def _words(value: Any, where: str) -> str:
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return " ".join(value)
    if isinstance(value, str):
        return value
    raise LibraryError(f"{where} is a {type(value).__name__}: give a text or a list of texts")


def _record(kind: type[R], value: Any, where: str) -> R:
    try:
        return kind.model_validate_json(json.dumps(value))
    except ValidationError as error:
        raise LibraryError(f"{where}: {mistakes(error)[0]}") from error


_NEEDS: dict[str, dict[str, type]] = {
    "add": {"bias": dict, "status": str},
    "merge": {"into": str},
    "status": {"status": str},
    "split": {"parts": list},
    "rename": {"name": str},
    "undo": {"event": str},
}


def _check_payload(event: LibraryEvent, where: str) -> None:
    for key, kind in _NEEDS.get(event.kind, {}).items():
        if not isinstance(event.payload.get(key), kind):
            given = event.payload.get(key)
            raise LibraryError(f"{where}.payload.{key} must be a {kind.__name__}, got {given!r:.80}")
    parts = [{"id": event.bias_id, **event.payload}] if event.kind == "add" else event.payload.get("parts", [])
    for part in parts if event.kind in ("add", "split") else []:
        try:
            read_bias(part["id"], part["bias"])
        except (ValidationError, TypeError, KeyError) as error:
            said = mistakes(error)[0] if isinstance(error, ValidationError) else f"{type(error).__name__} {error}"
            raise LibraryError(f"{where}.payload holds no bias: {said}") from error


def _list(found: dict[str, Any], key: str, source: str) -> list[Any]:
    value = found.get(key, [])
    if not isinstance(value, list):
        raise LibraryError(f"{source}: {key!r} is a {type(value).__name__}: give a list")
    return value


def _only(found: Iterable[str], allowed: set[str], where: str) -> None:
    if unknown := sorted(set(found) - allowed):
        raise LibraryError(f"{where} has an unknown key {unknown[0]!r}: known are {', '.join(sorted(allowed))}")


def _no_repeats(pairs: list[tuple[str, Any]], source: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise LibraryError(f"{source} has the key {key!r} twice: rename or remove one")
        found[key] = value
    return found


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
