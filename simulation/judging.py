"""The world's judge: it decides from question and answers alone."""

import math
import random
from typing import NamedTuple

from .compiled import Compiled
from .draws import generator, normal


class Reading(NamedTuple):
    """What the judge makes of one comparison; positive favours answer A. All in logits."""

    margin: float
    quality: float
    moved: dict[str, float]
    """By feature with a weight: its part in the margin."""


def read(world: Compiled, question: str, a: str, b: str) -> Reading:
    """Score both answers. The noise on each comes from its exact text, so that rewording can move a verdict."""
    judge, seed = world.spec.judge, world.spec.seed
    worth = judge.quality + judge.quality_spread * normal(seed, "worth", question)
    quality = worth * (world.correct(question, a) - world.correct(question, b))
    moved = difference(world, question, a, b, judge.weights)
    noise = judge.noise * (normal(seed, "noise", question, a) - normal(seed, "noise", question, b))
    return Reading(quality + sum(moved.values()) + noise + judge.position, quality, moved)


def difference(world: Compiled, question: str, a: str, b: str, weights: dict[str, float]) -> dict[str, float]:
    """By feature: weight times the saturating, standardised difference of its measure between the answers."""
    parts = {}
    for name, weight in weights.items():
        if weight:
            feature = world.features[name]
            gap = world.measure(name, a, question) - world.measure(name, b, question)
            parts[name] = weight * math.tanh(gap / feature.spec.scale)
    return parts


def verdict(world: Compiled, reading: Reading) -> str:
    """A, B or C (a tie)."""
    if abs(reading.margin) < world.spec.judge.tie_band:
        return "C"
    return "A" if reading.margin > 0 else "B"


def probabilities(world: Compiled, reading: Reading) -> dict[str, float]:
    """Of the letters A, B and C; the likeliest is the verdict."""
    a = 1 / (1 + math.exp(-max(min(reading.margin, 30.0), -30.0)))
    tie = 0.6 if verdict(world, reading) == "C" else 0.01
    return {"A": a * (1 - tie), "B": (1 - a) * (1 - tie), "C": tie}


def reasoning(world: Compiled, reading: Reading, letter: str, key: object) -> str:
    """A few sentences for a verdict: plain ones, the drivers under one of their names, now and then a red herring."""
    rng = generator(world.spec.seed, "reasoning", key)
    return " ".join(_sentences(world, reading, letter, rng, plain=2, most=2))


def explanation(world: Compiled, reading: Reading, letter: str, key: object) -> str:
    """The verdict defended at greater length: more drivers come up."""
    rng = generator(world.spec.seed, "explanation", key)
    return " ".join(["I stand by this choice.", *_sentences(world, reading, letter, rng, plain=3, most=4)])


def describe(world: Compiled, reading: Reading, rng: random.Random, plain: int, most: int) -> str:
    """Sentences on an answer that was looked at alone; the drivers of a liking come up under one of their names."""
    said = _sentences(world, reading, "A", rng, plain=0, most=most)
    general = rng.sample(_ALONE, min(plain, len(_ALONE)))
    return " ".join(
        [
            *general[:1],
            *(s.replace("answer A", "this answer").replace("answer B", "others") for s in said),
            *general[1:],
        ]
    )


_ALONE = [
    "The answer takes up what was asked.",
    "I went through it from top to bottom.",
    "Taken as a whole it makes a clear impression.",
    "It can be followed without effort.",
]


def _sentences(world: Compiled, reading: Reading, letter: str, rng: random.Random, plain: int, most: int) -> list[str]:
    judge, stock = world.spec.judge, world.wording
    sign = -1.0 if letter == "B" else 1.0
    fills = {"{w}": "B" if letter == "B" else "A", "{l}": "A" if letter == "B" else "B"}
    drivers = sorted(
        (f for f, part in reading.moved.items() if part * sign > 0.05), key=lambda f: -abs(reading.moved[f])
    )
    brought_up = [f for f in drivers[:most] if rng.random() < judge.mentions]
    if rng.random() < judge.red_herrings:
        brought_up.append(rng.choice(list(world.features)))
    found = rng.sample(stock.reasons, min(plain, len(stock.reasons)))
    for name in brought_up:
        feature = world.features[name].spec
        what = rng.choice([feature.title, *feature.synonyms])
        found.insert(rng.randint(min(1, len(found)), len(found)), rng.choice(stock.drivers).replace("{what}", what))
    text = found
    for mark, filled in fills.items():
        text = [sentence.replace(mark, filled) for sentence in text]
    return text
