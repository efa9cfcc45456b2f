import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from biasscope.data.report import Tally
from biasscope.data.sources import inspect, iter_pairs
from biasscope.data.spec import SourceSpec

PER_PAIR = 45
"""Bytes that a pair may leave behind: its hashes, no texts."""


def _streamed(spec: SourceSpec) -> int:
    return sum(1 for _ in iter_pairs(spec, Tally(spec.source)))


def _inspected(spec: SourceSpec) -> int:
    return inspect(spec).pairs


def _peak(tmp_path: Path, rows: int, limit: int | None, read: Callable[[SourceSpec], int] = _streamed) -> int:
    path = tmp_path / f"{rows}.jsonl"
    with path.open("w") as file:
        for i in range(rows):
            row = {
                "prompt": f"q {i} " + "x" * 200,
                "chosen": f"good {i}",
                "rejected": f"bad {i}",
                "domain": "ab"[i % 2],
            }
            file.write(json.dumps(row) + "\n")
    tracemalloc.start()
    n = read(SourceSpec(source=str(path), limit=limit))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n == (limit or rows)
    return peak


@pytest.mark.parametrize("read", [_streamed, _inspected])
@pytest.mark.parametrize("limit", [None, 50])
def test_memory_does_not_follow_the_texts(tmp_path: Path, limit: int | None, read: Callable[[SourceSpec], int]) -> None:
    few = _peak(tmp_path, 2000, limit, read)
    growth = _peak(tmp_path, 6000, limit, read) - few
    assert growth < 4000 * PER_PAIR + 50_000


@pytest.mark.slow
@pytest.mark.parametrize("limit", [None, 1000])
def test_memory_stays_flat_over_many_pairs(tmp_path: Path, limit: int | None) -> None:
    few = _peak(tmp_path, 20_000, limit)
    growth = _peak(tmp_path, 100_000, limit) - few
    assert growth < 80_000 * PER_PAIR
