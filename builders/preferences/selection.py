"""Which units of a training set are kept, and which are for validation: counted, not sampled, and in flat memory."""

from array import array

import numpy as np
import numpy.typing as npt

from ...core.ids import seed_from
from ...data.contamination import prompt_key
from .settings import PreferenceSettings
from .units import Unit

Flags = npt.NDArray[np.bool_]


class Ledger:
    """What a selection needs to know of each unit: 18 bytes."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._original = array("b")
        self._longer = array("b")
        self._rank = array("Q")
        self._prompt = array("Q")

    def __len__(self) -> int:
        return len(self._rank)

    def add(self, unit: Unit) -> None:
        """The next unit."""
        self._original.append(not unit.biases)
        self._longer.append(unit.longer)
        self._rank.append(seed_from("keep", self._seed, unit.pair.id))
        self._prompt.append(prompt_key(unit.pair.prompt))

    def keep(self, settings: PreferenceSettings) -> Flags:
        """The units that are kept: lengths balanced where that is asked for, then untouched pairs down to their share.

        Those with the lowest seeded hash stay.
        """
        original = np.array(self._original, dtype=bool)
        longer = np.array(self._longer, dtype=np.int8)
        rank = np.array(self._rank, dtype=np.uint64)
        kept = np.ones(len(rank), dtype=bool)
        if settings.length.balance:
            for group in (original, ~original):
                sides = [group & (longer == sign) for sign in (1, -1)]
                most = min(int(side.sum()) for side in sides)
                for side in sides:
                    _thin(kept, side, rank, most)
        touched = int((kept & ~original).sum())
        if settings.original_share < 1:
            share = settings.original_share
            _thin(kept, kept & original, rank, round(share / (1 - share) * touched))
        return kept

    def validation(self, kept: Flags, settings: PreferenceSettings) -> Flags:
        """Of the kept units, those whose prompts are for validation: all units of a prompt or none."""
        prompts = np.array(self._prompt, dtype=np.uint64)
        distinct = np.unique(prompts[kept])
        count = min(round(settings.validation_share * len(distinct)), settings.validation_most)
        ranks = np.array([seed_from("validation", self._seed, int(key)) for key in distinct], dtype=np.uint64)
        chosen: Flags = kept & np.isin(prompts, distinct[np.argsort(ranks)[:count]])
        return chosen


def _thin(kept: Flags, among: Flags, rank: npt.NDArray[np.uint64], most: int) -> None:
    """Keep at most so many of `among`."""
    places = np.flatnonzero(among)
    kept[places[np.argsort(rank[places])[most:]]] = False
