"""How much of a feature a text shows: compiled from the measures of a world file."""

import re
from collections.abc import Callable

from .spec import PhraseMeasure, RegexMeasure, ShapeMeasure
from .texts import pieces, words

Measured = Callable[[str, str], float]
"""(text, question) -> amount."""

_STOP = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "in",
        "on",
        "at",
        "to",
        "is",
        "are",
        "was",
        "be",
        "it",
        "and",
        "or",
        "how",
        "many",
        "which",
        "what",
        "if",
        "you",
        "does",
        "do",
        "will",
    ]
)


def compile_measure(spec: PhraseMeasure | RegexMeasure | ShapeMeasure) -> Measured:
    """A pure function of text and question."""
    if isinstance(spec, ShapeMeasure):
        return _SHAPES[spec.kind]
    count = _phrase_counter(spec.phrases) if isinstance(spec, PhraseMeasure) else _regex_counter(spec)
    where, per = spec.where, spec.per

    def measured(text: str, question: str) -> float:
        if where != "anywhere":
            parts = pieces(text)
            text = "" if not parts else parts[0 if where == "first_sentence" else -1].text
        found = count(text)
        if not found or per == "text":
            return float(found)
        return 100 * found / max(len(words(text)), 1) if per == "100_words" else found / max(len(pieces(text)), 1)

    return measured


def _phrase_counter(phrases: list[str]) -> Callable[[str], int]:
    # A plain substring search rejects nearly every phrase at a fraction of a regular expression's cost.
    patterns = [(p, re.compile(rf"(?<!\w){re.escape(p)}(?!\w)")) for p in (phrase.lower() for phrase in phrases)]

    def count(text: str) -> int:
        low = text.lower()
        return sum(len(pattern.findall(low)) for phrase, pattern in patterns if phrase in low)

    return count


def _regex_counter(spec: RegexMeasure) -> Callable[[str], int]:
    pattern = re.compile(spec.pattern, re.MULTILINE | (re.IGNORECASE if spec.ignore_case else 0))

    def count(text: str) -> int:
        return sum(1 for _ in pattern.finditer(text))

    return count


def _mean(values: list[int]) -> float:
    return sum(values) / len(values) if values else 0.0


def _repeated(text: str, question: str) -> float:
    found = [w for w in words(text) if w not in _STOP]
    return 1 - len(set(found)) / len(found) if found else 0.0


def _from_question(text: str, question: str) -> float:
    asked = {w for w in words(question) if w not in _STOP}
    found = [w for w in words(text) if w not in _STOP]
    return sum(w in asked for w in found) / len(found) if found else 0.0


_SHAPES: dict[str, Measured] = {
    "words": lambda text, question: float(len(text.split())),
    "sentences": lambda text, question: float(len(pieces(text))),
    "paragraphs": lambda text, question: float(len(re.findall(r"\n\s*\n", text.strip())) + 1),
    "sentence_length": lambda text, question: _mean([len(part.text.split()) for part in pieces(text)]),
    "word_length": lambda text, question: _mean([len(w) for w in words(text)]),
    "repeated_words": _repeated,
    "question_words": _from_question,
}
