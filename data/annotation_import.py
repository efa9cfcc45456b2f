"""Decisions of annotators from files: JSON lines, CSV, Label Studio's JSON export, Argilla's records.

A file is read whole or not at all: the first thing wrong in it is an error that names the place. Rows without a label
are tasks not done yet, and are left out.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from ..core.errors import DataError
from ..core.records import AnnotationRound
from .annotations import Decision, read_label, utc

ROUNDS: tuple[AnnotationRound, ...] = get_args(AnnotationRound)


def read_decisions(path: Path) -> list[Decision]:
    """What annotators decided, in the order of the file; the format is told by suffix and content."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not UTF-8 text") from None
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return list(_rows(path, _csv(path, text)))
    if suffix in (".jsonl", ".ndjson"):
        return list(_rows(path, _jsonl(path, text)))
    if suffix == ".json":
        return list(_json(path, text))
    raise DataError(f"{path}: decisions come as .jsonl, .csv or .json (Label Studio, Argilla), got {path.suffix!r}")


def _csv(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    csv.field_size_limit(2**31 - 1)
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        for row in reader:
            yield f"{path}, line {reader.line_num}", {k: v for k, v in row.items() if k is not None}
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: is not CSV: {error}") from None


def _jsonl(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            place = f"{path}, line {number}"
            row = _parsed(line, place)
            if not isinstance(row, dict):
                raise DataError(f"{place}: holds no JSON object")
            yield place, row


def _rows(path: Path, rows: Iterator[tuple[str, dict[str, Any]]]) -> Iterator[Decision]:
    for place, row in rows:
        if "item_id" not in row or "label" not in row:
            raise DataError(f"{place}: has no {'item_id' if 'item_id' not in row else 'label'!r}; keep the columns")
        if label := _text(row, "label"):
            yield Decision(
                place,
                _text(row, "item_id").removeprefix("'"),
                read_label(label, place),
                _text(row, "annotator").removeprefix("'"),
                _round(_text(row, "round"), place),
                utc(_text(row, "time"), place) if _text(row, "time") else "",
                _text(row, "comment").removeprefix("'"),
            )


def _json(path: Path, text: str) -> Iterator[Decision]:
    found = _parsed(text, str(path))
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise DataError(f"{path}: holds no list of objects; export Label Studio's JSON or Argilla's records.json")
    for number, row in enumerate(found, 1):
        place = f"{path}, record {number}"
        if "annotations" in row:
            yield from _label_studio(row, place)
        elif "responses" in row:
            yield from _argilla(row, place)
        else:
            raise DataError(f"{place}: has neither 'annotations' (Label Studio) nor 'responses' (Argilla)")


def _label_studio(row: Mapping[str, Any], place: str) -> Iterator[Decision]:
    data = _mapping(row.get("data"), f"{place}, data")
    for annotation in _list(row["annotations"], f"{place}, annotations"):
        body = _mapping(annotation, f"{place}, annotations")
        if body.get("was_cancelled"):
            continue
        results = [_mapping(r, f"{place}, result") for r in _list(body.get("result", []), f"{place}, result")]
        labels = _values(results, "label", "choices")
        if not labels:
            continue
        stamp = str(body.get("updated_at") or body.get("created_at") or "")
        yield Decision(
            place,
            str(data.get("item_id", "")),
            read_label(labels[0], place),
            _person(body.get("completed_by")),
            _round(str(data.get("round", "")), place),
            utc(stamp, place) if stamp else "",
            "\n".join(_values(results, "comment", "text")),
        )


def _argilla(row: Mapping[str, Any], place: str) -> Iterator[Decision]:
    responses = _mapping(row["responses"], f"{place}, responses")
    metadata = _mapping(row.get("metadata") or {}, f"{place}, metadata")
    comments = {
        str(c.get("user_id") or ""): str(c.get("value") or "")
        for c in (_mapping(x, place) for x in _list(responses.get("comment") or [], f"{place}, comment"))
    }
    for answer in _list(responses.get("label") or [], f"{place}, label"):
        body = _mapping(answer, f"{place}, label")
        if body.get("value") is None or body.get("status") in ("discarded", "draft"):
            continue
        who = str(body.get("user_id") or "")
        yield Decision(
            place,
            str(row.get("id") or metadata.get("item_id") or ""),
            read_label(str(body["value"]), place),
            who,
            _round(str(metadata.get("round") or ""), place),
            "",
            comments.get(who, ""),
        )


def _values(results: list[Mapping[str, Any]], name: str, kind: str) -> list[str]:
    """The texts of one control of Label Studio's interface."""
    for result in results:
        value = result.get("value")
        if result.get("from_name") == name and isinstance(value, Mapping) and value.get(kind):
            texts = value[kind]
            return [str(t) for t in texts] if isinstance(texts, list) else [str(texts)]
    return []


def _person(value: Any) -> str:
    """Label Studio gives a number, or an object with an email."""
    if isinstance(value, Mapping):
        value = value.get("email") or value.get("username") or value.get("id")
    return "" if value is None else str(value)


def _round(text: str, place: str) -> AnnotationRound | None:
    if not text:
        return None
    if text not in ROUNDS:
        raise DataError(f"{place}: round {text[:60]!r} is none of {', '.join(ROUNDS)}")
    return text


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    return "" if value is None else str(value).strip()


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{place}: is not JSON: {error.msg} (line {error.lineno})") from None
    except RecursionError:
        raise DataError(f"{place}: is nested too deeply") from None


def _mapping(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise DataError(f"{place}: an object is needed, got {type(value).__name__}")
    return value


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise DataError(f"{place}: a list is needed, got {type(value).__name__}")
    return value
