"""Questions with one answer that answers them and one that does not, for judges of relevance.

The rejected answer is off topic, generic, evasive, or about the same topic but beside the question: by construction,
since it is made of other sentences than those that answer this question. Both are worded from the same stock.
"""

import functools
import random
from pathlib import Path
from typing import NamedTuple

import yaml

from ..core.errors import DataError
from ..core.ids import content_id, seed_from
from ..core.records import PreferencePair

RELEVANCE = "builtin:relevance"
KINDS = ("off topic", "generic", "evasive", "beside the question")
MOST = 2000

_FRAMES = (
    "{}",
    "{}",
    "I have wondered about this for years. {}",
    "A friend asked me this over dinner and I had no answer. {}",
    "I am new to {field}. {}",
    "I know little about {field}, so please keep it plain. {}",
    "{} I need it for a short talk on {field}.",
    "This came up at work today. {}",
    "I have read two different things about it. {}",
    "{} A few sentences are enough.",
    "My neighbour, who cares a lot about {field}, could not tell me. {}",
)
_OPENERS = (
    "",
    "",
    "Here is the short version.",
    "This comes up more often than one would think.",
    "Let me put it in a few sentences.",
    "People ask about this a lot.",
    "I looked into this a while ago.",
    "In brief, it goes like this.",
)
_CLOSERS = (
    "",
    "",
    "That is the gist of it.",
    "I hope that clears it up.",
    "There is more to say, but this covers the main part.",
    "Let me know if you want more detail.",
    "So much for the essentials.",
)
_EVASIVE = (
    (
        "Opinions on {topic} differ, and I would rather not take a side here.",
        "It always depends on the case, so I am reluctant to say anything definite.",
        "I can see why you ask, but a plain reply would not do it justice.",
        "What one makes of this is in the end a personal matter.",
        "Anybody who has dealt with {field} knows how hard it is to say something that holds in general.",
    ),
    (
        "Some people would tell you one thing, and others with just as much experience the opposite.",
        "Much has been written on it, and not all of it agrees.",
        "Without knowing your situation I should not like to commit myself.",
        "It may be one way today and another way tomorrow.",
        "Specialists would want to look at it before they said a word.",
        "There are good reasons for several views, and I do not want to rank them.",
        "Whatever I said now, somebody would object, and perhaps with good reason.",
    ),
    (
        "The best advice I can give is to ask somebody who knows more than I do.",
        "Perhaps it matters less than it seems, and you will find your own way with {topic}.",
        "You may want to read a good book on {field} and make up your own mind.",
        "I will leave the matter there, since any more would be guessing.",
    ),
)
_GENERIC = (
    (
        "The key is to look at the whole picture before going into details.",
        "A sound understanding begins with the basics.",
        "Every question of this kind has several sides, and each deserves attention.",
        "It helps to be clear about your goals from the start.",
    ),
    (
        "Good results come from patience and from steady effort over time.",
        "Begin with small steps, see what works, and build on that.",
        "What suits one person need not suit another, so find a balance that feels right.",
        "Quality matters more than quantity, and a little planning goes a long way.",
        "Keep an open mind and learn from mistakes as you go along.",
        "Reliable information and some common sense will take you far.",
        "It is worth weighing the advantages against the drawbacks.",
    ),
    (
        "With the right attitude most things turn out well in the end.",
        "If you keep at it, you will see progress before long.",
        "A bit of preparation now will save a lot of trouble later.",
        "In the end it all comes together when the foundations are right.",
    ),
)


def relevance_pairs(n: int, seed: int = 0) -> list[PreferencePair]:
    """`n` pairs with distinct prompts, at most 2,000; the domain is the kind of the rejected answer, in turn.

    A longer list begins with the shorter one. Answers have 30 to 110 words. Raises DataError for more.
    """
    if n > MOST:
        raise DataError(f"{RELEVANCE}: {n} pairs asked, at most {MOST} can be made: lower the limit")
    made: dict[str, PreferencePair] = {}
    number = 0
    while len(made) < n:
        pair = _pair(seed, number, KINDS[len(made) % len(KINDS)])
        made.setdefault(pair.prompt, pair)
        number += 1
    return list(made.values())


class _Question(NamedTuple):
    topic: str
    field: str
    place: int
    asks: tuple[str, ...]
    says: tuple[str, ...]


@functools.cache
def _questions() -> tuple[_Question, ...]:
    rows = yaml.safe_load((Path(__file__).parent / "builtin_relevance.yaml").read_text(encoding="utf-8"))
    return tuple(
        _Question(row["topic"], row["field"], place, tuple(aspect["asks"]), tuple(aspect["says"]))
        for row in rows
        for place, aspect in enumerate(row["aspects"])
    )


def _pair(seed: int, number: int, kind: str) -> PreferencePair:
    rng = random.Random(seed_from("builtin", "relevance", seed, number))
    question = rng.choice(_questions())
    prompt = rng.choice(_FRAMES).format(rng.choice(question.asks), field=question.field)
    # Two independent draws from the same stock of wordings.
    chosen, rejected = (_composed(rng, says) for says in (list(question.says), _beside(rng, kind, question)))
    return PreferencePair(
        id=content_id("pair", prompt, chosen, rejected),
        prompt=prompt,
        chosen=chosen,
        rejected=rejected,
        domain=kind,
        source=RELEVANCE,
        source_id=f"relevance-{seed}-{number}",
        meta={"kind": kind, "topic": question.topic},
    )


def _beside(rng: random.Random, kind: str, question: _Question) -> list[str]:
    """Sentences that do not answer the question."""
    if kind in ("generic", "evasive"):
        first, middle, last = _GENERIC if kind == "generic" else _EVASIVE
        lines = [rng.choice(first), *rng.sample(middle, 2 if kind == "generic" else 3), rng.choice(last)]
        return [line.format(topic=question.topic, field=question.field) for line in lines]
    same_topic = kind == "beside the question"
    others = [q for q in _questions() if (q.topic == question.topic) == same_topic and q is not question]
    return list(rng.choice(others).says)


def _composed(rng: random.Random, says: list[str]) -> str:
    opener, closer = rng.choice(_OPENERS), rng.choice(_CLOSERS)
    layout = rng.choice(("paragraph", "paragraph", "two paragraphs", "list"))
    if layout == "list":
        body = "\n".join(f"- {line}" for line in says)
        return "\n\n".join(part for part in (opener, body, closer) if part)
    lines = [line for line in (opener, *says, closer) if line]
    half = len(lines) // 2 if layout == "two paragraphs" else len(lines)
    return "\n\n".join(" ".join(part) for part in (lines[:half], lines[half:]) if part)
