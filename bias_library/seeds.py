"""The seven basic biases that every library starts from (BiasScope paper, section 2; our own wording)."""

import functools
from pathlib import Path

import yaml

from ..core.records import Bias
from .bias import make_bias

_FILE = Path(__file__).parent / "seeds.yaml"


@functools.cache
def _seeds() -> tuple[tuple[Bias, bool], ...]:
    rows = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return tuple(
        (
            make_bias(row["name"], row["definition"], row["manifestation"], origin="seed"),
            bool(row.get("measured_by_order", False)),
        )
        for row in rows
    )


def seed_biases() -> list[Bias]:
    """B_0: length, position, authority, compassion fade, fallacy oversight, sentiment, refinement-aware."""
    return [bias for bias, _ in _seeds()]


def is_order_bias(bias_id: str) -> bool:
    """Whether a seed is really about the order of the answers, so that its text only hints at it (see seeds.yaml)."""
    return any(bias.id == bias_id and by_order for bias, by_order in _seeds())
