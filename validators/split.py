"""Splitting and ordering pairs by seed and domain, from their ids alone: the order they come in makes no difference."""

import hashlib
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

from ..core.errors import ConfigError

CONFIRM_MIN = 300
"""Test sets smaller than this keep no confirmation part."""
CONFIRM_SHARE = 1 / 3


class Split(NamedTuple):
    """Two disjoint parts, each in its stratified order."""

    search: tuple[str, ...]
    confirm: tuple[str, ...]


def split_search_confirm(domains: Mapping[str, str], seed: int, share: float | None = None) -> Split:
    """Split pairs (id -> domain) into a search part and a locked confirmation part, in proportion within every domain.

    `share` is the part to confirm on; by default a third when there are at least CONFIRM_MIN pairs, else none. Sizes
    per domain are rounded by largest remainder, so that the total is the rounded share of all.
    """
    if share is None:
        share = CONFIRM_SHARE if len(domains) >= CONFIRM_MIN else 0.0
    if not 0 <= share < 1:
        raise ConfigError(f"share: {share!r} is not in [0, 1); give the part to confirm on, such as 0.33")
    groups = _groups(domains, seed, "split")
    exact = {domain: Fraction(share) * len(ids) for domain, ids in groups.items()}
    sizes = {domain: int(value) for domain, value in exact.items()}
    spare = round(Fraction(share) * len(domains)) - sum(sizes.values())
    by_remainder = sorted(exact, key=lambda domain: (sizes[domain] - exact[domain], _hash(seed, "remainder", domain)))
    for domain in by_remainder[: max(0, spare)]:
        sizes[domain] += 1
    confirm = {pair_id for domain, ids in groups.items() for pair_id in ids[: sizes[domain]]}
    return Split(
        search=stratified_order({i: d for i, d in domains.items() if i not in confirm}, seed),
        confirm=stratified_order({i: d for i, d in domains.items() if i in confirm}, seed),
    )


def stratified_order(domains: Mapping[str, str], seed: int) -> tuple[str, ...]:
    """A seeded permutation of pair ids (id -> domain) that keeps every stretch near the overall mix of domains.

    Within a domain the order is random; a domain of m pairs gets one slot in each m-th part of the whole, at a random
    place.
    """
    placed: list[tuple[float, str, str]] = []
    for ids in _groups(domains, seed, "order").values():
        for rank, pair_id in enumerate(ids):
            offset = int(_hash(seed, "place", pair_id)[:13], 16) / 16**13
            placed.append(((rank + offset) / len(ids), _hash(seed, "order", pair_id), pair_id))
    return tuple(pair_id for _, _, pair_id in sorted(placed))


def batches(order: Iterable[str], size: int) -> list[tuple[str, ...]]:
    """Cut an order into batches of `size`; the last may be shorter."""
    if size < 1:
        raise ConfigError(f"batch size: {size!r} is under 1; give a number of pairs")
    ids = tuple(order)
    return [ids[i : i + size] for i in range(0, len(ids), size)]


def _groups(domains: Mapping[str, str], seed: int, purpose: str) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for pair_id in sorted(domains, key=lambda i: (_hash(seed, purpose, i), i)):
        groups.setdefault(domains[pair_id], []).append(pair_id)
    return groups


def _hash(seed: int, purpose: str, text: str) -> str:
    return hashlib.sha256(f"{seed}\0{purpose}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
