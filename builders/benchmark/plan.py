"""Which biases are written into which source pair."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.ids import seed_from
from ...core.records import Bias, PreferencePair


@dataclass(frozen=True)
class Variant:
    """A source pair and the bias that its rejected answer is to show."""

    pair: PreferencePair
    bias: Bias

    @property
    def subject(self) -> str:
        """How rows about it name it."""
        return f"{self.pair.id} bias:{self.bias.id}"


def plan_variants(pairs: Sequence[PreferencePair], biases: Sequence[Bias], each: int, seed: int) -> list[Variant]:
    """`each` different biases for every pair (all of them when there are fewer), each bias as often as any other.

    Depends on ids and seed, not on the order of pairs or biases; biases differ in use by one at most.
    """
    each = min(each, len(biases))
    generator = np.random.default_rng(seed_from("variants", seed))
    by_id = {bias.id: bias for bias in biases}
    ordered = [by_id[i] for i in generator.permutation(sorted(by_id))]
    places = {pair_id: k for k, pair_id in enumerate(generator.permutation(sorted(p.id for p in pairs)))}
    return [Variant(pair, ordered[(places[pair.id] * each + k) % len(ordered)]) for pair in pairs for k in range(each)]
