"""A set of 64-bit hashes in a flat array: 12 to 24 bytes an entry, where a Python set takes over 60."""

from array import array

import numpy as np


class Seen:
    """Add-only set of 64-bit keys, open addressing, at most two thirds full.

    Keys are hash prefixes: among a million texts two share one with a chance of about 3 in 100 million.
    """

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * 1024))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, key: int) -> bool:
        """Add `key`; False when it was there already."""
        key = key or 1
        at = self._find(key)
        if self._slots[at]:
            return False
        self._slots[at] = key
        self._count += 1
        if self._count * 3 > len(self._slots) * 2:
            self._grow()
        return True

    def __contains__(self, key: int) -> bool:
        return bool(self._slots[self._find(key or 1)])

    def sorted_bytes(self) -> bytes:
        """All keys in ascending order, 8 bytes each, big-endian."""
        keys = np.frombuffer(self._slots, dtype=np.uint64)
        return np.sort(keys[keys != 0]).astype(">u8").tobytes()

    def _find(self, key: int) -> int:
        mask = len(self._slots) - 1
        at = key & mask
        while self._slots[at] not in (0, key):
            at = (at + 1) & mask
        return at

    def _grow(self) -> None:
        old = self._slots
        self._slots = array("Q", bytes(16 * len(old)))
        for key in old:
            if key:
                self._slots[self._find(key)] = key
