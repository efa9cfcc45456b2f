"""Which pair gets which bias."""

import math
from collections.abc import Sequence

import numpy as np

from ..core.ids import seed_from


def features_each(pairs: int, features: int) -> int:
    """How many features an answer takes so that each is in about 16 answers; 2 to 6, beyond which it is buried."""
    return min(6, max(2, math.ceil(16 * features / max(pairs, 1))))


def assign_features(
    pair_ids: Sequence[str], names: Sequence[str], each: int, *, seed: int, iteration: int
) -> dict[str, tuple[str, ...]]:
    """`each` different features for every pair, near-uniform: a screening design with chance balance.

    Depends on the ids, the names, the seed and the iteration, not on the order of the pairs.
    """
    generator = np.random.default_rng(seed_from("features", seed, iteration))
    known, each = sorted(names), min(each, len(names))
    deck: list[str] = []
    assigned = {}
    for pair in generator.permutation(sorted(pair_ids)):
        dealt: list[str] = []
        while len(dealt) < each:
            place = next((k for k, name in enumerate(deck) if name not in dealt), None)
            if place is None:
                deck += [str(name) for name in generator.permutation(known)]
            else:
                dealt.append(deck.pop(place))
        assigned[str(pair)] = tuple(dealt)
    return assigned


def assign_biases(pair_ids: Sequence[str], bias_ids: Sequence[str], *, seed: int, iteration: int) -> dict[str, str]:
    """One bias for every pair, near-uniform: each bias is drawn floor(n/k) or ceil(n/k) times.

    Depends on the ids, the seed and the iteration, not on the order of the pairs (paper section 2.2, sampling
    from the library).
    """
    generator = np.random.default_rng(seed_from("assign", seed, iteration))
    pairs = generator.permutation(sorted(pair_ids))
    biases = generator.permutation(list(bias_ids))
    return {str(pair): str(biases[k % len(biases)]) for k, pair in enumerate(pairs)}
