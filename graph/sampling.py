"""Which pair gets which bias."""

from collections.abc import Sequence

import numpy as np

from ..core.ids import seed_from


def assign_biases(pair_ids: Sequence[str], bias_ids: Sequence[str], *, seed: int, iteration: int) -> dict[str, str]:
    """One bias for every pair, near-uniform: each bias is drawn floor(n/k) or ceil(n/k) times.

    Depends on the ids, the seed and the iteration, not on the order of the pairs (paper section 2.2, sampling
    from the library).
    """
    generator = np.random.default_rng(seed_from("assign", seed, iteration))
    pairs = generator.permutation(sorted(pair_ids))
    biases = generator.permutation(list(bias_ids))
    return {str(pair): str(biases[k % len(biases)]) for k, pair in enumerate(pairs)}
