"""The world's judge on answers that are not shown side by side: grades, passes, rubrics and rankings.

It likes an answer as much as it would against an empty one, so that its planted weights show in all of these.
"""

import math
import re
from typing import Any

from .compiled import Compiled
from .draws import generator
from .judging import Reading, describe, read
from .wire import Asked

_SCALE = re.compile(r"from (-?\d+)(?: \([^)]*\))? to (-?\d+)")
_SPREAD = 1.5
"""Logits of liking that take a grade from the middle of its scale to about three quarters."""


def liking(world: Compiled, question: str, answer: str) -> Reading:
    """What the judge makes of one answer by itself, position apart."""
    found = read(world, question, answer, "")
    return found._replace(margin=found.margin - world.spec.judge.position)


def _share(world: Compiled, found: Reading) -> float:
    """How far up its scale an answer comes, in (0, 1); what being right is worth on average is the middle."""
    return 1 / (1 + math.exp(-max(min((found.margin - world.spec.judge.quality) / _SPREAD, 30.0), -30.0)))


def grade(world: Compiled, asked: Asked) -> tuple[str, dict[str, float] | None]:
    """The reply to a request about one answer, with the probabilities of its first token where it is a token alone."""
    question, answer = asked.fields.get("question", ""), asked.fields["graded_answer"]
    found = liking(world, question, answer)
    brief = asked.max_tokens is not None and asked.max_tokens <= 16
    scale = _SCALE.search(asked.last)
    if scale is None:
        passes = _share(world, found)
        if brief:
            return ("Yes" if passes >= 0.5 else "No"), {"Yes": passes, "No": 1 - passes}
        return f"{_reasons(world, found, asked)}\n\n[[{'PASS' if passes >= 0.5 else 'FAIL'}]]", None
    low, high = int(scale[1]), int(scale[2])
    place = low + (high - low) * _share(world, found)
    score = round(place)
    if brief:
        masses = {str(k): math.exp(-((k - place) ** 2)) for k in range(low, high + 1)}
        total = sum(masses.values())
        return str(score), {k: mass / total for k, mass in masses.items()}
    return f"{_reasons(world, found, asked)}\n\n[[{score}]]", None


def rubric(world: Compiled, asked: Asked) -> dict[str, Any]:
    """The same score and reasons under every criterion that the schema asks for."""
    found = liking(world, asked.fields.get("question", ""), asked.fields["graded_answer"])
    scale = _SCALE.search(asked.last)
    low, high = (int(scale[1]), int(scale[2])) if scale else (1, 5)
    score = round(low + (high - low) * _share(world, found), 2)
    line = {"reason": _reasons(world, found, asked), "score": score}
    return {name: dict(line) for name in asked.schema.get("properties", {})}


def ranking(world: Compiled, asked: Asked) -> str:
    """All answers, best liked first."""
    answers, question = asked.numbered("ranked"), asked.fields.get("question", "")
    margins = [liking(world, question, answer).margin for answer in answers]
    order = sorted(range(len(answers)), key=lambda k: -margins[k])
    best = liking(world, question, answers[order[0]])
    return f"{_reasons(world, best, asked)}\n\n[[{' > '.join(str(k + 1) for k in order)}]]"


def defence(world: Compiled, asked: Asked) -> str:
    """The grade or ranking defended at greater length."""
    texts = asked.numbered("ranked") or [asked.fields["graded_answer"]]
    found = max((liking(world, asked.fields.get("question", ""), text) for text in texts), key=lambda r: r.margin)
    return describe(world, found, generator(world.spec.seed, "defence", asked.key), plain=3, most=4)


def _reasons(world: Compiled, found: Reading, asked: Asked) -> str:
    return describe(world, found, generator(world.spec.seed, "grading", asked.key), plain=2, most=2)
