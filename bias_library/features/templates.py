"""Filling templates and putting them into a text: the usual writer."""

import random
import re
from collections.abc import Mapping, Sequence

from .edits import append_to, doses, open_with, pick, place
from .spec import SLOT, WriteSpec
from .topics import NO_SUBJECT, subjects, topic_words


def count_for(spec: WriteSpec, text: str) -> int:
    """How many insertions the edit makes in `text`."""
    if spec.at != "spread":
        return 2 if spec.strength >= 2 else 1
    return max(1, round(doses(text) * spec.strength))


def write_templates(spec: WriteSpec, text: str, rng: random.Random, question: str = "") -> str:
    """Openings and endings where sentences can take them, whole sentences for the rest."""
    missing = count_for(spec, text)
    original = text
    for words, put in ((spec.openings, open_with), (spec.endings, append_to)):
        if words and missing:
            text, missing = put(text, filled(spec, words, missing, rng, original, question), rng)
    return place(text, filled(spec, spec.templates, missing, rng, original, question), rng, spec.at)


def filled(
    spec: WriteSpec, templates: Sequence[str], count: int, rng: random.Random, text: str, question: str = ""
) -> list[str]:
    """`count` of `templates` with their slots filled, those that `text` does not hold yet first."""
    chosen = pick(templates, count, rng, text)
    return [fill(template, spec.slots, rng, text, question) for template in chosen]


def fill(
    template: str, slots: Mapping[str, Sequence[str]], rng: random.Random, text: str = "", question: str = ""
) -> str:
    """`template` with every slot filled; `word`, `word2` and `word3` are different words where there are enough."""
    words = list(topic_words(text, question)) or [NO_SUBJECT]
    drawn = rng.sample(words, min(3, len(words)))
    own = {"topic": rng.choice(subjects(text, question))}
    own |= {name: drawn[i % len(drawn)] for i, name in enumerate(("word", "word2", "word3"))}

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        return rng.choice(slots[name]) if name in slots else own[name]

    return SLOT.sub(value, template)
