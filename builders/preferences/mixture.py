"""Which pair gets which bias, and which none: shares that hold in every stretch of a stream."""

import numpy as np

from ...core.ids import seed_from

_BLOCK = 128


class Mixture:
    """Draws keys for the positions of a stream. In every 128 of them each key comes as often as its share says, to
    within one on average; which position gets which is random. Depends on seed and position only.
    """

    def __init__(self, shares: dict[str, float], seed: int) -> None:
        if not shares or min(shares.values()) < 0 or sum(shares.values()) <= 0:
            raise ValueError(f"shares: {shares!r} are no mixture; give weights of at least 0 that do not add up to 0")
        self._keys = [key for key, share in sorted(shares.items()) if share > 0]
        weights = np.array([shares[key] for key in self._keys])
        self._edges = np.cumsum(weights / weights.sum())
        self._seed = seed
        self._number = -1
        self._block: list[str] = []

    def at(self, position: int) -> str:
        """The key of a position, counted from 0."""
        number, place = divmod(position, _BLOCK)
        if number != self._number:
            self._number, self._block = number, self._drawn(number)
        return self._block[place]

    def _drawn(self, number: int) -> list[str]:
        generator = np.random.default_rng(seed_from("mixture", self._seed, number))
        points = (np.arange(_BLOCK) + generator.random()) / _BLOCK
        found = np.minimum(np.searchsorted(self._edges, points, side="right"), len(self._keys) - 1)
        return [self._keys[k] for k in generator.permutation(found)]
