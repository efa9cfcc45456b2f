"""Small Python programs: what do they print? The facts hold the program, so that the answer can be run."""

import json
import random
from collections.abc import Callable, Sequence

from .builtin_prose import Problem, Solution

_WORDS = (
    "harbour",
    "lantern",
    "meadow",
    "cinnamon",
    "glacier",
    "orchard",
    "velvet",
    "thunder",
    "marble",
    "compass",
    "saffron",
    "whisper",
    "cascade",
    "juniper",
    "pebble",
    "horizon",
    "banana",
    "mississippi",
    "committee",
    "bookkeeper",
)


def _problem(rng: random.Random, kind: str, code: str, right: Solution, wrong: Solution) -> Problem:
    ask = rng.choice(
        (
            "What does this Python program print?",
            "Give the exact output of the following Python code.",
            "When this Python snippet is run, what appears on the screen?",
        )
    )
    return Problem(kind, f"{ask}\n\n```python\n{code}\n```", right, wrong, json.dumps({"code": code}))


def total_in_range(rng: random.Random) -> Problem:
    """A sum over a range with a condition; the slip is a bound or a sum."""
    low, high, k = rng.randint(1, 9), rng.randint(14, 25), rng.choice((2, 3, 4, 5))
    code = f"total = 0\nfor i in range({low}, {high}):\n    if i % {k} == 0:\n        total += i\nprint(total)"
    values = [i for i in range(low, high) if i % k == 0]

    def solve(terms: Sequence[int], total: int) -> Solution:
        return Solution(
            (
                rng.choice(
                    (
                        f"The loop lets i run through the numbers that range({low}, {high}) supplies, one at a time.",
                        f"The variable i takes the values of range({low}, {high}) in ascending order.",
                    )
                ),
                f"Of these, only numbers divisible by {k} pass the test i % {k} == 0 and are added.",
                f"They are {', '.join(map(str, terms))}, so the variable total ends as {' + '.join(map(str, terms))}.",
                rng.choice(
                    (f"The sum of these numbers is {total}.", f"Adding them up, total holds {total} at the end.")
                ),
            ),
            str(total),
        )

    off = sum(values) + rng.choice((-k, -2, -1, 1, 2, k))
    if rng.random() < 0.5:
        terms = rng.choice((values[1:] if len(values) > 2 else values[:-1] or [k], [*values, values[-1] + k]))
        wrong = solve(terms, sum(terms))
    else:
        wrong = solve(values, off)
    return _problem(rng, "total in range", code, solve(values, sum(values)), wrong)


def sliced_word(rng: random.Random) -> Problem:
    """A slice of a word, perhaps reversed; the slip is a bound one off."""
    word = rng.choice(_WORDS)
    start = rng.randint(0, 2)
    stop = rng.randint(start + 3, len(word) - 1)
    back = rng.random() < 0.5
    code = f'word = "{word}"\npart = word[{start}:{stop}]\nprint(part{"[::-1]" if back else ""})'

    def solve(i: int, j: int) -> Solution:
        part = word[i:j]
        shown = part[::-1] if back else part
        return Solution(
            (
                rng.choice(
                    (
                        f'Positions are counted from zero, so the first letter of "{word}" has the index 0.',
                        f'In "{word}" the letter at index 0 is "{word[0]}", as Python counts from zero.',
                    )
                ),
                rng.choice(
                    (
                        f'The slice with the bounds {start} and {stop} begins at the letter "{word[i]}" and ends with '
                        f'"{part[-1]}".',
                        f'Cutting with {start} and {stop} takes the letters from "{word[i]}" up to "{part[-1]}".',
                    )
                ),
                f'The variable part is therefore the string "{part}", which has {len(part)} letters.',
                (
                    f'The step of −1 turns it around before it is printed, which makes it "{shown}".'
                    if back
                    else f'The call to print shows it as it is and without quotation marks: "{shown}".'
                ),
            ),
            shown,
        )

    moves = [(start, stop + 1), (start, stop - 1), (start + 1, stop)]
    if start:
        moves.append((start - 1, stop))
    return _problem(rng, "sliced word", code, solve(start, stop), solve(*rng.choice(moves)))


def shared_list(rng: random.Random) -> Problem:
    """Two names for one list, or a copy; the slip mixes them up."""
    items = rng.sample(range(1, 40), rng.choice((3, 4)))
    new, factor = rng.randint(41, 90), rng.randint(2, 9)
    copied = rng.random() < 0.5
    code = (
        f"first = {items}\nsecond = {'list(first)' if copied else 'first'}\nsecond.append({new})\n"
        f"print(len(first) * {factor})"
    )

    def solve(grows: bool) -> Solution:
        length = len(items) + grows
        why = (
            "The second line binds another name to the very same list object, and no new list comes into being."
            if grows
            else "The second line gives second a list object of its own with the same elements as first."
        )
        then = (
            f"Appending {new} through second therefore shows up in first too, which now has {length} elements."
            if grows
            else f"Appending {new} to second therefore leaves first alone, and it still has {length} elements."
        )
        return Solution(
            (
                rng.choice(
                    (
                        f"At the start first holds {len(items)} elements, namely {', '.join(map(str, items))}.",
                        f"The list called first is created with {len(items)} numbers: {', '.join(map(str, items))}.",
                    )
                ),
                why,
                then,
                f"The last line prints this length times {factor}, and {length} × {factor} = {length * factor}.",
            ),
            str(length * factor),
        )

    return _problem(rng, "shared list", code, solve(not copied), solve(copied))


def letter_count(rng: random.Random) -> Problem:
    """Counting letters of two words in a dictionary; the slip miscounts."""
    one, two = rng.sample(_WORDS, 2)
    joined = one + two
    letter = rng.choice(sorted({c for c in joined if joined.count(c) > 1}))
    plus = rng.randint(3, 40)
    code = (
        f'counts = {{}}\nfor letter in "{one}" + "{two}":\n    counts[letter] = counts.get(letter, 0) + 1\n'
        f'print(counts["{letter}"] + {plus})'
    )

    def solve(n: int, m: int) -> Solution:
        return Solution(
            (
                rng.choice(
                    (
                        "The loop goes through both words and keeps a tally of every letter in the dictionary counts.",
                        f"The dictionary counts ends up with the number of times that each letter occurs in {joined}.",
                    )
                ),
                f'Only the letter "{letter}" matters for the output, so I count that one in each of the words.',
                rng.choice(
                    (
                        f'In "{one}" it occurs {_times(n)}, and in "{two}" it occurs {_times(m)}.',
                        f'The first word, "{one}", has it {_times(n)} and the second, "{two}", {_times(m)}.',
                    )
                ),
                f"The entry is thus {n} + {m} = {n + m}, and with {plus} added the program prints {n + m + plus}.",
            ),
            str(n + m + plus),
        )

    n, m = one.count(letter), two.count(letter)
    moves = [(n + 1, m), (n, m + 1)] + ([(n - 1, m)] * 2 if n else []) + ([(n, m - 1)] * 2 if m else [])
    return _problem(rng, "letter count", code, solve(n, m), solve(*rng.choice(moves)))


def _times(n: int) -> str:
    return {0: "not at all", 1: "once", 2: "twice"}.get(n, f"{n} times")


def recursion(rng: random.Random) -> Problem:
    """A linear recursion followed by hand; the slip is one step's arithmetic."""
    start, factor, plus, n = rng.randint(1, 6), rng.choice((2, 3)), rng.randint(1, 9), rng.choice((3, 4))
    code = (
        f"def f(n):\n    if n == 0:\n        return {start}\n    return {factor} * f(n - 1) + {plus}\n\nprint(f({n}))"
    )

    def solve(slip: Callable[[int, int], int]) -> Solution:
        value, steps = start, []
        for i in range(1, n + 1):
            before, value = value, slip(i, factor * value + plus)
            steps.append(
                rng.choice(
                    (
                        f"For n = {i} the function returns {factor} × {before} + {plus} = {value}.",
                        f"The value of f({i}) is {factor} × {before} + {plus}, that is {value}.",
                    )
                )
            )
        opening = rng.choice(
            (
                f"The recursion stops at n = 0, where the function returns {start} without calling itself again.",
                f"The base case is n = 0 with the value {start}, and everything else is built up from it.",
            )
        )
        return Solution((opening, *steps), str(value))

    at, by = rng.randint(1, n), rng.choice((-2, -1, 1, 2))
    return _problem(rng, "recursion", code, solve(lambda _, v: v), solve(lambda i, v: v + by if i == at else v))


KINDS = (total_in_range, sliced_word, shared_list, letter_count, recursion)
