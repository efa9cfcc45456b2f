"""What one source pair gives: rows for the files of a training set."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...core.calls import Message
from ...core.records import Bias, Perturbation, PreferencePair
from ...data.benchmark import public_name

Row = dict[str, Any]

TRAIN, NEGATIVES, JUDGING, COLD_START = "train", "negatives", "judging", "cold_start"


class Unit(NamedTuple):
    """The rows of one source pair. They stay together: all are kept or none, for training or for validation."""

    pair: PreferencePair
    biases: tuple[str, ...]
    """Ids of the biases that are written in; none for a pair that is as it was."""
    longer: int
    """1 when the better side is the longer one, -1 when it is the shorter one, 0 when both are as long."""
    rows: Mapping[str, Sequence[Row]]
    """By the file that they go into."""


def file_names(part: str) -> tuple[str, str]:
    """The train and the validation file of a part."""
    return (f"{part}.jsonl", "validation.jsonl" if part == TRAIN else f"{part}_validation.jsonl")


def said(role: str, text: str) -> list[Row]:
    """One message."""
    return [{"role": role, "content": text}]


def conversation_rows(messages: Sequence[Message]) -> list[Row]:
    """Messages as TRL takes them."""
    return [{"role": message.role, "content": message.content} for message in messages]


def provenance(pair: PreferencePair, bias: Bias | None, made: Perturbation | None) -> Row:
    """Where a row comes from; the same columns in every row."""
    return {
        "bias": bias.name if bias else "",
        "bias_id": bias.id if bias else "",
        "pair_id": pair.id,
        "perturbation_id": made.id if made else "",
        "teacher": public_name(made.teacher) if made else "",
        "domain": pair.domain,
        "source": pair.source,
        "source_id": pair.source_id,
    }


def longer_side(better: int, worse: int) -> int:
    """`Unit.longer` from two lengths."""
    return (better > worse) - (better < worse)
