"""The placebo of the lexicon's edits: neutral sentences, put in the same places."""

import functools
import random
from pathlib import Path

import yaml

from ...core.words import word_count
from .edits import doses, pick, place
from .feature import Feature
from .templates import fill

WORDS_PER_DOSE = 10
"""An insertion of the lexicon has about so many words."""
LEAST_TOP_UP = 4
"""Words that an edit may fall short of the placebo."""


def neutral_words(text: str) -> int:
    """Words that an edit of the lexicon typically adds to `text`."""
    return WORDS_PER_DOSE * doses(text)


def write_neutral(text: str, rng: random.Random, words: int, question: str = "") -> str:
    """`text` with about `words` words (give or take 3) of neutral sentences between its own: an edit without a feature.

    Inserted like the features' sentences, never into code and before the sentence that ends the text; at least one
    sentence, also for `words` below its length.
    """
    sentences, left = [], words
    while left > 0:
        filled = [fill(line, {}, rng, text, question) for line in pick(_lines(), len(_lines()), rng, text)]
        for sentence in filled:
            length = len(sentence.split())
            if left <= 16:
                sentence = min(filled, key=lambda s: abs(len(s.split()) - left))
                length = left
            sentences.append(sentence)
            left -= length
            if left <= 3:
                return place(text, sentences, rng)
    return place(text, sentences or [fill(_lines()[0], {}, rng, text, question)], rng)


def write_matched(feature: Feature, text: str, rng: random.Random, question: str = "") -> str:
    """`feature` written into `text`, topped up with neutral sentences to the placebo's length where it is shorter.

    Bold print adds no word and the placebo does: without this, a judge that likes length would seem to dislike bold.
    Features about length, of the text or of its sentences, are left as they are when they add more.
    """
    seed = rng.getrandbits(64)
    edited = feature.write(text, random.Random(seed), question)
    short = neutral_words(text) - (word_count(edited) - word_count(text))
    if short < LEAST_TOP_UP:
        return edited
    return feature.write(write_neutral(text, rng, short, question), random.Random(seed), question)


@functools.cache
def _lines() -> tuple[str, ...]:
    path = Path(__file__).parent / "neutral.yaml"
    return tuple(yaml.safe_load(path.read_text(encoding="utf-8")))
