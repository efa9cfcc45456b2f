"""The source pairs that training data are made from, one at a time: without duplicates and without test prompts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...core.ids import seed_from
from ...core.records import Bias, PreferencePair
from ...data.contamination import PromptIndex
from .duplicates import NearDuplicates
from .mixture import Mixture
from .settings import PreferenceSettings

ORIGINALS = ""
"""The key of pairs that stay as they are, in a mixture."""


class Planned(NamedTuple):
    """A source pair and what is to be done with its rejected answer."""

    pair: PreferencePair
    biases: tuple[Bias, ...]
    """To be written into it, each by itself; none: it stays as it is."""
    nth: int
    """How many earlier pairs have the same first bias, or none like this one."""

    @property
    def bias(self) -> Bias | None:
        """The first bias."""
        return self.biases[0] if self.biases else None

    @property
    def subject(self) -> str:
        """How rows about it name it."""
        return " ".join((self.pair.id, *(f"bias:{bias.id}" for bias in self.biases)))


class LeftOut(NamedTuple):
    """A source pair that is no candidate."""

    pair: PreferencePair
    reason: str
    detail: str


def planned_pairs(
    pairs: Iterable[PreferencePair],
    biases: Sequence[Bias],
    tests: PromptIndex,
    settings: PreferenceSettings,
    *,
    each: int,
    seed: int,
    leave_out: Callable[[LeftOut], None],
) -> Iterator[Planned]:
    """The plan of a stream: the candidates, of which the mixture says what each gets (`each` different biases, or all
    there are). It depends on the stream, the biases and the seed alone. `leave_out` hears of every other pair.
    """
    by_id = {bias.id: bias for bias in sorted(biases, key=lambda bias: bias.id)}
    weights = {bias.id: settings.weights.get(bias.id, settings.weights.get(bias.name, 1.0)) for bias in by_id.values()}
    usable = [bias_id for bias_id, weight in weights.items() if weight > 0]
    touched = (1 - settings.original_share) / max(sum(weights.values()), 1e-12)
    mixture = Mixture({ORIGINALS: settings.original_share} | {i: touched * w for i, w in weights.items()}, seed)
    seen = NearDuplicates() if settings.near_duplicates else None
    position = 0
    counts: Counter[str] = Counter()
    for pair in pairs:
        if (overlap := tests.find(pair.prompt)) is not None:
            detail = f"{100 * overlap.share:.0f} % of a prompt of {overlap.where}"
            leave_out(LeftOut(pair, f"{overlap.kind} prompt as a test pair", detail))
            continue
        if seen is not None and not seen.add(pair):
            leave_out(LeftOut(pair, "near duplicate of an earlier pair", ""))
            continue
        key = mixture.at(position)
        yield Planned(pair, tuple(by_id[i] for i in _drawn(key, usable, weights, each, seed, pair.id)), counts[key])
        position += 1
        counts[key] += 1


def _drawn(
    first: str, usable: Sequence[str], weights: Mapping[str, float], each: int, seed: int, pair_id: str
) -> list[str]:
    """The mixture's bias and `each` - 1 others, by weight."""
    others = [i for i in usable if i != first]
    if first == ORIGINALS or each == 1 or not others:
        return [] if first == ORIGINALS else [first]
    generator = np.random.default_rng(seed_from("biases", seed, pair_id))
    odds = np.array([weights[i] for i in others])
    more = generator.choice(len(others), size=min(each - 1, len(others)), replace=False, p=odds / odds.sum())
    return [first, *(others[k] for k in more)]
