"""The placebo of the lexicon's edits: neutral sentences, put in the same places."""

import functools
import random
from pathlib import Path

import yaml

from .edits import doses, pick, place
from .templates import fill
from .topics import topic_words

WORDS_PER_DOSE = 10
"""An insertion of the lexicon has about so many words."""


def neutral_words(text: str) -> int:
    """Words that an edit of the lexicon typically adds to `text`."""
    return WORDS_PER_DOSE * doses(text)


def write_neutral(text: str, rng: random.Random, words: int, question: str = "") -> str:
    """`text` with about `words` words (give or take 3) of neutral sentences between its own: an edit without a feature.

    Inserted like the features' sentences, never into code and before the sentence that ends the text; at least one
    sentence, also for `words` below its length.
    """
    topics = topic_words(text, question)
    sentences, left = [], words
    while left > 0:
        filled = [fill(line, {}, rng, topics) for line in pick(_lines(), len(_lines()), rng, text)]
        for sentence in filled:
            length = len(sentence.split())
            if left <= 16:
                sentence = min(filled, key=lambda s: abs(len(s.split()) - left))
                length = left
            sentences.append(sentence)
            left -= length
            if left <= 3:
                return place(text, sentences, rng)
    return place(text, sentences or [fill(_lines()[0], {}, rng, topics)], rng)


@functools.cache
def _lines() -> tuple[str, ...]:
    path = Path(__file__).parent / "neutral.yaml"
    return tuple(yaml.safe_load(path.read_text(encoding="utf-8")))
