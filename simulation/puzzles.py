"""Questions whose right answer follows from their text alone.

Each domain makes a question, solves it again from its text, makes a plausible wrong answer, and tells the working in
sentences. The world's judge knows quality only through `solve`: it never sees a label.
"""

import random
import re
from collections.abc import Callable
from typing import NamedTuple

from .spec import Domain

_NAMES = [
    "Amara",
    "Boris",
    "Chen",
    "Dalia",
    "Emil",
    "Farah",
    "Goran",
    "Hana",
    "Ivo",
    "Jun",
    "Kofi",
    "Lena",
    "Mateo",
    "Nadia",
    "Omar",
    "Petra",
    "Rosa",
    "Samir",
    "Tove",
]
_THINGS = ["marbles", "pencils", "apples", "stickers", "buttons", "candles", "tiles", "ribbons", "postcards", "shells"]
_WORDS = [
    "anchor",
    "basket",
    "canyon",
    "dagger",
    "ember",
    "fabric",
    "garden",
    "hammer",
    "island",
    "jacket",
    "kettle",
    "ladder",
    "magnet",
    "needle",
    "orchid",
    "pepper",
    "quiver",
    "ribbon",
    "saddle",
    "temple",
    "umbra",
    "velvet",
    "walnut",
    "yonder",
    "zephyr",
    "bronze",
    "copper",
    "dragon",
    "elbow",
    "falcon",
    "goblet",
    "hollow",
    "insect",
    "jungle",
    "kernel",
    "lizard",
    "mirror",
    "nectar",
    "oyster",
    "planet",
    "rocket",
    "silver",
    "timber",
    "valley",
    "window",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_NTH = ("first", "second", "third", "fourth", "fifth")


class Puzzle(NamedTuple):
    """One domain; `pattern` recognises its questions."""

    pattern: re.Pattern[str]
    make: Callable[[random.Random], str]
    solve: Callable[[re.Match[str]], str]
    slip: Callable[[re.Match[str], str, random.Random], str]
    """(question, right answer, generator) -> wrong answer."""
    working: Callable[[re.Match[str]], list[list[str]]]
    """Steps, each with its wordings, that do not give away the result."""


def solve(question: str) -> str | None:
    """The right final answer, in lower case; None for a question of no known domain."""
    for puzzle in PUZZLES.values():
        if match := puzzle.pattern.search(question):
            return puzzle.solve(match).lower()
    return None


def _near(match: re.Match[str], right: str, rng: random.Random) -> str:
    return str(max(int(right) + rng.choice([-10, -2, -1, 1, 2, 10]), 0) if int(right) > 10 else int(right) + 1)


def _make_arithmetic(rng: random.Random) -> str:
    name, thing = rng.choice(_NAMES), rng.choice(_THINGS)
    a, b, c = rng.randint(4, 19), rng.randint(6, 24), rng.randint(3, 20)
    return rng.choice(
        [
            f"{name} buys {a} boxes with {b} {thing} in each box and gives away {c}. How many {thing} are left?",
            f"A shelf holds {a} boxes with {b} {thing} in each box. {name} takes {c} of them. How many {thing} stay?",
        ]
    )


def _make_sequence(rng: random.Random) -> str:
    start, step, times = rng.randint(3, 60), rng.randint(3, 17), rng.randint(5, 19)
    return rng.choice(
        [
            f"Starting at {start}, add {step} exactly {times} times. Which number do you reach?",
            f"A counter stands at {start}. Add {step} exactly {times} times. What does the counter read?",
        ]
    )


def _make_sorting(rng: random.Random) -> str:
    chosen = rng.sample(_WORDS, 5)
    return f"Sort these words alphabetically: {', '.join(chosen)}. Which word comes {rng.choice(_NTH[1:4])}?"


def _solve_sorting(match: re.Match[str]) -> str:
    words = sorted(str(match[1]).split(", "))
    return words[_NTH.index(match[2])]


def _make_spelling(rng: random.Random) -> str:
    word = rng.choice(_WORDS) + rng.choice(_WORDS)
    return rng.choice(
        [f"Write the letters of '{word}' in reverse.", f"A sign shows '{word}'. Spell its letters in reverse."]
    )


def _swap_letters(match: re.Match[str], right: str, rng: random.Random) -> str:
    places = [i for i in range(len(right) - 1) if right[i] != right[i + 1]]
    i = rng.choice(places)
    return right[:i] + right[i + 1] + right[i] + right[i + 2 :]


def _make_counting(rng: random.Random) -> str:
    chosen = rng.sample(_WORDS, rng.randint(6, 9))
    letter = rng.choice([x for x in "aeilnorst" if sum(w.count(x) for w in chosen) > 1])
    return f"How many times does the letter '{letter}' occur in these words: {', '.join(chosen)}?"


def _make_calendar(rng: random.Random) -> str:
    day, days = rng.choice(_DAYS), rng.randint(10, 99)
    return rng.choice(
        [
            f"Today is {day}. Which weekday will it be in {days} days?",
            f"It is {day}. What weekday is it in {days} days?",
        ]
    )


def _solve_calendar(match: re.Match[str]) -> str:
    return _DAYS[(_DAYS.index(match[1]) + int(match[2])) % 7]


def _other_day(match: re.Match[str], right: str, rng: random.Random) -> str:
    days = [day.lower() for day in _DAYS]
    return days[(days.index(right) + rng.choice([-1, 1, 2])) % 7].capitalize()


PUZZLES: dict[Domain, Puzzle] = {
    "arithmetic": Puzzle(
        re.compile(r"(\d+) boxes with (\d+) \w+ in each box.*?(?:gives away|takes) (\d+)"),
        _make_arithmetic,
        lambda m: str(int(m[1]) * int(m[2]) - int(m[3])),
        _near,
        lambda m: [
            [f"There are {m[1]} boxes and {m[2]} pieces in each.", f"Each of the {m[1]} boxes holds {m[2]} pieces."],
            [f"Multiply {m[1]} by {m[2]} for all boxes together.", f"All boxes together hold {m[1]} times {m[2]}."],
            [f"Then subtract the {m[3]} pieces that leave.", f"From this product take off {m[3]} pieces."],
        ],
    ),
    "sequences": Puzzle(
        re.compile(r"(?:Starting|stands) at (\d+)[,.] [Aa]dd (\d+) exactly (\d+) times"),
        _make_sequence,
        lambda m: str(int(m[1]) + int(m[2]) * int(m[3])),
        _near,
        lambda m: [
            [f"The value at the outset is {m[1]}.", f"Before anything is added the value is {m[1]}."],
            [f"Adding {m[2]} in total {m[3]} times is one product.", f"The {m[3]} additions are all of {m[2]}."],
            [f"This product goes on top of {m[1]}.", f"Put the additions together with {m[1]}."],
        ],
    ),
    "sorting": Puzzle(
        re.compile(r"Sort these words alphabetically: ([a-z, ]+)\. Which word comes (\w+)\?"),
        _make_sorting,
        _solve_sorting,
        lambda m, right, rng: rng.choice([word for word in m[1].split(", ") if word != right]),
        lambda m: [
            ["The words differ in their opening letters.", "Compare the words by their opening letters."],
            ["Put the word with the earliest letter at the top.", "The earliest letter in the alphabet goes on top."],
            ["Go down the sorted list to the place that is asked for.", "Read off the place that the task asks for."],
        ],
    ),
    "spelling": Puzzle(
        re.compile(r"(?:letters of|sign shows) '([a-z]+)'.*in reverse"),
        _make_spelling,
        lambda m: m[1][::-1],
        _swap_letters,
        lambda m: [
            [f"The given letters are those of {m[1]}.", f"The letters to handle are {m[1]}."],
            ["Take the letters from the right end to the left end.", "Walk through the letters from right to left."],
            ["Put each letter behind the one before.", "Append every letter to those already taken."],
        ],
    ),
    "counting": Puzzle(
        re.compile(r"How many times does the letter '([a-z])' occur in these words: ([a-z, ]+)\?"),
        _make_counting,
        lambda m: str(m[2].count(m[1])),
        lambda m, right, rng: str(max(int(right) + rng.choice([-1, 1]), 1) if int(right) > 1 else 2),
        lambda m: [
            [f"Look at every word for the letter {m[1]}.", f"The letter {m[1]} has to be found in every word."],
            ["Note for each word how often it occurs.", "Some words have it more than once, some not at all."],
            ["Add up what the words contribute.", "The contributions of the words are added up."],
        ],
    ),
    "calendar": Puzzle(
        re.compile(r"(?:Today|It) is (\w+day)\. Wh(?:ich|at) weekday (?:will it be|is it) in (\d+) days\?"),
        _make_calendar,
        _solve_calendar,
        _other_day,
        lambda m: [
            [f"The week repeats after seven days, so reduce {m[2]}.", f"Divide {m[2]} by seven and look at the rest."],
            [f"Whole weeks lead back to {m[1]}.", f"After whole weeks it is {m[1]} again."],
            ["Move forward by the days that remain.", "Count on by the days that remain."],
        ],
    ),
}
