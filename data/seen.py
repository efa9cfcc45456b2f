"""A set of 64-bit hashes in flat arrays: about 11 to 14 bytes an entry, where a Python set takes over 60."""

from array import array

_SHARDS = 64
_FIRST = 32


class Seen:
    """Add-only set of 64-bit keys, open addressing, at most three quarters full.

    The keys are spread over shards that grow one by one, so that growing never holds two copies of everything.
    Keys are hash prefixes: among a million texts two share one with a chance of about 3 in 100 million.
    """

    def __init__(self) -> None:
        self._shards = [array("Q", bytes(8 * _FIRST)) for _ in range(_SHARDS)]
        self._counts = [0] * _SHARDS

    def __len__(self) -> int:
        return sum(self._counts)

    def add(self, key: int) -> bool:
        """Add `key`; False when it was there already. Zero counts as one."""
        key = key or 1
        number = key % _SHARDS
        slots = self._shards[number]
        at = _find(slots, key)
        if slots[at]:
            return False
        slots[at] = key
        self._counts[number] += 1
        if self._counts[number] * 4 > len(slots) * 3:
            self._grow(number)
        return True

    def __contains__(self, key: int) -> bool:
        key = key or 1
        slots = self._shards[key % _SHARDS]
        return bool(slots[_find(slots, key)])

    def _grow(self, number: int) -> None:
        old = self._shards[number]
        new = array("Q", bytes(8 * (len(old) + len(old) // 4)))
        for key in old:
            if key:
                new[_find(new, key)] = key
        self._shards[number] = new


def _find(slots: "array[int]", key: int) -> int:
    size = len(slots)
    at = key // _SHARDS % size
    while slots[at] not in (0, key):
        at = at + 1 if at + 1 < size else 0
    return at
