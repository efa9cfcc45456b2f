"""The card of a data set that we make: a README.md with metadata for the hub; no text breaks out of its Markdown."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from ..core.visible import markdown, one_line, table

HUB_LICENCES = frozenset(
    [
        "apache-2.0",
        "mit",
        "bsd-2-clause",
        "bsd-3-clause",
        "cc0-1.0",
        "cc-by-4.0",
        "cc-by-sa-4.0",
        "cc-by-nc-4.0",
        "cc-by-nc-sa-4.0",
        "odc-by",
        "odbl",
        "gpl-3.0",
        "mpl-2.0",
        "unlicense",
        "unknown",
        "other",
    ]
)
"""Licences that the hub knows by these names; others are given as `other` with their own name."""


class Table(NamedTuple):
    """A table; cells are escaped. The first `text` columns are aligned left, the others right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    text: int = 1


class Section(NamedTuple):
    """A heading and its parts: paragraphs as plain text, bullets, tables."""

    title: str
    parts: tuple["str | tuple[str, ...] | Table", ...]


class Card(NamedTuple):
    """What a card says. All texts are plain; markup is made here."""

    title: str
    summary: str
    """One paragraph."""
    warnings: tuple[str, ...]
    """Shown before everything else."""
    sections: tuple[Section, ...]
    splits: tuple[tuple[str, str], ...]
    """(split, path of its parquet file in the folder)."""
    items: int
    licence: str
    """Licence of the source, as the hub writes it where it knows it; empty when nobody said."""
    sources: tuple[str, ...] = ()
    """Hub names of the data sets that it is made from."""
    tags: tuple[str, ...] = ()


def card_markdown(card: Card, folder: Path) -> str:
    """The README.md: YAML for the hub and for `datasets.load_dataset`, then the text. The splits lie in `folder`."""
    lines = ["---", _metadata(card, folder), "---", ""]
    lines += [f"# {markdown(card.title)}", "", markdown(card.summary, 2000), ""]
    for warning in card.warnings:
        lines += [f"> **Warning.** {markdown(warning, 1000)}", ""]
    for section in card.sections:
        lines += [f"## {markdown(section.title)}", ""]
        for part in section.parts:
            lines += [_part(part), ""]
    return "\n".join(lines).rstrip() + "\n"


def _part(part: "str | tuple[str, ...] | Table") -> str:
    if isinstance(part, str):
        return markdown(part, 4000)
    if isinstance(part, Table):
        rows = [[markdown(str(cell)) for cell in row] for row in part.rows]
        return table([markdown(c) for c in part.columns], rows, part.text).rstrip()
    return "\n".join(f"- {markdown(line, 2000)}" for line in part)


def _metadata(card: Card, folder: Path) -> str:
    values: dict[str, object] = {"pretty_name": one_line(card.title, 120)}
    named = card.licence.strip().lower() or "unknown"
    values["license"] = named if named in HUB_LICENCES else "other"
    if named not in HUB_LICENCES:
        values["license_name"] = one_line(card.licence, 80)
    values["tags"] = [one_line(tag, 60) for tag in card.tags]
    values["size_categories"] = [size_category(card.items)]
    if card.sources:
        values["source_datasets"] = [one_line(name, 120) for name in card.sources]
    files = [{"split": split, "path": path} for split, path in card.splits]
    # `datasets` knows what it has cached by the folder's last name and this entry, not by the files: without a word
    # that changes with them, every set in a folder named `data` would be read as the first one that was.
    described = f"Content {_content(card, folder)}"
    values["configs"] = [{"config_name": "default", "description": described, "data_files": files}]
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True).rstrip()


def _content(card: Card, folder: Path) -> str:
    total = hashlib.sha256()
    for split, path in card.splits:
        with (folder / path).open("rb") as handle:
            total.update(f"{split} {hashlib.file_digest(handle, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()[:16]


def size_category(items: int) -> str:
    """The hub's word for a size."""
    steps: Sequence[tuple[int, str]] = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
    return next((name for limit, name in steps if items < limit), "100K<n<1M" if items < 1_000_000 else "n>1M")
