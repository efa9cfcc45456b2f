"""How a judge's reply is read: a verdict on two answers, a number or a pass for one, or a ranking of several.

What is not clearly there has no value and a reason, never a guess. Markers are believed by the rules of `verdicts`.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import regex

from ...core.calls import Completion
from ...core.errors import ConfigError
from ..engines.json_path import compile_path, find
from ..engines.json_text import last_json_object
from ..verdict_text import visible
from ..verdicts import contradicted, last_marker, parse_verdict

PATIENCE = 1.0
"""Seconds that a user's regular expression may take on one reply."""
_NUMBER = re.compile(r"[-+]?\d{1,9}(?:\.\d{1,9})?")
_BLANKS = " \t\r\n\"'`“”‘’*_.:()[]"

Label = str | float
"""first, second or tie; pass or fail; or a number."""


class Read(NamedTuple):
    """What a reply says. `value` is None when it says nothing clear, and `reason` says why."""

    value: Label | None
    reason: str = ""
    masses: Mapping[Label, float] = {}
    """Probability of each value, of all tokens, where the reply has log-probabilities."""
    scores: tuple[float, float] | None = None
    """Of the first and the second answer, for verdicts given as two numbers."""


Reader = Callable[[Completion, Sequence[str]], Read]
"""From a reply, and the answers that it judges, to what it says."""


def by_format(name: str) -> Reader:
    """A format of `verdicts`."""

    def read(completion: Completion, answers: Sequence[str]) -> Read:
        found = parse_verdict(name, completion.text, answers=answers)
        return Read(found.value, found.reason)

    return read


def by_marker(labels: Mapping[str, Label]) -> Reader:
    """The last of some literal markers, such as `[[A>>B]]`, that the text stands by."""
    pattern = re.compile("(" + "|".join(re.escape(m) for m in sorted(labels, key=len, reverse=True)) + ")")

    def read(completion: Completion, answers: Sequence[str]) -> Read:
        text = visible(completion.text)
        marker, reason = last_marker(text, pattern, answers)
        if marker is None:
            return Read(None, reason)
        label = labels[marker[1]]
        if contradicted(text, marker, {"first": "A", "second": "B"}.get(str(label), "C")):
            return Read(None, f"the text after the last marker {marker[0]!r} contradicts it")
        return Read(label)

    return read


def by_regex(pattern: str, labels: Mapping[str, Label] | None, scale: tuple[float, float] | None) -> Reader:
    """The last match; its first group, or the whole, is a label or a number."""
    compiled = _Patient(pattern)

    def read(completion: Completion, answers: Sequence[str]) -> Read:
        try:
            # `last_marker` needs no more of a pattern than `finditer`, and of a match than what both libraries give.
            marker, reason = last_marker(visible(completion.text), compiled, answers)  # type: ignore[arg-type]
        except TimeoutError:
            return Read(None, f"the pattern took longer than {PATIENCE:g} s on this reply")
        if marker is None:
            return Read(None, reason.replace("no marker", "the pattern does not match"))
        return _meant(marker[1], labels, scale)

    return read


def by_json(path: str, labels: Mapping[str, Label] | None, scale: tuple[float, float] | None) -> Reader:
    """What a JSON path (RFC 9535) finds in the last JSON object of the text, or in a text that is JSON as a whole."""
    query = compile_path(path)

    def read(completion: Completion, answers: Sequence[str]) -> Read:
        value = json_of(visible(completion.text))
        if value is None:
            return Read(None, "there is no complete JSON in it")
        found = find(query, value)
        if found is None:
            return Read(None, f"the path {path} finds nothing, or several values")
        return _meant(found, labels, scale)

    return read


def by_reply(labels: Mapping[str, Label] | None, scale: tuple[float, float] | None) -> Reader:
    """The whole reply is a label or a number; where the first token has log-probabilities, these are read."""

    def read(completion: Completion, answers: Sequence[str]) -> Read:
        masses = _masses(completion, labels, scale)
        if masses:
            return Read(max(masses, key=lambda label: masses[label]), masses=masses)
        return _meant(visible(completion.text).strip(_BLANKS), labels, scale)

    return read


def by_score_marker(scale: tuple[float, float]) -> Reader:
    """The last number in double square brackets, such as [[7]], that the text stands by."""
    pattern = re.compile(r"(?<!\[)\[\[\s*([-+]?[0-9]{1,6}(?:\.[0-9]{1,4})?)\s*\]\](?!\])")

    def read(completion: Completion, answers: Sequence[str]) -> Read:
        marker, reason = last_marker(visible(completion.text), pattern, answers)
        return Read(None, reason) if marker is None else _meant(marker[1], None, scale)

    return read


def by_two_scores(scale: tuple[float, float]) -> Reader:
    """Two numbers, for the first and the second answer, alone on the first line (JudgeLM)."""

    def read(completion: Completion, answers: Sequence[str]) -> Read:
        lines = visible(completion.text).strip().splitlines()
        found = [n for part in (lines[0].split() if lines else ()) if (n := _number(part, scale)) is not None]
        if len(found) != 2 or len(lines[0].split()) != 2:
            return Read(None, "the first line is not two scores")
        first, second = found
        return Read("tie" if first == second else "first" if first > second else "second", scores=(first, second))

    return read


def by_ranking(labels: Sequence[str]) -> Callable[[Completion, Sequence[str]], tuple[str, ...] | str]:
    """The last `[[2 > 1 > 3]]` that ranks every label once, best first; else one line that says why there is none."""
    pattern = re.compile(r"(?<!\[)\[\[\s*([0-9]{1,2}(?:\s*>\s*[0-9]{1,2}){1,40})\s*\]\](?!\])")

    def read(completion: Completion, answers: Sequence[str]) -> tuple[str, ...] | str:
        marker, reason = last_marker(visible(completion.text), pattern, answers)
        if marker is None:
            return reason
        ranked = tuple(part.strip() for part in marker[1].split(">"))
        if sorted(ranked) != sorted(labels):
            return f"the ranking {marker[0]!r} does not name every answer once"
        return ranked

    return read


def within(read: Read, scale: tuple[float, float]) -> Read:
    """The reading, without a value where its number is outside the scale."""
    if isinstance(read.value, float) and not scale[0] <= read.value <= scale[1]:
        return Read(None, f"{read.value:g} is not from {scale[0]:g} to {scale[1]:g}")
    return read


def json_of(text: str) -> Any:
    """The value of a text that is JSON, else the last JSON object in it, else None."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        found = last_json_object(text)
        return found.value if found else None
    return whole if isinstance(whole, dict | list) else None


class _Patient:
    """A regular expression with a time limit, with as much of a pattern's face as is needed."""

    def __init__(self, pattern: str) -> None:
        try:
            self._pattern = regex.compile(f"(?:{pattern})" if _groups(pattern) else f"({pattern})")
        except regex.error as error:
            raise ConfigError(f"the regular expression {pattern!r} cannot be read: {error}") from None

    def finditer(self, text: str) -> Iterator[Any]:
        return iter(self._pattern.finditer(text, timeout=PATIENCE))


def _groups(pattern: str) -> int:
    return int(regex.compile(pattern).groups)


def _meant(found: Any, labels: Mapping[str, Label] | None, scale: tuple[float, float] | None) -> Read:
    """The label or the number that an extracted value is."""
    if labels:
        key = json.dumps(found) if isinstance(found, bool) else str(found).strip()
        if key in labels:
            return Read(labels[key])
        folded = {name.casefold(): label for name, label in labels.items()}
        if key.casefold() in folded:
            return Read(folded[key.casefold()])
        return Read(None, f"{key[:80]!r} is none of {', '.join(labels)}")
    number = _number(found, scale)
    if number is None:
        return Read(
            None, f"{str(found)[:80]!r} is no number" + (f" from {scale[0]:g} to {scale[1]:g}" if scale else "")
        )
    return Read(number)


def _number(value: Any, scale: tuple[float, float] | None) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    inside = math.isfinite(number) and (scale is None or scale[0] <= number <= scale[1])
    return number if inside else None


def _masses(
    completion: Completion, labels: Mapping[str, Label] | None, scale: tuple[float, float] | None
) -> dict[Label, float]:
    """Probability of each label or whole number among the first token's alternatives; spellings add up."""
    masses: dict[Label, float] = {}
    folded = {name.casefold(): label for name, label in (labels or {}).items()}
    exact = labels is not None and len(folded) < len(labels)  # letter case tells labels apart, as m and M
    for token, logprob in (completion.token_logprobs[0] if completion.token_logprobs else {}).items():
        word = token.strip(_BLANKS)
        label: Label | None
        if labels is None:
            label = _number(word, scale) if word.isdigit() else None
        else:
            label = labels.get(word) if exact else folded.get(word.casefold())
        if label is not None and not math.isnan(logprob):
            masses[label] = masses.get(label, 0.0) + math.exp(min(logprob, 0.0))
    return masses
