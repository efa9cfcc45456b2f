"""Is a training prompt one of a test set, word for word or nearly? Both sides are compared without case and marks.

Nearly: it holds a share of the test prompt's sequences of eight words. So a test question inside a longer prompt is
found too, which a similarity of the whole texts would miss. Memory grows with the test prompts only.
"""

import re
from collections import Counter, defaultdict
from typing import Literal, NamedTuple

from ..core.ids import content_id

_WORD = re.compile(r"\w+")
_GRAM = 8


class Overlap(NamedTuple):
    """A prompt that is in a test set."""

    kind: Literal["same", "near"]
    where: str
    """Which test set."""
    share: float
    """Of the test prompt's word sequences, 0-1."""


class PromptIndex:
    """The prompts of test sets, or of whatever must not be met in training."""

    def __init__(self, share: float = 0.8) -> None:
        self._share = share
        self._same: dict[int, str] = {}
        self._grams: dict[int, list[int]] = defaultdict(list)
        self._sizes: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._same)

    def add(self, prompt: str, where: str) -> None:
        """Add one prompt; `where` names its test set."""
        words = plain_words(prompt)
        key = _key(" ".join(words))
        if key in self._same:
            return
        self._same[key] = where
        grams = _grams(words)
        for gram in grams:
            self._grams[gram].append(len(self._sizes))
        self._sizes.append((len(grams), where))

    def find(self, prompt: str) -> Overlap | None:
        """The test prompt that `prompt` is or holds, or None."""
        words = plain_words(prompt)
        if (where := self._same.get(_key(" ".join(words)))) is not None:
            return Overlap("same", where, 1.0)
        shared = Counter(number for gram in _grams(words) for number in self._grams.get(gram, ()))
        best: Overlap | None = None
        for number, count in sorted(shared.items()):
            size, where = self._sizes[number]
            if count >= self._share * size and (best is None or count / size > best.share):
                best = Overlap("near", where, count / size)
        return best


def plain_words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return _WORD.findall(text.casefold())


def prompt_key(prompt: str) -> int:
    """63 bits that prompts share when they differ in case, spaces and marks at most."""
    return _key(" ".join(plain_words(prompt)))


def _grams(words: list[str]) -> set[int]:
    """Hashes of all sequences of eight words; none for a shorter text, which only counts when it is the same."""
    return {_key(" ".join(words[k : k + _GRAM])) for k in range(len(words) - _GRAM + 1)}


def _key(text: str) -> int:
    return int(content_id(text)[:16], 16) >> 1
