"""Where a marker stands in a judge's text: what is the judge's own voice, and whether it means the marker.

All windows are bounded or scanned once, so that a text of any length takes linear time.
"""

import re
from collections.abc import Sequence

_FENCE = re.compile(r"<([a-z_0-9]{1,40}-[0-9a-f]{8})>")
_DECORATION = " \t\r\n*_`\"'“”‘’#>.!:-()"
_LEAD = re.compile(
    r"(?:(?:therefore|so|thus|hence),? )?(?:(?:my|the|our) )?(?:final )?(?:verdict|answer|decision|choice|rating)"
    r"(?: is)?",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:.!?\n]|\b(?:so|therefore|thus|hence|but|and)\b", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(?:not|never|nor|neither|cannot|without|avoid|against|instead of|rather than|than|unlike)\b|n['’]t\b",
    re.IGNORECASE,
)
_NEGATED_AFTER = re.compile(
    r"[\s*_\"'”’]{0,4}(?:is|was|does|would|should|can|could|seems|looks)(?: clearly| really)?(?: not\b|n['’]t\b|not\b"
    r"| wrong| incorrect| worse| inferior| the worse)",
    re.IGNORECASE,
)
_CASE_BEFORE = re.compile(r"\b(?:if|whether|either|unless)\b", re.IGNORECASE)
_CASE_AFTER = re.compile(r"[\s\W]{0,4}(?:if|when|unless|means|or)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?\n]")
_QUOTES = (("“", "”"), ("«", "»"), ("„", "“"))


def visible(text: str) -> str:
    """The judge's own words: passages between our fence tags and thinking blocks are taken out.

    A fence or a thinking block that is not closed swallows the rest.
    """
    kept, position = [], 0
    while opened := _FENCE.search(text, position):
        kept.append(text[position : opened.start()])
        closing = f"</{opened[1]}>"
        closed = text.find(closing, opened.end())
        position = len(text) if closed < 0 else closed + len(closing)
    text = "\n".join([*kept, text[position:]])
    text = text[text.rfind("</think>") + len("</think>") :] if "</think>" in text else text
    return text.partition("<think>")[0]


def alone_at_end(text: str, start: int, end: int) -> bool:
    """Whether the marker has the last line to itself, save for decoration and words like `Final verdict:`."""
    if text[end:].strip(_DECORATION):
        return False
    lead = text[text.rfind("\n", 0, start) + 1 : start].strip(_DECORATION)
    return len(lead) <= 60 and (not lead or _LEAD.fullmatch(lead) is not None)


def echoed(text: str, start: int, end: int, answers: Sequence[str], at_least: int) -> bool:
    """Whether the marker with the `at_least` characters before it stands in a judged answer."""
    context = text[max(0, start - at_least) : start]
    if len(context) < at_least or sum(c.isalnum() for c in context) < 4:
        return False
    return any(context + text[start:end] in answer for answer in answers)


def code_or_quote(text: str, start: int, end: int) -> bool:
    """Whether the marker stands in a code block or between quotation marks on its line."""
    if text.count("```", 0, start) % 2:
        return True
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    before, after = text[line_start:start], text[end : line_end if line_end >= 0 else len(text)]
    if any(before.count(mark) % 2 and mark in after for mark in ('"', "`")):
        return True
    return any(before.rfind(opening) > before.rfind(closing) and closing in after for opening, closing in _QUOTES)


def negated(text: str, start: int, end: int) -> bool:
    """Whether the clause takes the marker back: `not [[A]]`, `better than [[A]]`, `[[A]] is not better`."""
    clause = _CLAUSE.split(text[max(0, start - 60) : start])[-1]
    return bool(_NEGATION.search(clause) or _NEGATED_AFTER.match(text, end))


def conditional(text: str, start: int, end: int) -> bool:
    """Whether the marker is only a case: `[[A]] if A is better`, `either [[A]] ...`."""
    sentence = _SENTENCE.split(text[max(0, start - 80) : start])[-1]
    return bool(_CASE_BEFORE.search(sentence) or _CASE_AFTER.match(text, end))
