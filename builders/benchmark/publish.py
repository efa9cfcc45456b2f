"""The files of a finished benchmark: items, card, Croissant metadata, guidelines and labels."""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ...core.records import Annotation, Bias, PreferencePair
from ...core.store import Store
from ...data.annotations import guidelines
from ...data.benchmark import JSONL, PARQUET, SPLIT, BenchmarkRow, make_row, public_name, write_rows
from ...data.card import card_markdown
from ...data.croissant import FieldInfo, croissant
from .card import Making, audit_rows, benchmark_card
from .finalize import Final
from .funnel import Funnel

CARD, METADATA, GUIDELINES, LABELS = "README.md", "croissant.json", "guidelines.md", "annotations.jsonl"


def final_rows(store: Store, final: Final, making: Making) -> list[BenchmarkRow]:
    """The items as they are published, by id."""
    items = [item for item, _ in final.kept]
    pairs = _by_id(store.get_many(PreferencePair, [i for x in items for i in (x.pair_id, x.source_pair_id)]))
    biases = {bias.id: bias for bias in store.get_many(Bias, list({item.bias_id for item in items}))}
    rows = [
        make_row(
            pairs[item.source_pair_id],
            pairs[item.pair_id].rejected,
            seed=making.seed,
            bias=biases[item.bias_id].name,
            bias_id=item.bias_id,
            bias_definition=biases[item.bias_id].definition,
            perturbation_id=item.perturbation_id,
            teacher=making.teacher,
            filter_judges="\n".join(map(public_name, item.misled)),
            filter_judges_before="\n".join(map(public_name, item.misled_before)),
            answers_differ_by=by,
        )
        for item, by in final.kept
    ]
    return sorted(rows, key=lambda row: row.pair_id)


def publish(
    folder: Path,
    rows: Sequence[BenchmarkRow],
    final: Final,
    funnel: Funnel,
    making: Making,
    annotations: Iterable[Annotation],
    date: str,
) -> list[str]:
    """Write everything into `folder`, in place of what an earlier call wrote there; returns the card's warnings.

    The old files stand until the new ones are whole.
    """
    new = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(new, ignore_errors=True)
    write_rows(new, rows)
    audit = audit_rows(rows, making.seed)
    card = benchmark_card(rows, final, funnel, making, audit)
    (new / CARD).write_text(card_markdown(card, new), encoding="utf-8")
    (new / GUIDELINES).write_text(guidelines(), encoding="utf-8")
    with (new / LABELS).open("w", encoding="utf-8") as handle:
        for line in _without_names(annotations):
            handle.write(json.dumps(line, ensure_ascii=False) + "\n")
    document = croissant(
        new,
        name=making.title,
        description=card.summary,
        licence=making.licence,
        date=date,
        splits=((SPLIT, PARQUET),),
        fields=[FieldInfo(name, info.description or "") for name, info in BenchmarkRow.model_fields.items()],
        others=(JSONL, GUIDELINES, LABELS),
    )
    (new / METADATA).write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)
    return list(card.warnings)


def _without_names(annotations: Iterable[Annotation]) -> Iterable[Mapping[str, str]]:
    """Labels as they are published: annotators are numbered as they come, not named."""
    rows = sorted(annotations, key=lambda row: (row.item_id, row.time, row.id))
    numbers: dict[str, str] = {}
    for row in rows:
        who = numbers.setdefault(row.annotator, f"annotator {len(numbers) + 1}")
        yield {
            "pair_id": row.item_id,
            "annotator": who,
            "by": row.by,
            "round": row.round,
            "label": row.label,
            "comment": row.comment,
        }


def _by_id(pairs: Iterable[PreferencePair]) -> dict[str, PreferencePair]:
    return {pair.id: pair for pair in pairs}
