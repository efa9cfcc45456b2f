"""How built-in answers are worded: openers, layouts and ways to give the final answer."""

import random
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Solution:
    """Sentences of reasoning and the final answer they lead to."""

    steps: tuple[str, ...]
    answer: str


@dataclass(frozen=True)
class Problem:
    """A question with its right solution and one that goes wrong at one place."""

    kind: str
    prompt: str
    right: Solution
    wrong: Solution
    facts: str
    """JSON: what the right answer follows from."""


OPENERS = (
    "Let me work through this step by step so that each part can be checked.",
    "This is easiest to settle by taking the pieces one after another.",
    "To answer this, I will set out what we know and build on it.",
    "Here is how I would approach the question, one step at a time.",
    "We can get there directly if we keep careful track of what is given.",
    "I'll start from the information in the question and reason forward.",
    "There is nothing tricky here as long as the steps are kept in order.",
    "A short, careful derivation is enough for this one.",
)
BRIDGES = (
    "With that in place, only the conclusion is left.",
    "Nothing else in the question changes this.",
    "Putting these pieces together settles the matter.",
    "That covers everything that was asked for.",
    "Looking back over the steps, each one follows from the one before.",
    "All the information given has now been used.",
)
FINALS = (
    "The answer is {}.",
    "So the answer is {}.",
    "Final answer: {}",
    "Answer: {}",
    "Therefore, the final answer is {}.",
    "This gives **{}** as the answer.",
    "Hence the result is {}.",
    "The result: \\boxed{{{}}}",
)
_FIRST = ("First, ", "To begin, ", "First of all, ", "Start here: ")
_NEXT = ("Next, ", "Then ", "After that, ", "From here, ", "Now ")

_FINAL_FORMS = re.compile(
    r"(?:answer is |Final answer: |Answer: |This gives \*\*|Hence the result is |\\boxed\{)"
    r"(?P<answer>[^\n]+?)(?:\*\* as the answer\.|\}|\.)?$"
)


def compose(rng: random.Random, solution: Solution) -> str:
    """One answer in prose, as a paragraph, in paragraphs, or as a list; the final answer stands at the end."""
    steps = list(solution.steps)
    layout = rng.choice(("paragraph", "paragraphs", "numbered", "linked"))
    if layout == "linked":
        steps = [_link(rng.choice(_FIRST if i == 0 else _NEXT), s) for i, s in enumerate(steps)]
    if layout == "numbered":
        body = "\n".join(f"{i}. {s}" for i, s in enumerate(steps, 1))
    else:
        body = "\n\n".join(steps) if layout == "paragraphs" else " ".join(steps)
    gap = " " if layout in ("paragraph", "linked") else "\n\n"
    final = rng.choice(FINALS).format(solution.answer)
    parts = [rng.choice(OPENERS), body, rng.choice(BRIDGES)]
    return gap.join(parts) + "\n\n" + final


def final_answer(text: str) -> str:
    """The final answer of a built-in answer; empty when its last line gives none."""
    match = _FINAL_FORMS.search(text.rstrip().rsplit("\n", 1)[-1])
    return match["answer"] if match else ""


def _link(word: str, step: str) -> str:
    """`word` before `step`, whose first letter becomes small where that is safe (an article or a common opening)."""
    opening = step.split(" ", 1)[0]
    if opening in _SMALL:
        return word + step[0].lower() + step[1:]
    return word.rstrip(" ,:") + ": " + step


_SMALL = frozenset(
    {
        "The",
        "A",
        "An",
        "This",
        "That",
        "These",
        "Those",
        "We",
        "It",
        "Adding",
        "Taking",
        "Multiplying",
        "Subtracting",
        "Dividing",
        "Counting",
        "In",
        "On",
        "With",
        "For",
        "Each",
        "Every",
        "Both",
        "Since",
        "Because",
        "If",
        "When",
        "Reading",
        "Going",
        "Comparing",
        "Writing",
        "There",
        "To",
        "All",
        "After",
        "Before",
    }
)
