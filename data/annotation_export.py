"""Annotation tasks as files: JSON lines, CSV, and what Label Studio and Argilla import."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, get_args
from xml.sax.saxutils import quoteattr

from .annotations import LABEL_TEXTS, Task, guidelines

AnnotationFormat = Literal["jsonl", "csv", "label-studio", "argilla"]
FORMATS: tuple[AnnotationFormat, ...] = get_args(AnnotationFormat)
COLUMNS = ("item_id", "round", "question", "answer_a", "answer_b", "earlier", "annotator", "label", "comment", "time")
"""Of JSON lines and CSV; the last four are for the annotator to fill in."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def export_tasks(
    folder: Path, format: AnnotationFormat, tasks: Sequence[Task], *, annotator: str = "", name: str = "benchmark"
) -> list[Path]:
    """Write tasks and the guidelines into `folder`; returns the files written. An existing file is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    written = _WRITERS[format](folder, tasks, annotator, name)
    guide = folder / "guidelines.md"
    guide.write_text(guidelines(), encoding="utf-8")
    return [*written, guide]


def _row(task: Task, annotator: str) -> dict[str, str]:
    values = task._asdict() | {"earlier": "\n".join(task.earlier), "annotator": annotator}
    return {column: str(values.get(column, "")) for column in COLUMNS}


def _jsonl(folder: Path, tasks: Sequence[Task], annotator: str, name: str) -> list[Path]:
    path = folder / "tasks.jsonl"
    with path.open("w", encoding="utf-8") as handle:
        for task in tasks:
            handle.write(json.dumps(_row(task, annotator), ensure_ascii=False) + "\n")
    return [path]


def _csv(folder: Path, tasks: Sequence[Task], annotator: str, name: str) -> list[Path]:
    path = folder / "tasks.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as handle:
        writer = csv.DictWriter(handle, COLUMNS)
        writer.writeheader()
        for task in tasks:
            writer.writerow({k: _no_formula(v) for k, v in _row(task, annotator).items()})
    return [path]


def _no_formula(text: str) -> str:
    """A cell that no spreadsheet computes: texts of models may begin like a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _label_studio(folder: Path, tasks: Sequence[Task], annotator: str, name: str) -> list[Path]:
    """tasks.json for import, config.xml for the labelling interface. Label Studio's annotators come back as emails."""
    path, config = folder / "tasks.json", folder / "config.xml"
    rows = [{"data": {k: v for k, v in _row(task, "").items() if k in COLUMNS[:6]}} for task in tasks]
    _write_json(path, rows)
    choices = "\n".join(f"    <Choice value={quoteattr(text)}/>" for text in LABEL_TEXTS.values())
    parts = ("question", "Question"), ("answer_a", "Answer A"), ("answer_b", "Answer B"), ("earlier", "Said before")
    texts = "\n".join(f'  <Header value="{title}"/>\n  <Text name="{key}" value="${key}"/>' for key, title in parts)
    config.write_text(
        f'<View>\n{texts}\n  <Choices name="label" toName="question" choice="single" required="true">\n{choices}\n'
        '  </Choices>\n  <TextArea name="comment" toName="question" placeholder="Comment" maxSubmissions="1"/>\n'
        "</View>\n",
        encoding="utf-8",
    )
    return [path, config]


def _argilla(folder: Path, tasks: Sequence[Task], annotator: str, name: str) -> list[Path]:
    """A folder for `argilla.Dataset.from_disk`; every record asks for as many annotators as its round has."""
    overlap = 1 if any(task.round == "adjudication" for task in tasks) else 2
    settings = {
        "guidelines": guidelines(),
        "fields": [
            _named(key, title, {"type": "text", "use_markdown": False}, required=key != "earlier")
            for key, title in (
                ("question", "Question"),
                ("answer_a", "Answer A"),
                ("answer_b", "Answer B"),
                ("earlier", "Said before"),
            )
        ],
        "questions": [
            _named(
                "label",
                "Do the two answers come to the same?",
                {
                    "type": "label_selection",
                    "options": [{"value": label, "text": text} for label, text in LABEL_TEXTS.items()],
                    "visible_options": None,
                },
                required=True,
            ),
            _named("comment", "Comment", {"type": "text", "use_markdown": False}, required=False),
        ],
        "metadata": [
            {
                "name": key,
                "title": key,
                "settings": {"type": "terms", "values": None, "visible_for_annotators": key == "round"},
                "visible_for_annotators": key == "round",
            }
            for key in ("item_id", "round")
        ],
        "vectors": [],
        "allow_extra_metadata": False,
        "distribution": {"strategy": "overlap", "min_submitted": overlap},
        "mapping": None,
    }
    records = [
        {
            "id": task.item_id,
            "fields": {
                "question": task.question,
                "answer_a": task.answer_a,
                "answer_b": task.answer_b,
                **({"earlier": "\n".join(task.earlier)} if task.earlier else {}),
            },
            "metadata": {"item_id": task.item_id, "round": task.round},
            "suggestions": {},
            "responses": {},
            "vectors": {},
        }
        for task in tasks
    ]
    inside = folder / ".argilla"
    inside.mkdir(exist_ok=True)
    written = [folder / "records.json", inside / "settings.json", inside / "dataset.json"]
    for path, value in zip(
        written, (records, settings, {"name": name, "guidelines": guidelines(), "status": "draft"}), strict=True
    ):
        _write_json(path, value)
    return written


def _named(name: str, title: str, settings: dict[str, Any], required: bool) -> dict[str, Any]:
    return {"name": name, "title": title, "required": required, "description": None, "settings": settings}


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")


_WRITERS: dict[AnnotationFormat, Callable[[Path, Sequence[Task], str, str], list[Path]]] = {
    "jsonl": _jsonl,
    "csv": _csv,
    "label-studio": _label_studio,
    "argilla": _argilla,
}
