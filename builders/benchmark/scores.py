"""What the verdicts on a benchmark come to: error rates, and how far they are from those on the source pairs."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from ...core.records import Verdict
from ...data.benchmark import BenchmarkRow, public_name
from ...validators.clusters import cluster_difference, cluster_rate
from .evaluate import Given


class Figure(BaseModel):
    """A rate (0-1) or a difference of rates (-1 to 1), with its 95 % interval; source pairs are its units."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    items: int
    value: float | None
    """None when no item has a valid verdict."""
    low: float
    high: float
    method: str


class Part(BaseModel):
    """A judge on some of the items. An item's error is the share of its valid verdicts that are wrong."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    error: Figure
    source: Figure
    """On the source pairs of the same items, each counted as often as it has items."""
    difference: Figure
    """error - source, item by item."""


class JudgeScore(BaseModel):
    """One judge on the whole benchmark."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    judge: str
    chose_items: bool
    """It was a judge of the adversarial filter, so that its error is raised by construction."""
    overall: Part
    by_domain: tuple[Part, ...]
    by_bias: tuple[Part, ...]
    wrong_in_both: float | None
    """Share of the items with two valid verdicts on which both are wrong."""
    inconsistent: float | None
    """Share of those on which the two differ: position decides."""
    verdicts: dict[str, int]
    """Verdicts on items: chosen, rejected, tie, invalid, failed."""


class Evaluation(BaseModel):
    """Judges on a benchmark, best first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    benchmark: str
    items: int
    pairs: int
    """Source pairs."""
    human_verified: bool
    judges: tuple[JudgeScore, ...]


def evaluation(name: str, rows: Sequence[BenchmarkRow], items: Given, sources: Given) -> Evaluation:
    """Score every judge that has verdicts."""
    judges = dict.fromkeys(judge for judge, _ in items)
    choosers = {name for row in rows for name in row.filter_judges.split("\n") if name}
    scored = [_score(judge, rows, items, sources, choosers) for judge in judges]
    return Evaluation(
        benchmark=name,
        items=len(rows),
        pairs=len({row.source_pair_id for row in rows}),
        human_verified=all(row.answers_differ_by == "people" for row in rows),
        judges=tuple(sorted(scored, key=lambda s: (s.chose_items, _or_last(s.overall.error.value), s.judge))),
    )


def error_of(verdicts: Sequence[Verdict | None]) -> float:
    """The share of the valid verdicts that are wrong; NaN without one (ties, unreadable and failed ones are none)."""
    valid = [verdict for verdict in verdicts if verdict in ("chosen", "rejected")]
    return sum(v == "rejected" for v in valid) / len(valid) if valid else math.nan


def _score(judge: str, rows: Sequence[BenchmarkRow], items: Given, sources: Given, choosers: set[str]) -> JudgeScore:
    given = [items.get((judge, row.pair_id), ()) for row in rows]
    error = [error_of(v) for v in given]
    source = [error_of(sources.get((judge, row.source_pair_id), ())) for row in rows]

    def part(name: str, picked: Sequence[int]) -> Part:
        groups = [rows[k].source_pair_id for k in picked]
        e, s = [error[k] for k in picked], [source[k] for k in picked]
        return Part(
            name=name,
            error=_rate(e, groups),
            source=_rate(s, groups),
            difference=_difference([a - b for a, b in zip(e, s, strict=True)], groups),
        )

    twice = [v for v in given if len(v) == 2 and all(x in ("chosen", "rejected") for x in v)]
    return JudgeScore(
        judge=public_name(judge),
        chose_items=public_name(judge) in choosers,
        overall=part("all", range(len(rows))),
        by_domain=tuple(part(name, picked) for name, picked in _by(rows, "domain").items()),
        by_bias=tuple(part(name, picked) for name, picked in _by(rows, "bias").items()),
        wrong_in_both=sum(v == ("rejected", "rejected") for v in twice) / len(twice) if twice else None,
        inconsistent=sum(v[0] != v[1] for v in twice) / len(twice) if twice else None,
        verdicts=dict(sorted(Counter(x or "failed" for v in given for x in v).items())),
    )


def _by(rows: Sequence[BenchmarkRow], field: str) -> Mapping[str, list[int]]:
    found: dict[str, list[int]] = {}
    for k, row in enumerate(rows):
        found.setdefault(getattr(row, field), []).append(k)
    return dict(sorted(found.items()))


def _rate(values: Sequence[float], groups: Sequence[str]) -> Figure:
    found = cluster_rate(values, groups)
    value = None if math.isnan(found.rate) else found.rate
    return Figure(items=found.n, value=value, low=found.low, high=found.high, method=found.method)


def _difference(values: Sequence[float], groups: Sequence[str]) -> Figure:
    value, low, high, method = cluster_difference(values, groups)
    there = sum(not math.isnan(v) for v in values)
    return Figure(items=there, value=None if math.isnan(value) else value, low=low, high=high, method=method)


def _or_last(value: float | None) -> float:
    return math.inf if value is None else value
