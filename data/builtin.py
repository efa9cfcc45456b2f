"""Verifiable preference pairs made on the spot: right and wrong by construction, in four domains.

Pair i of a seed and domain is always the same, so a longer list begins with the shorter one. The rejected answer
holds one slip, carried through to a wrong final answer; both answers draw their wording from the same stock.
"""

import random
from collections.abc import Callable, Sequence
from typing import Literal

from ..core.errors import DataError
from ..core.ids import content_id, seed_from
from ..core.records import PreferencePair
from . import builtin_code, builtin_knowledge, builtin_logic, builtin_math
from .builtin_prose import Problem, compose

BUILTIN = "builtin"
DEFAULT_SIZE = 400
MOST = 4000
Domain = Literal["math", "logic", "knowledge", "code"]

_KINDS: dict[Domain, Sequence[Callable[[random.Random], Problem]]] = {
    "math": builtin_math.KINDS,
    "logic": builtin_logic.KINDS,
    "knowledge": builtin_knowledge.KINDS,
    "code": builtin_code.KINDS,
}


def builtin_pairs(
    n: int = DEFAULT_SIZE, seed: int = 0, domains: Sequence[Domain] | None = None
) -> list[PreferencePair]:
    """`n` distinct pairs, the domains in turn.

    `meta` holds kind, right_answer, wrong_answer and facts (JSON: what the truth follows from). Answers have 40 to 250
    words. At most 4,000 pairs; raises DataError beyond, and for a domain that is not there.
    """
    names = tuple(_KINDS) if domains is None else tuple(domains)
    unknown = [d for d in names if d not in _KINDS]
    if unknown or not names:
        raise DataError(f"built-in data: unknown domains {unknown}: choose from {list(_KINDS)}")
    if n > MOST:
        raise DataError(f"built-in data: {n} pairs asked, at most {MOST} can be made: lower the limit")
    made: list[PreferencePair] = []
    used: set[str] = set()
    tries = dict.fromkeys(names, 0)
    while len(made) < n:
        domain = names[len(made) % len(names)]
        pair = _make(domain, seed, tries[domain])
        tries[domain] += 1
        if pair.prompt not in used:
            used.add(pair.prompt)
            made.append(pair)
    return made


def _make(domain: Domain, seed: int, number: int) -> PreferencePair:
    rng = random.Random(seed_from("builtin", domain, seed, number))
    kinds = _KINDS[domain]
    problem = kinds[number % len(kinds)](rng)
    # Two independent draws from the same stock of wordings.
    right, wrong = (compose(rng, s) for s in (problem.right, problem.wrong))
    return PreferencePair(
        id=content_id("pair", problem.prompt, right, wrong),
        prompt=problem.prompt,
        chosen=right,
        rejected=wrong,
        domain=domain,
        source=BUILTIN,
        source_id=f"{domain}-{seed}-{number}",
        meta={
            "kind": problem.kind,
            "right_answer": problem.right.answer,
            "wrong_answer": problem.wrong.answer,
            "facts": problem.facts,
        },
    )
