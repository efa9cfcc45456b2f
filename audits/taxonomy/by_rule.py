"""The consistency filter without a model: whether an edit may have changed more than it was asked to.

Stands in for the verifier of JudgeBiasBench (section 3.3) where edits inject: what they may not touch can be counted.
It cannot tell whether the better answer is still the better one, only that nothing is gone that made it so.
"""

import re
from collections import Counter

from ...validators.text_controls import length_ratio
from .entries import Entry

KEPT_REJECTED, KEPT_CHOSEN = 0.9, 0.7
"""Share of an answer's words that must still be there. More may go from the chosen one, out of which the feature is
taken."""
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def consistent(entry: Entry) -> bool:
    """Both answers keep their words, the rejected one its numbers too, in order; and the injected pair is still within
    the bias's length ratio, so that the feature is not told by length alone."""
    base, made, bias = entry.base, entry.pair, entry.bias
    return (
        kept(base.rejected, made.rejected) >= KEPT_REJECTED
        and kept(base.chosen, made.chosen) >= KEPT_CHOSEN
        and in_order(_NUMBER.findall(base.rejected), _NUMBER.findall(made.rejected))
        and (bias.ratio is None or length_ratio(made.rejected, made.chosen) <= bias.ratio)
    )


def kept(before: str, after: str) -> float:
    """Share of the words of `before`, each as often as it stands there, that are in `after`; 1 without words."""
    words = Counter(_WORD.findall(before.casefold()))
    total = words.total()
    return (words & Counter(_WORD.findall(after.casefold()))).total() / total if total else 1.0


def in_order(wanted: list[str], there: list[str]) -> bool:
    """Whether `there` holds all of `wanted` in that order, with others between."""
    rest = iter(there)
    return all(one in rest for one in wanted)
