"""Real data sets, where BIASSCOPE_TEST_DATA names the folder that holds them."""

import os
from pathlib import Path

import pytest
from biasscope.core.errors import DataError
from biasscope.data.order import draw_order
from biasscope.data.sources import load
from biasscope.data.spec import SourceSpec

pytestmark = pytest.mark.shared_data


@pytest.fixture
def folder() -> Path:
    named = os.environ.get("BIASSCOPE_TEST_DATA")
    if not named:
        pytest.skip("set BIASSCOPE_TEST_DATA to the folder of the data sets")
    return Path(named)


@pytest.mark.parametrize(
    ("name", "preset", "rows", "pairs", "positions"),
    [
        ("judgebench.parquet", "judgebench", 620, 619, {"A": 336, "B": 283}),
        ("rewardbench_filtered.parquet", "rewardbench", 2448, 2448, {"A": 2448}),
        ("llmbar.jsonl.gz", "llmbar", 411, 411, {"A": 200, "B": 211}),
        ("evalbiasbench.jsonl.gz", "evalbiasbench", 79, 79, {"A": 79}),
        ("ultrafeedback_pairs.jsonl.gz", "ultrafeedback", 300, 263, {"named": 263}),
        ("bias_pairs_judicator.jsonl.gz", "edited", 194, 194, {"named": 194}),
    ],
)
def test_pair_data(folder: Path, name: str, preset: str, rows: int, pairs: int, positions: dict[str, int]) -> None:
    loaded = load(SourceSpec(source=str(folder / name)))
    report = loaded.report
    assert (report.preset, report.rows, report.pairs, report.positions) == (preset, rows, pairs, positions)
    assert rows == pairs + sum(report.dropped.values())
    assert len({p.id for p in loaded.pairs}) == pairs
    first = sum(draw_order(p.id) == "chosen_first" for p in loaded.pairs)
    assert abs(first / pairs - 0.5) < 3.3 * 0.5 / pairs**0.5


def test_what_is_odd_in_judgebench(folder: Path) -> None:
    report = load(SourceSpec(source=str(folder / "judgebench.parquet"))).report
    assert report.domains == {"Coding": 72, "Knowledge": 286, "Math": 112, "Reasoning": 149}
    assert report.dropped == {"equal answers": 1}
    assert report.oddities == {"null original_id": 312, "repeated prompt": 92, "CRLF": 15, "control character": 2}


def test_domains_of_rewardbench_follow_from_its_subsets(folder: Path) -> None:
    report = load(SourceSpec(source=str(folder / "rewardbench_filtered.parquet"))).report
    assert report.domains == {"Chat": 333, "Chat Hard": 448, "Reasoning": 1431, "Safety": 236}


def test_quirks_of_ultrafeedback(folder: Path) -> None:
    report = load(SourceSpec(source=str(folder / "ultrafeedback_pairs.jsonl.gz"))).report
    assert report.dropped == {"tie": 36, "equal answers": 1}
    assert report.oddities == {"CRLF": 4, "U+FFFD": 2}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mtbench_multimodel.jsonl.gz", "self-preference"),
        ("verdicts.jsonl.gz", "log of judge verdicts"),
        ("judge_runs.jsonl.gz", "log of judge verdicts"),
        ("judge_runs_published_stats.jsonl.gz", "log of judge verdicts"),
        ("judgebiasbench_published.jsonl.gz", "log of judge verdicts"),
    ],
)
def test_other_data_is_named(folder: Path, name: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        load(SourceSpec(source=str(folder / name)))
