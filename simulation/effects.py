"""What a perfect study would find: the true effect of every feature of a world, by brute force."""

from collections.abc import Sequence
from statistics import NormalDist

from ..core.records import PreferencePair
from .compiled import Compiled
from .draws import normal
from .judging import difference
from .teaching import rewrite

_NORMAL = NormalDist()


def true_effects(world: Compiled, pairs: Sequence[PreferencePair], n: int | None = None) -> dict[str, float]:
    """By feature: error rate with it written in minus error rate of the placebo, in points, on the first `n` pairs.

    Both orders count. The judge's noise is integrated out instead of drawn, so that what is left is what the feature
    does, with the teacher's imperfect success in it; the pairs are taken as given.
    """
    used = pairs[:n]
    total = dict.fromkeys(world.features, 0.0)
    for pair in used:
        neutral = wrong_rate(world, pair, rewrite(world, pair.prompt, pair.rejected, None))
        for name, feature in world.features.items():
            bias = f"{feature.spec.title}\n{feature.spec.definition}"
            total[name] += wrong_rate(world, pair, rewrite(world, pair.prompt, pair.rejected, bias)) - neutral
    return {name: 100 * value / max(len(used), 1) for name, value in total.items()}


def wrong_rate(world: Compiled, pair: PreferencePair, rejected: str) -> float:
    """Chance, over the judge's noise and both orders, that a verdict that is no tie prefers this rejected text."""
    judge, question = world.spec.judge, pair.prompt
    worth = judge.quality + judge.quality_spread * normal(world.spec.seed, "worth", question)
    lead = worth * (world.correct(question, rejected) - world.correct(question, pair.chosen))
    lead += sum(difference(world, question, rejected, pair.chosen, judge.weights).values())
    spread = max(judge.noise * 2**0.5, 1e-9)
    wrong = right = 0.0
    for position in (judge.position, -judge.position):
        wrong += _NORMAL.cdf((lead + position - judge.tie_band) / spread)
        right += _NORMAL.cdf((-lead - position - judge.tie_band) / spread)
    return wrong / (wrong + right)
