"""Which feature a text about a bias means: by its names, else by its definition's words. And the world's embedder."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .draws import digest
from .spec import FeatureSpec
from .texts import words
from .wording import stock

_LABEL = re.compile(r"^\W*(?:name|bias|title|definition)\W*[:=]\s*", re.IGNORECASE)
_DIMENSIONS = 256
_SURE = 0.5


class Match(NamedTuple):
    """The feature meant, and how sure that is: 1 by name, less by the words of the definition."""

    feature: str
    score: float


class Recogniser:
    """Built once per world."""

    def __init__(self, features: Sequence[FeatureSpec]) -> None:
        self._names = {_bare(t): f.name for f in features for t in (f.name, f.title, *f.synonyms)}
        self._vague = {_bare(t) for f in features for t in f.vague}
        self._mentions = [
            (t.lower(), f.name) for f in features for t in dict.fromkeys((f.title, *f.synonyms)) if len(t) > 3
        ]
        documents = [
            (f.name, Counter(_content(text)))
            for f in features
            for text in (" ".join((f.title, *f.synonyms)), f.definition, *f.definitions)
        ]
        seen = Counter(word for word, _ in {(word, name) for name, document in documents for word in document})
        self._idf = {word: math.log(1 + len(features) / count) for word, count in seen.items()}
        self._documents = [(name, self._weigh(document)) for name, document in documents]
        self.match = lru_cache(maxsize=20_000)(self._match)
        self.embed = lru_cache(maxsize=5_000)(self._embed)

    def mentioned(self, text: str) -> set[str]:
        """The features that a text brings up by one of their names."""
        low = text.lower()
        return {feature for name, feature in self._mentions if name in low}

    def similarity(self, one: str, other: str) -> float:
        """Cosine of two texts' content words."""
        a, b = _unit(Counter(_content(one))), _unit(Counter(_content(other)))
        return sum(weight * b.get(word, 0.0) for word, weight in a.items())

    def _match(self, text: str) -> Match | None:
        head, *rest = [_LABEL.sub("", line).strip() for line in text.strip().splitlines()] or [""]
        for name in (head, re.split(r"[:(]| [-–—] ", head)[0]):
            if found := self._names.get(_bare(name)):
                return Match(found, 1.0)
        asked = self._weigh(Counter(_content(" ".join((head, *rest)))))
        scored = [
            (sum(weight * document.get(word, 0.0) for word, weight in asked.items()), name)
            for name, document in self._documents
        ]
        best, feature = max(scored)
        return Match(feature, min(best, 0.99)) if best >= _SURE else None

    def _weigh(self, counts: Counter[str]) -> dict[str, float]:
        # Words that no feature uses still count against a match: they are about something else.
        return _unit({word: (1 + math.log(n)) * self._idf.get(word, 2.0) for word, n in counts.items()})

    def _embed(self, text: str) -> tuple[float, ...]:
        vector = np.zeros(_DIMENSIONS)
        for word, weight in _unit(Counter(_content(text))).items():
            vector += weight * _direction("word", word)
        if found := self.match(text):
            head = _bare(re.split(r"[:(\n]| [-–—] ", text.strip())[0])
            vector *= 0.5
            vector += (0.6 if head in self._vague else 0.9) * _direction("feature", found.feature)
        norm = float(np.linalg.norm(vector))
        return tuple((vector / norm if norm else _direction("text", text)).tolist())


def _bare(name: str) -> str:
    kept = [w for w in words(name.replace("_", " ").replace("-", " ")) if w not in ("the", "bias", "effect", "a", "an")]
    return " ".join(kept)


def _content(text: str) -> list[str]:
    found = [w for w in words(text.replace("-", " ").replace("_", " ")) if w not in stock().common]
    return [w[:-1] if len(w) > 3 and w.endswith("s") and not w.endswith("ss") else w for w in found]


def _unit(weights: dict[str, float] | Counter[str]) -> dict[str, float]:
    norm = math.sqrt(sum(value * value for value in weights.values()))
    return {word: value / norm for word, value in weights.items()} if norm else {}


@lru_cache(maxsize=20_000)
def _direction(*parts: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    vector = np.random.default_rng(digest(*parts)).standard_normal(_DIMENSIONS)
    unit: np.ndarray[tuple[int], np.dtype[np.float64]] = vector / np.linalg.norm(vector)
    return unit
