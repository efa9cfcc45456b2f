"""A finished benchmark as files: JudgeBench's fields and where every item comes from, as parquet and JSON lines."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..core.errors import DataError
from ..core.ids import content_id
from ..core.records import PreferencePair
from .order import draw_order
from .text import clean

PARQUET, JSONL = "data/test.parquet", "data/test.jsonl"
SPLIT = "test"
_ADDRESS = re.compile(r"@https?://[^#\s]*")


class BenchmarkRow(BaseModel):
    """One item as it is published. The first nine fields are JudgeBench's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pair_id: str = Field(description="Id of the item: a hash of question, better answer and worse answer.")
    original_id: str = Field(description="Id of the source pair in its data set; empty where it has none.")
    source: str = Field(description="Part of the source data set that the pair is from.")
    question: str = Field(description="The question.")
    response_model: str = Field(description="Model that wrote the source's answers, where the source says.")
    response_A: str = Field(description="First answer.")
    response_B: str = Field(description="Second answer.")
    label: Literal["A>B", "B>A"] = Field(description="Which answer is better. Positions are drawn by seed.")
    domain: str = Field(description="Domain of the source pair.")
    bias: str = Field(description="Name of the bias that was written into the worse answer.")
    bias_id: str = Field(description="Its id in the library of biases.")
    bias_definition: str = Field(description="Its definition.")
    source_dataset: str = Field(description="Data set of the source pair.")
    source_pair_id: str = Field(description="Hash of the source pair's texts; items of one pair share it.")
    source_rejected: str = Field(description="The worse answer as it was before the bias was written in.")
    perturbation_id: str = Field(description="Id of the rewrite in the run that made it.")
    perturbation_hash: str = Field(description="SHA-256 of the rewritten answer, UTF-8.")
    teacher: str = Field(description="What rewrote the answer.")
    filter_judges: str = Field(description="Judges that preferred the worse answer in every order, one a line.")
    filter_judges_before: str = Field(description="Those of them that did so before the rewrite already, one a line.")
    answers_differ_by: Literal["exact", "panel", "people"] = Field(
        description="By what the final answers were found to differ: exact comparison, a panel of models, or people."
    )

    @property
    def chosen_first(self) -> bool:
        """Whether the better answer is A."""
        return self.label == "A>B"

    @property
    def chosen(self) -> str:
        """The better answer."""
        return self.response_A if self.chosen_first else self.response_B

    @property
    def rejected(self) -> str:
        """The worse answer, with the bias."""
        return self.response_B if self.chosen_first else self.response_A


def public_name(name: str) -> str:
    """A model's or judge's name without the address at which it was asked, which is nobody else's business."""
    return _ADDRESS.sub("", name)


def clean_answer(text: str) -> str:
    """A rewritten answer as it is stored and published: cleaned of what every data set that is read is cleaned of."""
    return clean(text, Counter())


def make_row(source: PreferencePair, rejected: str, *, seed: int, **fields: Any) -> BenchmarkRow:
    """The row of an item: positions drawn from `seed` and the item; `fields` are those that do not follow from the
    source pair."""
    text = clean_answer(rejected)
    item_id = content_id("pair", source.prompt, source.chosen, text)
    chosen_first = draw_order(item_id, seed) == "chosen_first"
    answers = (source.chosen, text) if chosen_first else (text, source.chosen)
    return BenchmarkRow(
        pair_id=item_id,
        original_id=source.source_id,
        source=source.meta.get("subset", ""),
        question=source.prompt,
        response_model=source.meta.get("model", ""),
        response_A=answers[0],
        response_B=answers[1],
        label="A>B" if chosen_first else "B>A",
        domain=source.domain,
        source_dataset=source.source,
        source_pair_id=source.id,
        source_rejected=source.rejected,
        perturbation_hash=hashlib.sha256(text.encode()).hexdigest(),
        **fields,
    )


def write_rows(folder: Path, rows: Sequence[BenchmarkRow]) -> list[Path]:
    """Write the parquet and the JSON lines file under `folder`; each is there whole or not at all."""
    values = [row.model_dump(mode="json") for row in rows]
    schema = pa.schema([(name, pa.string()) for name in BenchmarkRow.model_fields])
    parquet, lines = folder / PARQUET, folder / JSONL
    parquet.parent.mkdir(parents=True, exist_ok=True)
    partial = parquet.with_suffix(".partial")
    pq.write_table(pa.Table.from_pylist(values, schema=schema), partial)
    partial.replace(parquet)
    partial = lines.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as handle:
        for value in values:
            handle.write(json.dumps(value, ensure_ascii=False) + "\n")
    partial.replace(lines)
    return [parquet, lines]


def read_rows(path: Path) -> list[BenchmarkRow]:
    """The rows of a finished benchmark: its folder, or one of its files. DataError names the first thing wrong."""
    file = path
    if path.is_dir():
        file = next((path / name for name in (PARQUET, JSONL) if (path / name).is_file()), path / PARQUET)
    if not file.is_file():
        raise DataError(
            f"{path}: holds no benchmark ({PARQUET} or {JSONL}); give a finished benchmark's folder or file"
        )
    rows = []
    for number, values in enumerate(_values(file), 1):
        try:
            rows.append(BenchmarkRow.model_validate(values))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(str(p) for p in first["loc"]) or "the row"
            raise DataError(f"{file}, row {number}: {field}: {first['msg']}") from None
    if not rows:
        raise DataError(f"{file}: holds no items")
    return rows


def _values(file: Path) -> list[Mapping[str, Any]]:
    try:
        if file.suffix == ".parquet":
            found: list[Mapping[str, Any]] = pq.read_table(file).to_pylist()
            return found
        lines = file.read_text(encoding="utf-8").split("\n")
        return [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError, pa.ArrowException, RecursionError) as error:
        raise DataError(f"{file}: cannot be read as a benchmark: {' '.join(str(error).split())[:200]}") from None
