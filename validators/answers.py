"""Final answers: reading them from a text and comparing two. Strict: when unsure, None or `unknown`, never a guess.

Read are, near the end of a text: `\\boxed{...}`, "the answer is ...", "Answer: ...", a letter repeated five times,
and a last line that is nothing but a letter or a number, or has one in bold. When these disagree with each other
there is no answer. Letters, yes/no words and numbers can be told to differ; other texts only to be the same.
"""

import re
from fractions import Fraction
from typing import Literal, NamedTuple

Comparison = Literal["same", "different", "unknown"]
Change = Literal["same", "changed", "unknown"]

TAIL = 20_000
"""Only this many last characters are searched."""
CLOSE = Fraction(1, 100)
"""Two numbers that are not whole and differ by less than this share may be roundings of each other: unknown."""


class Answer(NamedTuple):
    """A final answer. `text` is normalised; `number` (percent: as written) and `unit` only for numbers."""

    kind: Literal["choice", "number", "text"]
    text: str
    number: Fraction | None = None
    percent: bool = False
    unit: str = ""


_MARKER = re.compile(
    r"(?P<final>\bfinal\s+)?\b(?:answer|correct\s+(?:option|choice))\b[*_`]{0,3}"
    r"(?:\s+(?:is|would\s+be|should\s+be|must\s+be)\b(?!\s+not\b)\s*:?|\s*[:=]|\s*(?=\n))[ \t]*[*_`]{0,3}",
    re.IGNORECASE,
)
_REPEATED = re.compile(r"(?<![A-Za-z])([A-Z])\1{4,}(?![A-Za-z])")
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BESIDE = re.compile(r"[\s$,;]*(?:or|and|\\text\s*\{\s*(?:or|and)\s*\})?[\s$]*")
_BOLD = re.compile(r"\*\*([^*\n]{1,60})\*\*|__([^_\n]{1,60})__")
_WRAPPER = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mathit|operatorname)\s*\{([^{}]*)\}")
_FRACTION = re.compile(r"\\[dt]?frac\s*(?:\{\s*(-?\d{1,30})\s*\}\s*\{\s*(\d{1,30})\s*\}|(\d)\s*(\d))(?!\d)")
_POWER = re.compile(r"\s*(?:×|x|\*|\\times|\\cdot)\s*10\s*\^\s*\{?\s*([+-]?\d{1,3})\s*\}?")
_LETTER = re.compile(
    r"(?:(?:option|choice|answer)\s+)?(?:\(([A-Za-z])\)|\[([A-Za-z])\]|([A-Z])(?=$|[).:,;]))", re.IGNORECASE
)
_AFTER_LETTER = re.compile(r"([A-J])\s+(?:because|since|as|which)\b")
_WORDS = re.compile(r"(yes|no|true|false)(?:\s*,\s*(?:yes|no|true|false))*", re.IGNORECASE)
_SECOND = re.compile(r"\s*(?:,|and|or|&|/|\+)\s*(?:option\s+)?[(\[]?[A-Z][)\]]?(?![A-Za-z])")
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d{1,40})(?:\.\d{1,40})?|[+-]?\.\d{1,40}")
_HEDGE = re.compile(r"(?:approximately|about|roughly|around|exactly|≈|~|\\approx)\s*", re.IGNORECASE)
_UNIT = re.compile(r"\s*([A-Za-z°²³µ/^]+(?:\s+[A-Za-z°²³µ/^]+){0,2})\s*(?=$|[.,;!)\n])")
_RANGE = re.compile(r"\s*(?:or|to|and|-|–|—|±|[,;])\s*[\d(+-]|\s*[/*^=:+×]\s*\S|[,.]\d|\s*[,;]\s*[A-Za-z]\w*\s*=")
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SHORT_SCALES = {"mn", "mio", "mil", "mill", "bn", "mrd", "tn"}
_SPACED = re.compile(r"(?<=\d)(?:[\u00a0\u2009\u202f]|\{,\})(?=\d{3}(?!\d))")
_BLOCK = re.compile(r"\s*(?:```|~~~|\||[-*+•]\s|\d{1,3}[.)]\s)")
"""How code, a table or a list begins: an answer of several lines, which its first one does not say."""
_RETRACTED = re.compile(
    r"(?:^|[.!?,;:)\n—–-])[\s*_]*(?:(?:no|oh|hmm)\b[\s,.]*)?(?:wait\b|hold on\b|actually,|i mean\b|scratch that\b|"
    r"correction:|on second thought\b|or rather\b|oops\b|let me (?:correct|re-?check|redo|recompute)\b)",
    re.IGNORECASE,
)
"""Words that take back what was just said."""


def extract_answer(text: str) -> Answer | None:
    """The final answer of `text`, or None when there is none, or more than one."""
    tail = text[-TAIL:]
    explicit = [*_boxed(tail), *_marked(tail), *_repeated(tail)]
    sure = [answer for answer in explicit if answer.kind != "text"]
    found = sure or explicit
    if not found:
        return _last_line(tail)
    first = found[0]
    if _retracted(tail):
        return None
    return first if all(_compare(first, other) == "same" for other in found[1:]) else None


def compare_answers(a: str, b: str) -> Comparison:
    """Whether two texts end in the same final answer; texts that are equal throughout are the same."""
    if a.strip() == b.strip():
        return "same" if a.strip() else "unknown"
    first, second = extract_answer(a), extract_answer(b)
    return _compare(first, second) if first and second else "unknown"


def answer_change(original_rejected: str, chosen: str, rewritten: str) -> Change:
    """Whether a rewrite of the rejected answer still ends in its final answer.

    `changed` also when the rewrite ends in the chosen answer and the original did not, whatever else is unclear.
    """
    kept = compare_answers(original_rejected, rewritten)
    if kept != "unknown":
        return "same" if kept == "same" else "changed"
    became_right = (
        compare_answers(rewritten, chosen) == "same" and compare_answers(original_rejected, chosen) == "different"
    )
    return "changed" if became_right else "unknown"


def parse_answer(fragment: str) -> Answer | None:
    """What one answer fragment says ("(B)", "1,234.50", "\\frac{1}{2}", "42 apples", "Paris").

    None when it is unclear.
    """
    cleaned = _clean(fragment)
    if not cleaned:
        return None
    repeated = re.fullmatch(r"([A-Z])\1{2,}", cleaned.rstrip("."))
    if repeated:
        return Answer("choice", repeated.group(1))
    if _WORDS.fullmatch(cleaned.rstrip(".")):
        return Answer("choice", re.sub(r"\s*,\s*", ", ", cleaned.rstrip(".")).casefold())
    letter = _LETTER.match(cleaned)
    bare = _AFTER_LETTER.match(cleaned)
    if letter and letter.group(3) and not letter.group(3).isupper():
        letter = None
    if letter or bare:
        match = letter or bare
        assert match is not None
        if _SECOND.match(cleaned, match.end() if letter else match.end(1)):
            return None
        return Answer("choice", next(group for group in match.groups() if group).upper())
    if re.match(r"(?:option\s+)?[A-J]\s*(?:,|and|or|&|/)\s*(?:option\s+)?[A-J]\b", cleaned):
        return None
    if re.match(r"(?:[a-zA-Z]\s*=\s*)?(?:[$€£]\s*)?[+-]?(?:[$€£]\s*)?[\d.\\]", _HEDGE.sub("", cleaned, count=1)):
        number = _parse_number(_HEDGE.sub("", cleaned, count=1))
        if number or not cleaned.startswith("\\"):
            return number
    plain = re.sub(r"\s+", " ", cleaned).strip(" .,;:!\"'“”‘’").casefold()
    return Answer("text", plain) if 0 < len(plain) <= 200 else None


def _parse_number(text: str) -> Answer | None:
    text = re.sub(r"^[a-zA-Z]\s*=\s*", "", text)
    text = re.sub(r"^([+-]?)\s*[$€£]\s*", r"\1", text)
    latex = _FRACTION.match(text.lstrip("+-"))
    if latex:
        sign = -1 if text.startswith("-") else 1
        end = len(text) - len(text.lstrip("+-")) + latex.end()
        top, bottom = (int(part) for part in latex.groups() if part is not None)
        return _with_unit(sign * Fraction(top, bottom), text[end:]) if bottom else None
    match = _NUMBER.match(text)
    if not match:
        return None
    value, rest = Fraction(match.group().replace(",", "")), text[match.end() :]
    whole = "." not in match.group()
    over = re.match(r"\s*/\s*(\d{1,40})(?![\d.,/]*\d)", rest)
    mixed = re.match(r"\s+(\d{1,10})/(\d{1,10})(?!\d)", rest)
    if mixed and whole and int(mixed.group(2)):
        part = Fraction(int(mixed.group(1)), int(mixed.group(2)))
        value, rest = value + (-part if match.group().startswith("-") else part), rest[mixed.end() :]
    elif over and int(over.group(1)):
        value, rest = value / int(over.group(1)), rest[over.end() :]
    else:
        power = re.match(r"[eE]([+-]?\d{1,3})(?![\d.])", rest) or _POWER.match(rest)
        if power:
            value, rest = value * Fraction(10) ** int(power.group(1)), rest[power.end() :]
    return _with_unit(value, rest)


def _with_unit(value: Fraction, rest: str) -> Answer | None:
    percent = re.match(r"\s*\\?(?:%|percent\b)", rest)
    if percent:
        rest = rest[percent.end() :]
    if _RANGE.match(rest):
        return None
    unit = ""
    scale = re.match(r"\s*([a-z]+)\b", rest, re.IGNORECASE)
    if scale and scale.group(1).casefold() in _SHORT_SCALES:
        return None
    if scale and (times := _SCALES.get(scale.group(1).casefold().removesuffix("s"))):
        value, rest = value * times, rest[scale.end() :]
    if not re.match(r"\s*(?:$|[.,;:!?)\n])", rest):
        words = _UNIT.match(rest)
        if not words:
            return None
        unit = re.sub(r"\s+", " ", words.group(1)).casefold()
        if unit.split(" ")[0] in {"or", "to", "and", "if", "when", "times", "plus", "minus", "not"}:
            return None
    return Answer("number", str(value), value, bool(percent), unit)


def _compare(a: Answer, b: Answer) -> Comparison:
    if a.kind != b.kind:
        return "unknown"
    if a.kind == "number":
        return _compare_numbers(a, b)
    if a.text == b.text:
        return "same"
    return "different" if a.kind == "choice" and _form(a.text) == _form(b.text) else "unknown"


def _form(choice: str) -> tuple[bool, bool, int]:
    """What a choice is made of: letter, yes/no or true/false, and how many; only like things can differ."""
    words = choice.split(", ")
    return len(choice) == 1, words[0] in ("yes", "no"), len(words)


def _compare_numbers(a: Answer, b: Answer) -> Comparison:
    assert a.number is not None and b.number is not None
    if a.unit and b.unit and a.unit != b.unit and a.unit.rstrip("s") != b.unit.rstrip("s"):
        return "unknown"
    if a.unit != b.unit and 1 in (len(a.unit), len(b.unit)):
        # "3x" is not "3"; a single letter may be a variable as well as a unit.
        return "unknown"
    if a.percent != b.percent and a.number == b.number and a.number:
        return "unknown"
    x = a.number / 100 if a.percent else a.number
    y = b.number / 100 if b.percent else b.number
    if x == y:
        return "same"
    both_whole = a.number.denominator == 1 and b.number.denominator == 1
    close = abs(x - y) <= CLOSE * max(abs(x), abs(y))
    return "unknown" if close and not both_whole else "different"


def _boxed(text: str) -> list[Answer]:
    """The last boxed expression, with those right beside it; braces may be nested."""
    found: list[Answer] = []
    later = None
    for match in reversed(list(_BOXED.finditer(text))):
        end = _closing(text, match.end())
        if later is not None and (end is None or not _BESIDE.fullmatch(text, end + 1, later)):
            break
        # In a box "5!" is a factorial, elsewhere an exclamation.
        inside = text[match.end() : end].strip() if end is not None else ""
        answer = None if inside.endswith("!") else parse_answer(inside)
        if answer is None:
            return []
        found.append(answer)
        later = match.start()
    return found


def _closing(text: str, start: int) -> int | None:
    depth = 1
    for position in range(start, min(len(text), start + 2_000)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if not depth:
            return position
    return None


def _marked(text: str) -> list[Answer]:
    """What follows "the answer is": all of them, or only those after the words "final answer" when these occur."""
    found: list[tuple[bool, Answer]] = []
    outer = False
    for match in _MARKER.finditer(text):
        rest = text[match.end() : match.end() + 300].lstrip(" \t*_`#")
        if _begins_block(text[match.end() : match.end() + 300].lstrip(" \t*_")):
            continue
        line = rest.lstrip("\n *_`#").split("\n", 1)[0]
        is_final, outer = bool(match.group("final")) or outer, False
        if "\\boxed" in line or _REPEATED.search(line):
            continue
        answer = parse_answer(line)
        if _MARKER.search(line) and (answer is None or answer.kind == "text"):
            # "Final answer: the answer is B" is one answer, said by the inner words.
            outer = is_final
            continue
        if answer and answer.kind == "text" and (line.rstrip("*_ ").endswith(":") or _BLOCK.match(_below(rest, line))):
            answer = None
        if answer:
            found.append((is_final, answer))
    final = [answer for is_final, answer in found if is_final]
    return final or [answer for _, answer in found]


def _begins_block(rest: str) -> bool:
    """Whether code follows, or a table or list on lines of its own: "The answer is 7. It is small" is none."""
    return rest.startswith(("```", "~~~")) or (rest.startswith("\n") and bool(_BLOCK.match(rest.lstrip("\n"))))


def _retracted(text: str) -> bool:
    """Whether the last answer said by a marker or in a box is taken back after it, and none is said again."""
    last = max((match.end() for match in (*_MARKER.finditer(text), *_BOXED.finditer(text))), default=len(text))
    return bool(_RETRACTED.search(text, last))


def _below(rest: str, line: str) -> str:
    """The next line with something in it."""
    return rest[rest.index(line) + len(line) :].lstrip("\n") if line else ""


def _repeated(text: str) -> list[Answer]:
    letters = list(dict.fromkeys(_REPEATED.findall(text)))
    return [Answer("choice", letter) for letter in letters]


def _last_line(text: str) -> Answer | None:
    lines = text.strip().rsplit("\n", 1)
    line = lines[-1].strip() if lines else ""
    if len(line) > 300:
        return None
    bold = [first or second for first, second in _BOLD.findall(line)]
    fragments = bold if len(bold) == 1 else [line] if len(line) <= 40 else []
    answer = parse_answer(fragments[0]) if fragments else None
    if answer is None or answer.kind == "text":
        return None
    if re.match(r"\d{1,3}[.)]\s+\S", fragments[0]):
        return None  # an item of a list
    # A line that goes on after its letter or number ("2 cups of flour", "A. Smith") is not an answer line.
    whole = re.sub(r"[*_`$()\[\]{}\s.:]", "", fragments[0])
    size = 12 if answer.kind == "choice" else 30
    if answer.kind == "choice" and _WORDS.fullmatch(answer.text):
        return answer
    if answer.kind == "choice" and not re.fullmatch(r"(?i:option|choice|answer)?([A-Za-z])\1*", whole):
        return None
    return answer if len(whole) <= size and not answer.unit else None


def _clean(fragment: str) -> str:
    text = (
        _SPACED.sub("", fragment)
        .replace("−", "-")
        .replace("–", "-")
        .replace("\\%", "%")
        .replace("\\$", "$")
        .replace("\\,", "")
    )
    text = re.sub(r"\\[()\[\]!;]", "", text)
    for _ in range(3):
        text = _WRAPPER.sub(r"\1", text)
    text = re.sub(r"[*`]{1,3}|__|\$(?!\s*\d)", "", text)
    return text.strip().strip("\"'“”‘’").strip()
