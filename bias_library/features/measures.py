"""How much of a feature a text shows. All are linear in the text's length."""

import re
from collections.abc import Iterable

import regex

from ...core.words import word_count
from .anatomy import anatomy
from .feature import Measure
from .topics import topic_words

SHORTEST = 25
"""A rate is taken over at least so many words, so that one word more or less does not rule a short text."""
SHORT, LONG = 5, 32
"""Words of a short sentence at most, and of a long one at least."""
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})", re.MULTILINE)
_PLAIN_WORD = re.compile(r"[a-z]+")


def rate(count: float, words: int) -> float:
    """Per 100 words, over at least 25."""
    return 100.0 * count / max(words, SHORTEST)


def phrase_measure(phrases: Iterable[str], per_words: bool) -> Measure:
    """Counts phrases in the prose, in any case; a star at the end of one stands for any ending."""
    ordered = sorted({phrase.lower() for phrase in phrases}, key=lambda phrase: (-len(phrase), phrase))
    pattern = re.compile("|".join(map(_phrase, ordered)))

    def measure(text: str, question: str = "") -> float:
        form = anatomy(text)
        count = _matches(pattern, form.lowered)
        return rate(count, form.words) if per_words else float(count)

    return measure


def pattern_measure(pattern: str, per_words: bool, patience: float | None = None) -> Measure:
    """Counts matches of a regular expression in the prose; TimeoutError where that takes over `patience` seconds."""
    compiled = regex.compile(pattern)

    def measure(text: str, question: str = "") -> float:
        form = anatomy(text)
        count = sum(1 for _ in compiled.finditer(form.prose, timeout=patience))
        return rate(count, form.words) if per_words else float(count)

    return measure


def words(text: str, question: str = "") -> float:
    """Words, code included."""
    return float(word_count(text))


def short_sentences(text: str, question: str = "") -> float:
    """Finished sentences of 5 words at most, per 100 words."""
    form = anatomy(text)
    count = sum(s.closed and word_count(text[s.start : s.end]) <= SHORT for s in form.sentences)
    return rate(count, form.words)


def long_sentences(text: str, question: str = "") -> float:
    """Share of the words that stand in sentences of 32 words or more, in percent."""
    form = anatomy(text)
    lengths = [word_count(text[s.start : s.end]) for s in form.sentences if s.closed]
    return rate(sum(length for length in lengths if length >= LONG), form.words)


def paragraphs(text: str, question: str = "") -> float:
    """Paragraphs apart from list items, per 100 words."""
    form = anatomy(text)
    return rate(len({s.block for s in form.sentences if not s.listed}), form.words)


def code_blocks(text: str, question: str = "") -> float:
    """Fenced blocks."""
    return _matches(_FENCE, text) / 2


def question_echo(text: str, question: str = "") -> float:
    """Words of the question in the text, per 100 words; without a question, words of the text's first two sentences."""
    form = anatomy(text)
    asked = set(topic_words(text, question))
    return rate(sum(word in asked for word in _PLAIN_WORD.findall(form.lowered)), form.words)


MEASURES: dict[str, Measure] = {
    "words": words,
    "short_sentences": short_sentences,
    "long_sentences": long_sentences,
    "paragraphs": paragraphs,
    "code_blocks": code_blocks,
    "question_echo": question_echo,
}


def _matches(pattern: re.Pattern[str], text: str) -> int:
    return sum(1 for _ in pattern.finditer(text))


def _phrase(phrase: str) -> str:
    body = r"\s+".join(re.escape(part) for part in phrase.rstrip("*").split())
    start = r"\b" if phrase[0].isalnum() else ""
    end = r"\w*" if phrase.endswith("*") else r"\b" if phrase[-1].isalnum() else ""
    return f"{start}{body}{end}"
