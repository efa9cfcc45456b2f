"""What a judge's text is worth in training: the right verdict, and reasons before it (METHOD section 7).

The verdict is read by the strict parser that reads judges everywhere else: a text that takes its marker back, repeats
one from an answer or has two in one breath earns nothing.
"""

import re

from .verdict_text import visible
from .verdicts import Outcome, parse_verdict

LETTERS: dict[str, Outcome] = {"A": "first", "B": "second", "C": "tie"}
_LAST = re.compile(r"(?s)(.*\S)\s*\n\s*\[\[[ABC]\]\]\s*")
_WORDS = re.compile(r"\w+")
REASONS = 12
"""Words that the reasoning must have at least."""


def right_verdict(text: str, letter: str, answers: tuple[str, str] = ("", "")) -> bool:
    """Whether the verdict can be read and is `letter` (A, B or C)."""
    return parse_verdict("brackets", text, answers=answers).value == LETTERS[letter]


def well_formed(text: str, letter: str = "", answers: tuple[str, str] = ("", "")) -> bool:
    """Reasoning of at least REASONS words, then the verdict alone on the last line, and no other verdict before it."""
    found = _LAST.fullmatch(visible(text))
    return found is not None and "[[" not in found[1] and len(_WORDS.findall(found[1])) >= REASONS


def reward(text: str, letter: str, answers: tuple[str, str] = ("", "")) -> float:
    """0.9 x [verdict right] + 0.1 x [format], the weights of JudgeBiasBench."""
    return 0.9 * right_verdict(text, letter, answers) + 0.1 * well_formed(text)
