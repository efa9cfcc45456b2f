"""Source pairs that are nearly the same as an earlier one: MinHash in bands, of which only hashes are kept."""

import hashlib
from itertools import pairwise

import numpy as np
from datasketch import MinHash

from ...core.records import PreferencePair
from ...data.contamination import plain_words
from ...data.seen import Seen

_BANDS, _ROWS = 8, 16
"""Two texts share a band, and count as duplicates, with a chance of 1 - (1 - s^16)^8 for Jaccard similarity s of their
word pairs: 0.99 at 0.95, 0.81 at 0.9, 0.2 at 0.8, 0.02 at 0.7."""


class NearDuplicates:
    """Add-only; about 100 bytes a pair."""

    def __init__(self) -> None:
        self._seen = Seen()
        self._empty = MinHash(num_perm=_BANDS * _ROWS, seed=1)

    def add(self, pair: PreferencePair) -> bool:
        """Add a pair; False when an earlier one has nearly the same prompt, chosen and rejected answer."""
        words = plain_words(f"{pair.prompt}\n{pair.chosen}\n{pair.rejected}")
        shingles = {" ".join(two).encode() for two in pairwise(words)} or {" ".join(words).encode()}
        sketch = self._empty.copy()
        sketch.update_batch(list(shingles))
        bands = np.asarray(sketch.hashvalues, dtype=np.uint64).reshape(_BANDS, _ROWS)
        new = True
        for number, band in enumerate(bands):
            digest = hashlib.blake2b(bytes([number]) + band.tobytes(), digest_size=8).digest()
            new &= self._seen.add(int.from_bytes(digest, "big"))
        return new
