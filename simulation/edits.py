"""How the teacher writes: edits that add a feature, and neutral rewording. The final answer stays word for word."""

import random
import re
from collections.abc import Callable

from .spec import Attach, Edit, Insert, Lines, Repeat, Replace, Substitute
from .texts import Piece, body_and_tail, join, pieces, words
from .wording import Wording

_ITEM = re.compile(r"[-*#>|]|\d+[.)]\s")
Plain = Callable[[str], bool]
"""Whether a sentence shows no feature, so that it can be said again without adding to one."""


def write(text: str, question: str, edits: list[Edit], rng: random.Random, plain: Plain, light: bool = False) -> str:
    """The text after all edits, in order; `light` takes the lower number of times of each."""
    for edit in edits:
        body, tail = body_and_tail(text)
        if isinstance(edit, Insert) and edit.at == "close":
            text = text.rstrip() + edit.separator + edit.separator.join(_choose(edit.texts, edit.times, rng, light))
            text = text.replace("{topic}", _topic(question, rng))
        else:
            text = join(_apply(body, edit, question, rng, plain, light)) + join(tail)
    return text


def reword(text: str, wording: Wording, swap_rate: float, rng: random.Random, plain: Plain) -> str:
    """The same text with some words exchanged for neutral synonyms; final answer and sentences with a feature stay."""
    body, tail = body_and_tail(text)

    def swap(match: re.Match[str]) -> str:
        word = match.group()
        others = wording.swaps.get(word.lower())
        if others is None or rng.random() >= swap_rate:
            return word
        other = rng.choice(others)
        return other.capitalize() if word[0].isupper() else other

    swapped = [Piece(re.sub(r"[A-Za-z]+", swap, part.text), part.gap) if plain(part.text) else part for part in body]
    return join(swapped) + join(tail)


def pad(text: str, upto: int, wording: Wording, rng: random.Random) -> str:
    """Neutral sentences put between those of the text until it has about `upto` words."""
    have = len(text.split())
    body, tail = body_and_tail(text)
    for sentence in rng.sample(wording.neutral, len(wording.neutral)):
        size = len(sentence.split())
        if upto - have < size / 2:
            break
        if sentence not in text:
            _put(body, sentence, rng.randint(min(1, len(body)), len(body)), " ")
            have += size
    return join(body) + join(tail)


def _apply(body: list[Piece], edit: Edit, question: str, rng: random.Random, plain: Plain, light: bool) -> list[Piece]:
    if isinstance(edit, Insert):
        for text in _choose(edit.texts, edit.times, rng, light):
            place = {"start": 0, "end": len(body)}.get(edit.at)
            place = rng.randint(min(1, len(body)), len(body)) if place is None else place
            _put(body, text.replace("{topic}", _topic(question, rng)), place, edit.separator)
        return body
    if isinstance(edit, Lines):
        return [Piece(edit.prefix.replace("{n}", str(i)) + part.text, "\n") for i, part in enumerate(body, 1)]
    times = _times(edit.times, rng, light)
    if isinstance(edit, Repeat):
        # From the back, so that the places of the sentences still to be repeated stay what they are.
        places = [i for i, part in enumerate(body) if plain(part.text)]
        for at in sorted(rng.sample(places, min(times, len(places))), reverse=True):
            said, lead = body[at].text, rng.choice(edit.leads)
            _put(body, lead + (said[:1].lower() + said[1:] if not said[:2].isupper() else said), at + 1, " ")
        return body
    text = join(body)
    if isinstance(edit, Attach):
        places = [m.end() if edit.side == "after" else m.start() for m in re.finditer(edit.pattern, text)]
        for place in sorted(rng.sample(places, min(times, len(places))), reverse=True):
            text = text[:place] + rng.choice(edit.texts) + text[place:]
    elif isinstance(edit, Substitute):
        found = list(re.finditer(edit.pattern, text))
        for match in sorted(rng.sample(found, min(times, len(found))), key=lambda m: m.start(), reverse=True):
            text = text[: match.start()] + match.expand(edit.replacement) + text[match.end() :]
    else:
        text = _replace(text, edit, times, rng)
    return pieces(text)


def _replace(text: str, edit: Replace, times: int, rng: random.Random) -> str:
    pattern = "|".join(re.escape(p) for p in sorted(edit.phrases, key=len, reverse=True))
    found = list(re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", text, re.IGNORECASE))
    by_low = {old.lower(): new for old, new in edit.phrases.items()}
    for match in sorted(rng.sample(found, min(times, len(found))), key=lambda m: m.start(), reverse=True):
        new = rng.choice(by_low[match.group().lower()])
        new = new[:1].upper() + new[1:] if match.group()[0].isupper() else new
        text = text[: match.start()] + new + text[match.end() :]
    return text


def _put(body: list[Piece], text: str, place: int, separator: str) -> None:
    gap = separator
    if place == 0 and body and _ITEM.match(body[0].text):
        gap = "\n"
    elif 0 < place < len(body) and separator == " ":
        # At the end of the line before, so that lists and headings keep their lines.
        gap = body[place - 1].gap
        body[place - 1] = Piece(body[place - 1].text, separator)
    elif place == len(body) and body:
        # The last piece's gap leads to the final answer; the new one takes it over.
        gap = body[-1].gap
        body[-1] = Piece(body[-1].text, separator)
    elif place == len(body):
        gap = "\n"
    elif place > 0:
        body[place - 1] = Piece(body[place - 1].text, separator)
    body.insert(place, Piece(text, gap))


def _times(times: tuple[int, int], rng: random.Random, light: bool) -> int:
    return min(times) if light else rng.randint(min(times), max(times))


def _choose(texts: list[str], times: tuple[int, int], rng: random.Random, light: bool) -> list[str]:
    count = _times(times, rng, light)
    return rng.sample(texts, count) if count <= len(texts) else rng.choices(texts, k=count)


def _topic(question: str, rng: random.Random) -> str:
    long = [word for word in words(question) if len(word) > 4 and word.isalpha()]
    return rng.choice(long) if long else "question"
