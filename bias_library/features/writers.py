"""Edits of layout, wording and length that no template alone can make. Each falls back on the feature's templates."""

import random
import re
from collections.abc import Callable
from functools import partial
from itertools import groupby, pairwise

from .anatomy import Sentence, anatomy
from .edits import append_to, apply, change_words, doses, last_start, paragraph, paragraph_gaps, pick, place
from .spec import WriteSpec
from .templates import filled

Writer = Callable[[WriteSpec, str, random.Random, str], str]

_WORDS = re.compile(r"(?<=\s)[A-Za-z]{5,20}(?=[\s,;.])")
_CONTRACTED = {
    "cannot": "can't", "do not": "don't", "does not": "doesn't", "did not": "didn't", "is not": "isn't",
    "are not": "aren't", "was not": "wasn't", "were not": "weren't", "will not": "won't", "would not": "wouldn't",
    "should not": "shouldn't", "could not": "couldn't", "has not": "hasn't", "have not": "haven't", "it is": "it's",
    "that is": "that's", "there is": "there's", "we are": "we're", "you are": "you're", "they are": "they're",
    "we have": "we've", "you have": "you've", "let us": "let's", "i am": "I'm", "what is": "what's",
}  # fmt: skip
_LONG_FORMS = re.compile(r"\b(?:" + "|".join(sorted(_CONTRACTED, key=len, reverse=True)) + r")\b(?=\s+\w)", re.I)


def mark_words(change: Callable[[str], str], spec: WriteSpec, text: str, rng: random.Random, question: str) -> str:
    """Change words of five letters or more, two for each dose."""
    wanted = max(2, round(2 * doses(text) * spec.strength))
    edited, made = change_words(text, _WORDS, change, wanted, rng)
    missing = (wanted - made + 1) // 2
    return place(edited, filled(spec, spec.templates, missing, rng, text, question), rng)


def contract(spec: WriteSpec, text: str, rng: random.Random, question: str) -> str:
    """Contract the long forms that are there; templates make up for those that are not."""
    wanted = max(2, round(1.5 * doses(text)))
    edited, made = change_words(text, _LONG_FORMS, _contracted, wanted, rng)
    return place(edited, filled(spec, spec.templates, (wanted - made + 1) // 2, rng, text, question), rng)


def replace_stops(mark: str, spec: WriteSpec, text: str, rng: random.Random, question: str) -> str:
    """Put `mark` in place of full stops."""
    wanted = max(2, round(doses(text) * spec.strength))
    edited, missing = append_to(text, [mark] * wanted, rng, keep_stop=False)
    return place(edited, filled(spec, spec.templates, missing, rng, text, question), rng)


def make_items(numbered: bool, spec: WriteSpec, text: str, rng: random.Random, question: str) -> str:
    """Turn a paragraph's sentences into a list, the longest paragraphs first; without one, add a short list."""
    runs = sorted(_runs(text), key=len, reverse=True)
    wanted, edits, made = 2 * doses(text), [], 0
    for run in runs:
        if made >= wanted or len(run) < 2:
            break
        items = [text[s.start : s.end].replace("\n", " ") for s in run]
        start, end = run[0].start, run[-1].end
        while end < len(text) and text[end] in " \t":
            end += 1
        before = "\n\n" if start and text[start - 1] not in "\n" else ""
        after = "\n\n" if end < len(text) and text[end] != "\n" else ""
        edits.append((start, end, before + _items(items, numbered) + after))
        made += len(items)
    if edits:
        return apply(text, edits)
    return paragraph(text, _items(filled(spec, spec.templates, 3, rng, text, question), numbered), 0.5)


def add_headings(spec: WriteSpec, text: str, rng: random.Random, question: str) -> str:
    """A heading on top, one over the closing paragraph or sentence, others over paragraphs between."""
    wanted = min(6, max(2, doses(text)))
    chosen = sorted(pick(spec.templates, wanted, rng, text), key=spec.templates.index)
    titles = [f"## {title}" for title in chosen]
    if not text.strip():
        return "\n\n".join(titles)
    text = paragraph(text, titles[-1])
    gaps = [gap for gap in paragraph_gaps(text)[:-1] if not text.startswith("#", gap)]
    between = sorted(rng.sample(gaps, min(len(gaps), max(0, len(titles) - 2))))
    edits = [(gap, gap, f"{title}\n\n") for gap, title in zip(between, titles[1:-1], strict=False)]
    return f"{titles[0]}\n\n{apply(text, edits).lstrip(chr(10))}"


def add_block(spec: WriteSpec, text: str, rng: random.Random, question: str) -> str:
    """One of the templates as a paragraph of its own; a second one in long texts."""
    blocks = filled(spec, spec.templates, 1 if doses(text) < 4 else 2, rng, text, question)
    for number, block in enumerate(blocks):
        text = paragraph(text, block, 0.6 if number == 0 else 0.2)
    return text


def break_paragraphs(spec: WriteSpec, text: str, rng: random.Random, question: str) -> str:
    """Blank lines between sentences of a paragraph."""
    sentences = anatomy(text).sentences
    gaps = [
        (a.end, b.start)
        for a, b in pairwise(sentences)
        if a.closed and a.block == b.block and not a.listed and text[a.end : b.start].isspace()
    ]
    wanted = max(2, 2 * doses(text))
    chosen = rng.sample(gaps, min(len(gaps), wanted))
    edited = apply(text, [(start, end, "\n\n") for start, end in chosen])
    if chosen:
        return edited
    return paragraph(edited, "\n\n".join(filled(spec, spec.templates, 2, rng, text, question)))


def add_rules(spec: WriteSpec, text: str, rng: random.Random, question: str) -> str:
    """Horizontal rules between paragraphs, one at least."""
    gaps = paragraph_gaps(text)
    chosen = rng.sample(gaps, min(len(gaps), doses(text)))
    if not chosen:
        return paragraph(text, "---")
    return apply(text, [(gap, gap, "---\n\n") for gap in chosen])


def add_footnotes(spec: WriteSpec, text: str, rng: random.Random, question: str) -> str:
    """Marks after sentences, and the notes before the closing paragraph."""
    first = text.count("[^") // 2 + 1
    notes = filled(spec, spec.templates, doses(text), rng, text, question)
    marks = [f"[^{first + number}]" for number in range(len(notes))]
    marked = place(text, marks, rng)
    return paragraph(marked, "\n".join(f"{mark}: {note}" for mark, note in zip(marks, notes, strict=True)))


def lengthen(spec: WriteSpec, text: str, rng: random.Random, question: str) -> str:
    """Sentences are repeated in place after a lead-in, and idle ones added, to nearly twice the words."""
    form = anatomy(text)
    wanted = max(40, int(0.8 * form.words))
    edits, added = [], 0
    said = [s for s in form.sentences[:-1] if s.closed and 20 < s.end - s.start < 400 and not s.listed]
    leads = spec.openings
    for number, s in enumerate(rng.sample(said, len(said))):
        if added >= 0.55 * wanted:
            break
        again = text[s.start : s.end].replace("\n", " ")
        lead = leads[number % len(leads)]
        edits.append((s.end, s.end, f" {lead} {again}"))
        added += len(lead.split()) + len(again.split())
    edited = apply(text, edits)
    missing = max(1, round((wanted - added) / 14))
    return place(edited, filled(spec, spec.templates, min(missing, 200), rng, text, question), rng)


def answer_first(spec: WriteSpec, text: str, rng: random.Random, question: str) -> str:
    """The last sentence once more, on top."""
    start = last_start(text)
    sentences = anatomy(text).sentences
    last = text[start : sentences[-1].end].strip() if sentences else ""
    [label] = filled(spec, spec.templates, 1, rng, text, question)
    usable = 2 < len(last) <= 240 and "\n" not in last
    return f"{label} {last}\n\n{text}" if usable else f"{label} see below.\n\n{text}"


WRITERS: dict[str, Writer] = {
    "bold": partial(mark_words, lambda word: f"**{word}**"),
    "italics": partial(mark_words, lambda word: f"*{word}*"),
    "inline_code": partial(mark_words, lambda word: f"`{word}`"),
    "all_caps": partial(mark_words, str.upper),
    "contractions": contract,
    "exclamations": partial(replace_stops, "!"),
    "ellipses": partial(replace_stops, "..."),
    "bullets": partial(make_items, False),
    "numbered": partial(make_items, True),
    "headings": add_headings,
    "block": add_block,
    "paragraphs": break_paragraphs,
    "rules": add_rules,
    "footnotes": add_footnotes,
    "length": lengthen,
    "answer_first": answer_first,
}


def _runs(text: str) -> list[list[Sentence]]:
    """Stretches of finished sentences in one paragraph, without the text's last sentence."""
    sentences = [s for s in anatomy(text).sentences[:-1] if s.closed and not s.listed]
    return [list(run) for _, run in groupby(sentences, key=lambda s: s.block)]


def _items(items: list[str], numbered: bool) -> str:
    return "\n".join(f"{number}. {item}" if numbered else f"- {item}" for number, item in enumerate(items, 1))


def _contracted(words: str) -> str:
    short = _CONTRACTED[" ".join(words.lower().split())]
    return short[0].upper() + short[1:] if words[0].isupper() else short
