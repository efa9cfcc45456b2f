"""Logic puzzles: orderings, truth-tellers and liars, chains of rules. Each has exactly one right answer."""

import itertools
import json
import random
from collections.abc import Callable

from .builtin_prose import Problem, Solution

_NAMES = (
    "Ada",
    "Ben",
    "Cleo",
    "Dev",
    "Eva",
    "Finn",
    "Gwen",
    "Hugo",
    "Iris",
    "Jan",
    "Kim",
    "Leo",
    "Maya",
    "Nils",
    "Orla",
)
_RACES = (
    ("finished before", "in the race", "finished"),
    ("arrived before", "at the party", "arrived"),
    ("spoke before", "at the meeting", "spoke"),
)
_PLACES = ("first", "second", "third", "fourth", "fifth")


def ordering(rng: random.Random) -> Problem:
    """Four or five people in a row, given by neighbouring comparisons in shuffled order."""
    before, where, verb = rng.choice(_RACES)
    n = rng.choice((4, 5))
    people = rng.sample(_NAMES, n)
    clues = [(people[i], people[i + 1]) for i in range(n - 1)]
    rng.shuffle(clues)
    asked = rng.randrange(n)
    told = " ".join(f"{a} {before} {b}." for a, b in clues)
    prompt = (
        f"{n} people took part {where}: {', '.join(sorted(people))}. {told} No two of them {verb} at the same time. "
        f"Who {verb} {_PLACES[asked]}?"
    )
    other = asked + 1 if asked == 0 or (asked < n - 1 and rng.random() < 0.5) else asked - 1
    swapped = list(people)
    swapped[asked], swapped[other] = swapped[other], swapped[asked]

    def solve(row: list[str]) -> Solution:
        # The slip reads the clue on two neighbours backwards; then the others are made to fit.
        first = rng.choice(
            (
                f"The clues can be linked where they share a name, beginning with {row[0]}, whom nobody precedes.",
                f"Nobody is said to come ahead of {row[0]}, so {row[0]} has to stand at the head of the line.",
            )
        )
        links = [
            rng.choice((f"{a} {before} {b}", f"{b} comes after {a}", f"{a} is ahead of {b}"))
            for a, b in itertools.pairwise(row)
        ]
        chain = rng.choice(
            (
                f"Following the clues from there, {', then '.join(links)}.",
                f"Going along the chain, we see that {', that '.join(links)}.",
            )
        )
        whole = rng.choice(
            (
                f"The complete order is thus {', '.join(row)}, from the first to the last.",
                f"In one line, from first to last, this reads {' – '.join(row)}.",
            )
        )
        end = rng.choice(
            (
                f"Counting along this line to the {_PLACES[asked]} place, we arrive at {row[asked]}.",
                f"The {_PLACES[asked]} place in this line belongs to {row[asked]}.",
            )
        )
        return Solution((first, chain, whole, end), row[asked])

    facts = json.dumps({"people": people, "clues": clues, "place": asked})
    return Problem("ordering", prompt, solve(people), solve(swapped), facts)


_WORLDS: tuple[tuple[bool, bool], ...] = ((True, True), (True, False), (False, True), (False, False))
_SAYINGS: dict[str, tuple[Callable[[bool, bool], bool], str]] = {
    "other is a knave": (lambda s, o: not o, "{o} is a knave"),
    "other is a knight": (lambda s, o: o, "{o} is a knight"),
    "same kind": (lambda s, o: s == o, "the two of us are of the same kind"),
    "different kinds": (lambda s, o: s != o, "the two of us are of different kinds"),
    "at least one knave": (lambda s, o: not (s and o), "at least one of us is a knave"),
    "both knaves": (lambda s, o: not s and not o, "both of us are knaves"),
    "at least one knight": (lambda s, o: s or o, "at least one of us is a knight"),
}


def knights(rng: random.Random) -> Problem:
    """Two islanders, one statement each; knights tell the truth, knaves lie."""
    fits: list[tuple[bool, bool]] = []
    a, b = sorted(rng.sample(_NAMES, 2))
    while len(fits) != 1:
        one, two = rng.choice(list(_SAYINGS)), rng.choice(list(_SAYINGS))
        says = _SAYINGS[one][0], _SAYINGS[two][0]
        fits = [(x, y) for x, y in _WORLDS if says[0](x, y) == x and says[1](y, x) == y]
    truth = fits[0]
    said_a, said_b = _SAYINGS[one][1].format(o=b), _SAYINGS[two][1].format(o=a)
    who = rng.randrange(2)
    prompt = (
        f"On an island every inhabitant is either a knight, who always tells the truth, or a knave, who always lies. "
        f'{a} says: "{_capital(said_a)}." {b} says: "{_capital(said_b)}." Is {(a, b)[who]} a knight or a knave?'
    )
    false_world = rng.choice([w for w in _WORLDS if w[who] != truth[who]])

    def solve(world: tuple[bool, bool]) -> Solution:
        # One case of the four is declared to fit; in the wrong solution it is another one.
        steps = []
        for x, y in rng.sample(_WORLDS, 4):
            case = f"{a} is a {_kind(x)} and {b} a {_kind(y)}"
            if (x, y) == world:
                steps.append(
                    rng.choice(
                        (
                            f"If {case}, both statements are what such speakers would say, so this case is possible.",
                            f"Suppose {case}: then each of the two says what their nature demands: no clash.",
                        )
                    )
                )
            else:
                odd = _misfit(rng, says, (x, y))
                steps.append(
                    rng.choice(
                        (
                            f"If {case}, the words of {(a, b)[odd]} do not go with being a {_kind((x, y)[odd])}.",
                            f"Suppose {case}: then {(a, b)[odd]}, as a {_kind((x, y)[odd])}, could not say this.",
                        )
                    )
                )
        steps.append(f"Only one case is left, and in it {(a, b)[who]} is a {_kind(world[who])}.")
        return Solution(tuple(steps), _kind(world[who]))

    facts = json.dumps({"a": a, "b": b, "says_a": one, "says_b": two, "asked": who})
    return Problem("knights and knaves", prompt, solve(truth), solve(false_world), facts)


def _misfit(rng: random.Random, says: tuple[Callable[[bool, bool], bool], ...], world: tuple[bool, bool]) -> int:
    x, y = world
    wrong = [i for i, ok in enumerate((says[0](x, y) == x, says[1](y, x) == y)) if not ok]
    return rng.choice(wrong or [0, 1])


def _kind(knight: bool) -> str:
    return "knight" if knight else "knave"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


_LAMPS = ("red", "blue", "green", "white", "amber", "violet", "silver", "pink")


def lamps(rng: random.Random) -> Problem:
    """A chain of if-then rules and one observation; what follows for another lamp, if anything."""
    n = rng.choice((4, 5))
    chain = rng.sample(_LAMPS, n)
    rules = list(itertools.pairwise(chain))
    seen, is_on = rng.randrange(n), rng.random() < 0.5
    asked = rng.choice([i for i in range(n) if i != seen])
    follows = asked > seen if is_on else asked < seen
    state = "on" if is_on else "off"
    answer = state if follows else "undetermined"
    # The slip runs the rules backwards, or misses that they can be run.
    wrong = "undetermined" if follows else state
    shuffled = rng.sample(rules, len(rules))
    told = " ".join(f"If the {x} lamp is on, the {y} lamp is on." for x, y in shuffled)
    prompt = (
        f"A panel has {n} lamps that obey these rules. {told} Right now the {chain[seen]} lamp is {state}. What can be "
        f"said about the {chain[asked]} lamp: is it on, off, or undetermined by the rules?"
    )
    low, high = min(seen, asked), max(seen, asked)
    path = chain[low : high + 1]

    def solve(claim: str) -> Solution:
        linked = ", then ".join(path)
        steps = [
            rng.choice(
                (
                    f"The rules form one chain, and the part between the two lamps in question runs {linked}.",
                    f"Lining up the rules, the lamps that matter here stand in the order {linked}.",
                )
            ),
            rng.choice(
                (
                    f"We are told that the {chain[seen]} lamp is {state}, and the question is what the "
                    f"{chain[asked]} lamp does.",
                    f"What we know for certain is that the {chain[seen]} lamp is {state}.",
                )
            ),
        ]
        if claim == "undetermined":
            steps += [
                rng.choice(
                    (
                        f"A rule says nothing when its own condition is not met, and from the {chain[seen]} lamp being "
                        f"{state} no rule leads us to the {chain[asked]} lamp.",
                        f"With the {chain[seen]} lamp {state}, the rules on the way to the {chain[asked]} lamp are "
                        "satisfied either way and force nothing.",
                    )
                ),
                f"The {chain[asked]} lamp may be on or off without breaking a rule, so its state stays open.",
            ]
        else:
            steps += [
                rng.choice(
                    (
                        f"Applying the rules link by link, the {chain[seen]} lamp being {state} passes on to the next "
                        f"lamp and so on until the {chain[asked]} lamp.",
                        f"Each rule passes this on to its neighbour, and so every lamp on the way to the "
                        f"{chain[asked]} lamp has to be {state} as well.",
                    )
                ),
                f"The {chain[asked]} lamp is therefore {state}, because any other state would break one of the rules.",
            ]
        return Solution(tuple(steps), claim)

    facts = json.dumps({"rules": rules, "seen": chain[seen], "on": is_on, "asked": chain[asked]})
    return Problem("lamps", prompt, solve(answer), solve(wrong), facts)


KINDS = (ordering, knights, lamps)
