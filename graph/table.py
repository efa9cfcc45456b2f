"""What a test knows of its pairs: the outcome of each arm, in the order in which pairs are taken."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..core.records import PreferencePair


class Cell(NamedTuple):
    """What is kept of one arm of one pair."""

    wrong: float = math.nan
    by_order: tuple[float, ...] = ()
    perturbation_id: str = ""
    words: int = 0
    became_right: bool = False


EMPTY = Cell()


@dataclass
class Table:
    """Outcomes by arm and pair."""

    pairs: list[PreferencePair]
    cells: dict[str, dict[str, Cell]]
    taken: int = 0

    def column(self, arm: str) -> list[Cell]:
        """The arm's cells for the pairs taken so far."""
        cells = self.cells.get(arm, {})
        return [cells.get(pair.id, EMPTY) for pair in self.pairs[: self.taken]]

    def wrong(self, arm: str) -> npt.NDArray[np.float64]:
        """Outcomes with the pairs whose rewrite became right as missing."""
        return np.array([math.nan if c.became_right else c.wrong for c in self.column(arm)], dtype=np.float64)

    def changed(self, *arms: str) -> npt.NDArray[np.bool_]:
        """True where the rewrite of one of these arms has become right: the pair leaves all arms of the contrast."""
        left = np.zeros(self.taken, dtype=np.bool_)
        for arm in arms:
            left |= np.array([c.became_right for c in self.column(arm)], dtype=np.bool_)
        return left
