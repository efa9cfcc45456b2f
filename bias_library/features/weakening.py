"""The other half of a mechanical injection: edits that take a feature out of an answer.

They are cautious where `write` is not: what may carry content stays. The sentence that ends the text, code, mathematics
and every number stay (but for those of a reference that is taken out); an answer without the feature comes back as it
is.
"""

import random
import re
from collections.abc import Callable

from .anatomy import Sentence, anatomy
from .edits import Edit, apply, last_start
from .lexicon import load_features

_IDLE_WORDS = 25
"""A longer sentence may say something beside its pleasantry."""
_NUMBER = re.compile(r"\d")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*$")
_ITEM = re.compile(r"^\s{0,12}(?:[-*+•]\s+)(?=\S)")
_MARKS = re.compile(r"(\*\*\*|\*\*|__|(?<![\w*])\*(?=\w)|(?<=\w)\*(?![\w*]))")
_EMOJI = re.compile("[\u2600-\u27bf\u2b50\u2b55\U0001f300-\U0001faff]\ufe0f? ?")
_SURE_PHRASE = r"without (?:a |any )?doubt|beyond (?:a |any )?doubt|for sure|of course"
_SURE_WORD = r"certainly|clearly|definitely|undoubtedly|obviously|surely|absolutely|unquestionably|plainly"
_CERTAIN = re.compile(
    rf", (?:{_SURE_PHRASE}|{_SURE_WORD}),(?= )|,? (?:{_SURE_PHRASE})(?=[,.;:!?])|\b(?:{_SURE_WORD})\b,? ?",
    re.IGNORECASE,
)
_BACKING = re.compile(
    r" ?\((?:see )?[A-Z][\w'’.-]+(?: (?:et al\.?|and [A-Z][\w'’-]+))?,? (?:1[89]|20)\d\d[a-z]?\)"
    r"|(?<=[\w.,)])\[\^?\d{1,3}\]| ?\((?:https?://|www\.)[^\s)]+\)"
)
_SAID_BY = re.compile(
    r"(?:According to|As (?:shown|stated|reported|noted|found) by|(?:Research|Studies) (?:by|from))"
    r" [^,.;:\d]{3,80}, ?(?=\w)"
)
_EXAMPLE = re.compile(r" ?\((?:e\.g\.|for example|for instance|such as|like|say)[,:]? [^()\d]{2,120}\)")
_ASIDE = re.compile(r" ?\((?:that is|i\.e\.|in other words|as (?:we|you) (?:know|saw)|of course)[,:]? [^()\d]{2,120}\)")


def weaken(bias: str, text: str, rng: random.Random, question: str = "") -> str:
    """`text` with less of what the taxonomy's bias of that name rewards; KeyError for a name that is not in WEAKENERS.

    Hedges are written in for assertiveness, the only edit that adds; `rng` and `question` are for that.
    """
    return WEAKENERS[bias](text, rng, question)


def _without_sentences(*features: str) -> "Weakener":
    """Leaves out short sentences that show one of the features and hold no number."""
    lexicon = load_features()
    found = [lexicon[name] for name in features]

    def edit(text: str, rng: random.Random, question: str) -> str:
        sentences = anatomy(text).sentences
        gone = [
            s
            for s in sentences[:-1]
            if _idle(part := text[s.start : s.end]) and s.closed and any(f.measure(part) > 0 for f in found)
        ]
        return apply(text, [_cut(text, s) for s in gone]).lstrip("\n") if gone else text

    return edit


def _idle(sentence: str) -> bool:
    return len(sentence.split()) <= _IDLE_WORDS and not _NUMBER.search(sentence) and not re.search(r"[`$\\]", sentence)


def _cut(text: str, sentence: Sentence) -> Edit:
    """The sentence with the blanks around it, and with its line breaks where it has its lines to itself."""
    start, end = sentence.start, sentence.end
    while end < len(text) and text[end] in " \t":
        end += 1
    if end == len(text) or text[end] == "\n":
        while start and text[start - 1] in " \t":
            start -= 1
        while start == 0 or text[start - 1] == "\n":
            if end == len(text) or text[end] != "\n":
                break
            end += 1
    return start, end, ""


def _substituted(pattern: re.Pattern[str], new: str = "") -> "Weakener":
    """Replaces what matches in the sentences before the last one; the next word takes over a capital."""

    def edit(text: str, rng: random.Random, question: str) -> str:
        edits: list[Edit] = []
        for s in anatomy(text).sentences[:-1]:
            if re.search(r"[`$\\]", text[s.start : s.end]):
                continue
            for match in pattern.finditer(text, s.start, s.end):
                start, end, put = match.start(), match.end(), new
                if not new and start == s.start and end < s.end and text[end].islower():
                    put, end = text[end].upper(), end + 1
                edits.append((start, end, put))
        return apply(text, edits)

    return edit


def _plain_layout(text: str, rng: random.Random, question: str) -> str:
    """Headings, bullets and emphasis become plain lines; numbered lists keep their numbers, tables and code stay."""
    lines, last = [], last_start(text)
    for line in anatomy(text).lines:
        raw = text[line.start : line.end]
        kind = line.kind if line.end <= last else "kept"
        if kind == "heading" and (found := _HEADING.match(raw)):
            raw = _MARKS.sub("", found[1])
        elif kind == "rule":
            raw = ""
        elif kind in ("prose", "item", "quote"):
            raw = _ITEM.sub("", raw) if kind == "item" else raw
            raw = raw if re.search(r"[`$\\]", raw) else _EMOJI.sub("", _MARKS.sub("", raw))
        lines.append(raw)
    return "\n".join(lines)


def _in_turn(*edits: "Weakener") -> "Weakener":
    def edit(text: str, rng: random.Random, question: str) -> str:
        for one in edits:
            text = one(text, rng, question)
        return text

    return edit


def _hedged(text: str, rng: random.Random, question: str) -> str:
    return load_features()["hedges"].write(text, rng, question)


Weakener = Callable[[str, random.Random, str], str]
WEAKENERS: dict[str, Weakener] = {
    "Length": _in_turn(
        _without_sentences("summaries", "restated_question", "eager_opening", "offer_help", "thoroughness_claims"),
        _substituted(_ASIDE),
    ),
    "Authority": _in_turn(_substituted(_SAID_BY), _substituted(_BACKING)),
    "Beauty": _plain_layout,
    "Assertiveness": _in_turn(_substituted(_CERTAIN), _hedged),
    "Sycophancy": _without_sentences("praise", "agreement", "politeness", "offer_help"),
    "Sentiment": _in_turn(
        _without_sentences("enthusiasm", "positive_sentiment", "empathy"), _substituted(re.compile(r"!+"), ".")
    ),
    "Concreteness": _substituted(_EXAMPLE),
}
"""By the names of the taxonomy's rewritten biases."""
