"""The world's own preference pairs: computable questions, one right and one wrong answer, in plain prose."""

import random

from ..core.ids import content_id
from ..core.records import PreferencePair
from .draws import generator
from .edits import write
from .puzzles import PUZZLES
from .spec import Domain
from .wording import stock
from .world import World


def world_pairs(world: World, n: int = 800, seed: int = 0) -> list[PreferencePair]:
    """`n` different pairs, domains in turn; prose of about 40 to 120 words, features added at their natural rates."""
    pairs: dict[str, PreferencePair] = {}
    draw = 0
    while len(pairs) < n:
        domain = world.spec.domains[len(pairs) % len(world.spec.domains)]
        pair = _pair(world, domain, generator("pair", world.spec.seed, seed, draw))
        pairs.setdefault(pair.id, pair)
        draw += 1
    return list(pairs.values())


def _pair(world: World, domain: Domain, rng: random.Random) -> PreferencePair:
    puzzle = PUZZLES[domain]
    question = puzzle.make(rng)
    match = puzzle.pattern.search(question)
    assert match is not None
    right = puzzle.solve(match)
    wrong = right
    while wrong.lower() == right.lower():
        wrong = puzzle.slip(match, right.lower(), rng)
    chosen, rejected = (_answer(world, question, puzzle.working(match), final, rng) for final in (right, wrong))
    return PreferencePair(
        id=content_id("pair", question, chosen, rejected),
        prompt=question,
        chosen=chosen,
        rejected=rejected,
        domain=domain,
        source=f"world:{world.name}",
    )


def _answer(world: World, question: str, working: list[list[str]], final: str, rng: random.Random) -> str:
    words = stock()
    body = [rng.choice(words.openings)]
    remarks = rng.sample(words.remarks, rng.randint(3, 7))
    for step in working:
        body += [rng.choice(step), *(remarks.pop() for _ in range(min(len(remarks), rng.randint(0, 2))))]
    text = " ".join([*body, *remarks]) + f"\nFinal answer: {final}"
    for feature in world.features.values():
        if rng.random() < feature.spec.natural:
            text = write(text, question, feature.spec.write, rng, world.plain, light=True)
    return text
