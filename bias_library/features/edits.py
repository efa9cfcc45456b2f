"""Where and how an edit goes into a text. No edit lands in code, and none comes after the sentence that ends the text.

That last sentence holds the final answer more often than not, so it stays where it is, letter by letter; so does every
number. Offsets are those of the text before the edit.
"""

import random
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from .anatomy import Anatomy, Sentence, anatomy

At = Literal["spread", "start", "end"]
Edit = tuple[int, int, str]
"""Replace text[start:end] by this."""

WORDS_PER_EDIT, LEAST, MOST = 45, 2, 12
_ANSWERS = re.compile(
    r"\banswers?\b|\boptions?\b|\bchoices?\b|\\boxed|\$|\\\(|^\W*(?:[A-Za-z]|yes|no|true|false)\W*$", re.I
)
_CLOSING_ANSWER = re.compile(r"\d|\banswer|\boption|\\boxed|\*\*|\b[A-Z]\b\W*$|^\W*(?:\w+\W+){0,5}$", re.I)
_FIRST = frozenset(
    """the this that these those it its there here we so a an in to if for each since because when first then next after
    by with from on at both all one every as and but now thus only""".split()  # noqa: SIM905
)


def doses(text: str) -> int:
    """How often an edit repeats itself: about once in 45 words, twice at least and 12 times at most."""
    return min(MOST, max(LEAST, round(anatomy(text).words / WORDS_PER_EDIT)))


def apply(text: str, edits: Iterable[Edit]) -> str:
    """All edits at once; those at the same place come in the order given."""
    parts, at = [], 0
    for start, end, new in sorted(edits, key=lambda edit: edit[0]):
        if start < at:
            continue
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def place(text: str, sentences: Sequence[str], rng: random.Random, at: At = "spread") -> str:
    """`text` with `sentences` put between its own: spread over it, before it, or at its close."""
    if not sentences:
        return text
    if not text.strip():
        return " ".join(sentences)
    if at == "start":
        return _on_top(text, " ".join(sentences))
    if at == "end":
        return _at_close(text, " ".join(sentences))
    spots = inner_spots(anatomy(text))
    if not spots:
        return _on_top(text, " ".join(sentences))
    chosen = spaced(spots, len(sentences), rng)
    edits = []
    for spot, sentence in zip(chosen, sentences, strict=True):
        after = "" if text[spot : spot + 1].isspace() else " "
        edits.append((spot, spot, f" {sentence}{after}"))
    return apply(text, edits)


def paragraph(text: str, block: str, where: float = 1.0) -> str:
    """`text` with `block` as a paragraph, `where` of the way down, before the closing paragraph at latest."""
    if not text.strip():
        return block
    gaps = paragraph_gaps(text)
    if not gaps:
        at = last_start(text)
        head, tail = text[:at].rstrip(), text[at:]
        return f"{head}\n\n{block}\n\n{tail}" if head else f"{block}\n\n{tail}"
    at = gaps[min(len(gaps) - 1, int(where * len(gaps)))]
    return f"{text[:at]}{block}\n\n{text[at:]}"


def paragraph_gaps(text: str) -> list[int]:
    """Starts of the paragraphs that follow a blank line, outside code, up to the one that holds the last sentence."""
    form = anatomy(text)
    limit, gaps = last_start(text), []
    for before, line in zip(form.lines, form.lines[1:], strict=False):
        if before.kind == "blank" and line.kind in ("prose", "heading", "quote") and line.start <= limit:
            gaps.append(line.start)
    return gaps


def last_start(text: str) -> int:
    """Where the last sentence begins; nothing is written after that. 0 without sentences."""
    sentences = anatomy(text).sentences
    return sentences[-1].start if sentences else 0


def inner_spots(form: Anatomy) -> list[int]:
    """Ends of finished sentences, all but the last one."""
    return [s.end for s in form.sentences[:-1] if s.closed]


def free_sentences(form: Anatomy) -> list[Sentence]:
    """Sentences that may be changed at their edges: finished by a full stop after a word, and stating no answer."""
    return [
        s
        for s in form.sentences[:-1]
        if s.closed
        and s.end - s.start < 2000
        and re.search(r"[^\W\d_]{3}\.$", form.text[s.start : s.end])
        and not _ANSWERS.search(form.text[s.start : s.end])
    ]


def append_to(text: str, endings: Sequence[str], rng: random.Random, *, keep_stop: bool = True) -> tuple[str, int]:
    """Put one of `endings` before the full stop of as many sentences as there are endings (or in place of the stop).

    Returns the text and how many endings found no sentence.
    """
    free = free_sentences(anatomy(text))
    chosen = sorted(rng.sample(free, min(len(free), len(endings))))
    stop = "." if keep_stop else ""
    edits = [(s.end - 1, s.end, f"{new}{stop}") for s, new in zip(chosen, endings, strict=False)]
    return apply(text, edits), len(endings) - len(chosen)


def open_with(text: str, openings: Sequence[str], rng: random.Random) -> tuple[str, int]:
    """Put one of `openings` before sentences that begin with a word which can be written small.

    Returns the text and how many openings found no sentence.
    """
    form = anatomy(text)
    free = [
        s
        for s in form.sentences[:-1]
        if (word := re.match(r"([A-Z][a-z]*)[ ]", text[s.start : s.start + 20])) and word.group(1).lower() in _FIRST
    ]
    chosen = sorted(rng.sample(free, min(len(free), len(openings))))
    edits = [(s.start, s.start + 1, f"{new} {text[s.start].lower()}") for s, new in zip(chosen, openings, strict=False)]
    return apply(text, edits), len(openings) - len(chosen)


def change_words(
    text: str, pattern: re.Pattern[str], change: Callable[[str], str], most: int, rng: random.Random
) -> tuple[str, int]:
    """Change up to `most` matches of `pattern` in sentences before the last one; mathematics and links are left alone.

    Returns the text and how many changes were made.
    """
    form = anatomy(text)
    found = [
        match.span()
        for s in form.sentences[:-1]
        if not re.search(r"[\\$`]|://", text[s.start : s.end])
        for match in pattern.finditer(text, s.start, s.end)
    ]
    chosen = sorted(rng.sample(found, min(len(found), most)))
    return apply(text, [(a, b, change(text[a:b])) for a, b in chosen]), len(chosen)


def spaced(spots: Sequence[int], count: int, rng: random.Random) -> list[int]:
    """`count` of `spots`, spread evenly with some play, in order; some twice where there are too few."""
    if count >= len(spots):
        return sorted(spots[i % len(spots)] for i in range(count))
    width = len(spots) / count
    return [spots[min(len(spots) - 1, int((i + rng.random()) * width))] for i in range(count)]


def pick(items: Sequence[str], count: int, rng: random.Random, text: str = "") -> list[str]:
    """`count` of `items` in random order, those that `text` does not hold yet first, then from the start again."""
    fresh = [item for item in items if item not in text]
    stale = [item for item in items if item in text]
    order = [*rng.sample(fresh, len(fresh)), *rng.sample(stale, len(stale))]
    return [order[i % len(order)] for i in range(count)]


def _on_top(text: str, block: str) -> str:
    form = anatomy(text)
    first = form.sentences[0] if form.sentences else None
    alone = first is None or len(form.sentences) == 1 or form.sentences[1].block != first.block
    if first is None or alone or text[: first.start].strip():
        return f"{block}\n\n{text.lstrip(chr(10))}"
    return f"{text[: first.start]}{block} {text[first.start :]}"


def _at_close(text: str, block: str) -> str:
    """After the text when its last paragraph plainly holds no answer, else just before its last sentence."""
    form = anatomy(text)
    if not form.sentences:
        return f"{block}\n\n{text}"
    last = form.sentences[-1]
    ends_so = not text[last.end :].strip() and last.closed
    if ends_so and not _CLOSING_ANSWER.search(text[last.start : last.end]):
        return f"{text.rstrip()}\n\n{block}"
    if len(form.sentences) > 1 and form.sentences[-2].closed and form.sentences[-2].block == last.block:
        return f"{text[: last.start]}{block} {text[last.start :]}"
    at = text.rfind("\n", 0, last.start) + 1
    head, tail = text[:at].rstrip(), text[at:]
    return f"{head}\n\n{block}\n\n{tail}" if head else f"{block}\n\n{tail}"
