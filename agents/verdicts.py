"""Read a judge's verdict from its text: the last well-formed marker, never a guess.

A format is a name and a pure parse function in `FORMATS`. What a marker says is not believed when the text takes it
back: quoted, negated, conditional, contradicted, repeated from the judged answers, or two markers in one breath.
Then the verdict has no value and a reason; asking again is cheaper than a wrong side. Time is linear in the text.
"""

import math
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from .verdict_text import alone_at_end, code_or_quote, conditional, echoed, negated, visible

Outcome = Literal["first", "second", "tie"]


class Reading(NamedTuple):
    """A verdict in terms of the order shown, or a number for formats that rate one answer; else None and why."""

    value: Outcome | float | None
    reason: str = ""


class VerdictFormat(NamedTuple):
    """How one kind of judge writes its verdict.

    `parse` gets the judge's replies (one, or one per answer where `replies` is 2) and the answers that it was shown.
    """

    name: str
    parse: Callable[[Sequence[str], Sequence[str]], Reading]
    replies: int = 1


def parse_verdict(format_name: str, *replies: str, answers: Sequence[str] = ()) -> Reading:
    """Read `replies` in the format of that name (a key of FORMATS). Never raises on text.

    `answers`: the texts that were judged, so that a marker copied from them is not taken for a verdict.
    """
    verdict_format = FORMATS[format_name]
    if len(replies) != verdict_format.replies:
        return Reading(None, f"{len(replies)} replies where the format has {verdict_format.replies}")
    return verdict_format.parse(replies, answers)


_SIDES: dict[str, Outcome] = {"A": "first", "B": "second", "C": "tie", "a": "first", "b": "second"}
_BRACKETS = re.compile(r"(?<!\[)\[\[([ABC])\]\](?!\])")
_RATING = re.compile(r"(?<!\[)\[\[([0-9]{1,2}(?:\.[0-9]{1,2})?)\]\](?!\])")
_OUTPUT = re.compile(
    r"\bOutput \(([ab])\) is (?:the )?better\b(?: (?:output|choice|option|one|answer|response)\b)?", re.IGNORECASE
)
_OUTPUT_TAIL = re.compile(r"[\s*_\"'”’)]*(?:[.!]|$)|,? (?:as|because|since)\b", re.IGNORECASE)
_AGAINST = re.compile(r",? than Output \(([ab])\)[\s*_]*(?:[.!]|$|,? (?:as|because|since)\b)", re.IGNORECASE)
_NAMED_AFTER = re.compile(r"[\s*_:,.()\-]{0,5}(?:Assistant|Answer|Response)\s([ABC])\b", re.IGNORECASE)
_CLAIM = re.compile(
    r"\b(?:Assistant |Answer |Response |Output \()([AB])\)?(?:'s \w{1,20})? "
    r"(?:is|was|would be|seems|appears|remains) (?:[a-z]{1,12} ){0,2}(?:better|superior|preferable|best|stronger)\b"
    r"|\b(?:Therefore|Thus|Hence|Overall|In conclusion)\b[^.\n]{0,80}?"
    r"(?:Assistant |Answer |Response |Output \()([AB])\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?\n]")
_WORD = re.compile(r"\w")
_LETTER = re.compile(r"([ABC])|\[\[([ABC])\]\]")
_BLANKS = " \t\r\n\"'`“”‘’"
_EDGES = _BLANKS + "*_.:()"


def last_marker(text: str, pattern: re.Pattern[str], answers: Sequence[str]) -> tuple[re.Match[str] | None, str]:
    """The last marker that the text stands by, else why there is none."""
    last_two = deque(pattern.finditer(text), maxlen=2)
    if not last_two:
        return None, "no marker"
    marker = last_two[-1]
    alone = alone_at_end(text, marker.start(), marker.end())
    if echoed(text, marker.start(), marker.end(), answers, at_least=24 if alone else 10):
        return None, f"the last marker {marker[0]!r} is copied from an answer"
    if len(last_two) == 2 and last_two[0][1] != marker[1]:
        other, gap = last_two[0], text[last_two[0].end() : marker.start()]
        if not _WORD.search(gap) or not _SENTENCE_END.search(gap):
            return None, f"{other[0]!r} and {marker[0]!r} in one breath"
        if len(gap) < 120 and conditional(text, other.start(), other.end()):
            return None, f"{marker[0]!r} follows {other[0]!r}, which is only a case"
    if alone:
        return marker, ""
    if code_or_quote(text, marker.start(), marker.end()):
        return None, f"the last marker {marker[0]!r} is quoted"
    if negated(text, marker.start(), marker.end()):
        return None, f"the last marker {marker[0]!r} is negated"
    if conditional(text, marker.start(), marker.end()):
        return None, f"the last marker {marker[0]!r} is conditional"
    return marker, ""


def contradicted(text: str, marker: re.Match[str], own: str) -> bool:
    """Whether the text after the marker says that a side other than `own` (A, B, or C for a tie) is better."""
    named = _NAMED_AFTER.match(text, marker.end())
    if named and own != "C" and named[1].upper() != own:
        return True
    claims = deque(_CLAIM.finditer(text, marker.end()), maxlen=1)
    return bool(claims) and own not in ("C", (claims[0][1] or claims[0][2]).upper())


def _brackets(replies: Sequence[str], answers: Sequence[str]) -> Reading:
    text = visible(replies[0])
    marker, reason = last_marker(text, _BRACKETS, answers)
    if marker is None:
        return Reading(None, reason)
    if contradicted(text, marker, marker[1].upper()):
        return Reading(None, f"the text after the last marker {marker[0]!r} contradicts it")
    return Reading(_SIDES[marker[1]])


def _llmbar_cot(replies: Sequence[str], answers: Sequence[str]) -> Reading:
    text = visible(replies[0])
    marker, reason = last_marker(text, _OUTPUT, answers)
    if marker is None:
        return Reading(None, reason)
    against = _AGAINST.match(text, marker.end())
    if against is None and not _OUTPUT_TAIL.match(text, marker.end()):
        return Reading(None, f"the last marker {marker[0]!r} is qualified")
    if against is not None and against[1].lower() == marker[1].lower():
        return Reading(None, f"the last marker {marker[0]!r} compares an output with itself")
    if contradicted(text, marker, marker[1].upper()):
        return Reading(None, f"the text after the last marker {marker[0]!r} contradicts it")
    return Reading(_SIDES[marker[1].lower()])


def _llmbar_label(replies: Sequence[str], answers: Sequence[str]) -> Reading:
    found = re.fullmatch(r"Output \(([ab])\)", visible(replies[0]).strip(" \t\r\n\"'*."))
    return Reading(_SIDES[found[1]]) if found else Reading(None, "not a bare label")


def _llmbar_rating(replies: Sequence[str], answers: Sequence[str]) -> Reading:
    scores = [re.fullmatch(r"[0-9]", visible(reply).strip()) for reply in replies]
    if any(score is None for score in scores):
        return Reading(None, "a score is missing or not a whole number from 0 to 9")
    first, second = (int(score[0]) for score in scores if score)
    return Reading("tie" if first == second else "first" if first > second else "second")


def _single_rating(replies: Sequence[str], answers: Sequence[str]) -> Reading:
    marker, reason = last_marker(visible(replies[0]), _RATING, answers)
    if marker is None:
        return Reading(None, reason)
    rating = float(marker[1])
    return Reading(rating) if 1 <= rating <= 10 else Reading(None, f"the rating {marker[0]!r} is not from 1 to 10")


def _letter(replies: Sequence[str], answers: Sequence[str]) -> Reading:
    found = _LETTER.fullmatch(visible(replies[0]).strip(_EDGES))
    return Reading(_SIDES[found[1] or found[2]]) if found else Reading(None, "not a single letter")


FORMATS: dict[str, VerdictFormat] = {
    verdict_format.name: verdict_format
    for verdict_format in (
        VerdictFormat("brackets", _brackets),
        VerdictFormat("letter", _letter),
        VerdictFormat("mtbench_pair_ABC", _brackets),
        VerdictFormat("mtbench_single_rating", _single_rating),
        VerdictFormat("llmbar_cot", _llmbar_cot),
        VerdictFormat("llmbar_label", _llmbar_label),
        VerdictFormat("llmbar_rating", _llmbar_rating, replies=2),
    )
}
"""`brackets` and `letter` are what our own prompts ask for; the others are those of published judges."""


class LetterProbabilities(NamedTuple):
    """What the first answer token says, each in [0, 1]. A letter that is not among the alternatives counts as 0."""

    p_first: float | None
    """P(first) / (P(first) + P(second)); None when only the tie letter is there."""
    tie_mass: float
    """P(tie), of all tokens."""
    covered: float
    """P(first) + P(second) + P(tie), of all tokens."""

    @property
    def outcome(self) -> Outcome:
        """The letter with the most mass; `tie` also when the two sides have exactly the same."""
        sides = self.covered - self.tie_mass
        if self.p_first is None or self.p_first == 0.5 or self.tie_mass > sides * max(self.p_first, 1 - self.p_first):
            return "tie"
        return "first" if self.p_first > 0.5 else "second"


def read_letter_logprobs(
    token_logprobs: Sequence[Mapping[str, float]], letters: tuple[str, str, str] = ("A", "B", "C")
) -> LetterProbabilities | None:
    """Probabilities of the letters for first, second and tie from the first token's alternatives (natural logs).

    Tokens are compared without spaces and quotes around them; spellings of one letter add up. None when no letter is
    among the alternatives.
    """
    mass = dict.fromkeys(letters, 0.0)
    for token, logprob in (token_logprobs[0] if token_logprobs else {}).items():
        letter = token.strip(_BLANKS)
        if letter in mass and not math.isnan(logprob):
            mass[letter] += math.exp(min(logprob, 0.0))
    first, second, tie = (mass[letter] for letter in letters)
    if first + second + tie <= 0:
        return None
    p_first = first / (first + second) if first + second > 0 else None
    return LetterProbabilities(p_first, min(tie, 1.0), min(first + second + tie, 1.0))
