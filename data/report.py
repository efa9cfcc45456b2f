"""The data report: what was read, what was left out and why, and how the pairs look."""

import hashlib
import heapq
from array import array
from collections import Counter

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ..core.ids import seed_from
from ..core.records import PreferencePair
from ..core.words import word_count
from .drafts import Drop

EXCERPT = 600
"""Characters of a text that the report keeps."""
MAX_DOMAINS = 1000


class Spread(BaseModel):
    """Spread of a number over pairs. Quantiles are exact below 1,024, at most 1 % off above."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mean: float
    low: float
    median: float
    p90: float
    high: float


class Excerpt(BaseModel):
    """The beginning of one pair's texts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    domain: str
    prompt: str
    chosen: str
    rejected: str


class DataReport(BaseModel):
    """One source, as read. `rows` = rows in the source; all other counts are pairs, or rows where a row gives one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    preset: str
    rows: int
    pairs: int
    """Pairs kept."""
    dropped: dict[str, int]
    """By reason, most frequent first. `over the limit` is what sampling left out."""
    dropped_examples: dict[str, list[str]]
    """The first three of each reason: place and detail."""
    domains: dict[str, int]
    positions: dict[str, int]
    """Where the right answer stands in the file: A, B, or `named` where the file says which one it is."""
    lengths: dict[str, Spread]
    """Words and characters of chosen and rejected, and characters rejected / chosen."""
    chosen_longer: float
    """Share of pairs whose chosen answer has more characters, 0-1; equal lengths count half."""
    oddities: dict[str, int]
    """Texts with U+FFFD, carriage returns, control characters; pairs with null ids, several turns, repeated prompts."""
    data_hash: str
    """SHA-256 over the first 8 bytes of every kept pair's id, sorted: the same pairs in any order, the same hash."""
    examples: list[Excerpt]
    notes: list[str] = Field(default_factory=list)


class Tally:
    """Counts while pairs stream by, in bounded memory but for 8 bytes a pair: what the data hash is made of."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.preset = ""
        self.rows = 0
        self.oddities: Counter[str] = Counter()
        self.notes: list[str] = []
        self.dropped: Counter[str] = Counter()
        self.domains: Counter[str] = Counter()
        self._dropped_examples: dict[str, list[str]] = {}
        self._positions: Counter[str] = Counter()
        self._lengths = {name: _Histogram() for name in _LENGTHS}
        self._longer = 0.0
        self._examples: list[tuple[int, str, Excerpt]] = []
        self._kept = array("Q")

    def drop(self, drop: Drop) -> None:
        """Count one row or pair that was left out."""
        self.dropped[drop.reason] += 1
        examples = self._dropped_examples.setdefault(drop.reason, [])
        if len(examples) < 3:
            examples.append(f"{drop.place}: {drop.detail}" if drop.detail else drop.place)

    def keep(self, pair: PreferencePair, position: str) -> None:
        """Count one pair that is handed on."""
        self._kept.append(int(pair.id[:16], 16))
        self.domains[pair.domain] += 1
        self._positions[position or "named"] += 1
        chosen, rejected = len(pair.chosen), len(pair.rejected)
        self._longer += 1.0 if chosen > rejected else 0.5 if chosen == rejected else 0.0
        values = (word_count(pair.chosen), word_count(pair.rejected), chosen, rejected, rejected / chosen)
        for name, value in zip(_LENGTHS, values, strict=True):
            self._lengths[name].add(value)
        self._keep_example(pair)

    def kept(self) -> int:
        """Pairs kept so far."""
        return self.domains.total()

    def report(self) -> DataReport:
        """The report on everything counted so far."""
        kept = self.kept()
        return DataReport(
            source=self.source,
            preset=self.preset,
            rows=self.rows,
            pairs=kept,
            dropped=dict(self.dropped.most_common()),
            dropped_examples=self._dropped_examples,
            domains=dict(sorted(self.domains.items())),
            positions=dict(sorted(self._positions.items())),
            lengths={name: h.spread() for name, h in self._lengths.items()} if kept else {},
            chosen_longer=self._longer / kept if kept else 0.0,
            oddities=dict(self.oddities.most_common()),
            data_hash=self._data_hash(),
            examples=[x for *_, x in sorted(self._examples, reverse=True)],
            notes=self.notes,
        )

    def _data_hash(self) -> str:
        keys = np.sort(np.array(self._kept, dtype=np.uint64))
        return hashlib.sha256(keys.astype(">u8").tobytes()).hexdigest()

    def _keep_example(self, pair: PreferencePair) -> None:
        rank = -seed_from("example", pair.id)
        if len(self._examples) == 3 and rank <= self._examples[0][0]:
            return
        texts = {name: _excerpt(getattr(pair, name)) for name in ("prompt", "chosen", "rejected")}
        entry = (rank, pair.id, Excerpt(id=pair.id, domain=pair.domain, **texts))
        (heapq.heappush if len(self._examples) < 3 else heapq.heapreplace)(self._examples, entry)


_LENGTHS = ("words, chosen", "words, rejected", "characters, chosen", "characters, rejected", "rejected / chosen")


class _Histogram:
    """Counts by value: exact to 1,024, 7 significant bits above; a few thousand bins at most."""

    def __init__(self) -> None:
        self._bins: Counter[float] = Counter()
        self._sum = 0.0
        self._low = float("inf")
        self._high = float("-inf")

    def add(self, value: float) -> None:
        self._sum += value
        self._low, self._high = min(self._low, value), max(self._high, value)
        if isinstance(value, int) and value >= 1024:
            shift = value.bit_length() - 7
            value = ((value >> shift) << shift) + (1 << shift >> 1)
        elif isinstance(value, float):
            value = round(value, 2) if value < 10 else float(round(min(value, 1000.0)))
        self._bins[value] += 1

    def spread(self) -> Spread:
        n = self._bins.total()
        return Spread(
            mean=self._sum / n, low=self._low, median=self._quantile(0.5), p90=self._quantile(0.9), high=self._high
        )

    def _quantile(self, share: float) -> float:
        need, value = share * self._bins.total(), 0.0
        for value in sorted(self._bins):
            need -= self._bins[value]
            if need <= 0:
                break
        return min(max(value, self._low), self._high)


def _excerpt(text: str) -> str:
    return text if len(text) <= EXCERPT else text[:EXCERPT] + " […]"
