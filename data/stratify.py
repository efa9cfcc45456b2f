"""A stratified sample of a stream, by content: the same pairs whatever their order, in bounded memory."""

import heapq
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ..core.ids import seed_from
from ..core.records import PreferencePair


class Positioned(NamedTuple):
    """A pair and where its right answer stands in the file."""

    pair: PreferencePair
    position: str


def sample(pairs: Iterable[Positioned], limit: int, seed: int) -> tuple[list[Positioned], int]:
    """At most `limit` pairs, in proportion to the domains, and how many were left out.

    In each domain those with the lowest seeded hash of their id win; the result is in that order. Memory: `limit`
    pairs for each domain.
    """
    heaps: dict[str, list[tuple[int, str, Positioned]]] = {}
    counts: Counter[str] = Counter()
    for item in pairs:
        counts[item.pair.domain] += 1
        heap = heaps.setdefault(item.pair.domain, [])
        rank = -seed_from("sample", seed, item.pair.id)
        if len(heap) < limit:
            heapq.heappush(heap, (rank, item.pair.id, item))
        elif rank > heap[0][0]:
            heapq.heapreplace(heap, (rank, item.pair.id, item))
    chosen = [entry for domain, size in shares(counts, limit).items() for entry in heapq.nlargest(size, heaps[domain])]
    return [item for *_, item in sorted(chosen, reverse=True)], counts.total() - len(chosen)


def shares(counts: Counter[str], limit: int) -> dict[str, int]:
    """How many of each domain: in proportion by largest remainders, at least one of each where the limit allows."""
    total = counts.total()
    if total <= limit:
        return dict(counts)
    floor = 1 if limit >= len(counts) else 0
    exact = {d: max(limit * n / total, floor) for d, n in counts.items()}
    sizes = {d: int(x) for d, x in exact.items()}
    # Ties by name, so that the order of the rows plays no part.
    by_remainder = sorted(counts, key=lambda d: (sizes[d] - exact[d], d))
    for domain in by_remainder * 2:
        if sum(sizes.values()) < limit and sizes[domain] < counts[domain]:
            sizes[domain] += 1
    while sum(sizes.values()) > limit:
        sizes[max(sizes, key=lambda d: (sizes[d], d))] -= 1
    return sizes
