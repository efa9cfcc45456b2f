"""Seeded draws: every chance event of a world is a function of its seed and of the texts that it concerns."""

import random
from hashlib import blake2b
from statistics import NormalDist

_NORMAL = NormalDist()


def digest(*parts: object) -> int:
    """A 64-bit integer from the parts' text, in order."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def uniform(*parts: object) -> float:
    """A number in (0, 1)."""
    return ((digest(*parts) >> 12) + 0.5) / 2**52


def normal(*parts: object) -> float:
    """A standard normal number."""
    return _NORMAL.inv_cdf(uniform(*parts))


def generator(*parts: object) -> random.Random:
    """A generator for a sequence of choices."""
    return random.Random(digest(*parts))  # no cryptography here
