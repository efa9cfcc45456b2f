"""Word problems with one number as the answer."""

import json
import math
import random
from collections.abc import Callable

from .builtin_prose import Problem, Solution

_NAMES = ("Amara", "Bruno", "Chen", "Dalia", "Emil", "Farah", "Goran", "Hana", "Ivo", "Jun", "Kaja", "Lior", "Mina")
_GOODS = (
    ("notebooks", "pens"),
    ("mugs", "plates"),
    ("tulip bulbs", "flower pots"),
    ("tickets", "programmes"),
    ("lamps", "candles"),
    ("chairs", "cushions"),
)

Slip = Callable[[int], int]


def _problem(
    rng: random.Random,
    kind: str,
    prompt: str,
    expression: str,
    solve: Callable[[random.Random, Slip], tuple[list[str], int]],
    slips: int,
) -> Problem:
    """Solve once as it should be and once with the value of one step (of `slips`) off."""
    steps, answer = solve(rng, lambda value: value)
    right = Solution(tuple(steps), str(answer))
    wrong = right
    while wrong.answer == right.answer or int(wrong.answer) < 0:
        steps, answer = solve(rng, _off_at(rng, rng.randrange(slips)))
        wrong = Solution(tuple(steps), str(answer))
    return Problem(kind, prompt, right, wrong, json.dumps({"expression": expression}))


def _off_at(rng: random.Random, at: int) -> Slip:
    calls = iter(range(1000))

    def slip(value: int) -> int:
        if next(calls) != at:
            return value
        step = rng.choice([1, 2, 3] + ([10, 10] if value > 20 else []) + ([100] if value > 300 else []))
        return value + step if rng.random() < 0.5 or value <= step else value - step

    return slip


def shopping(rng: random.Random) -> Problem:
    """Two products, a sum, a voucher."""
    name, (one, two) = rng.choice(_NAMES), rng.choice(_GOODS)
    a, p, b, q = rng.randint(6, 28), rng.randint(4, 19), rng.randint(5, 24), rng.randint(3, 17)
    off = rng.randint(5, 30)
    prompt = rng.choice(
        (
            f"{name} buys {a} {one} at {p} euros each and {b} {two} at {q} euros each, and then redeems a voucher "
            f"worth {off} euros. How many euros does {name} pay?",
            f"A shop sells {one} for {p} euros and {two} for {q} euros. {name} takes {a} {one} and {b} {two} and gets "
            f"{off} euros off the bill. What is the amount due, in euros?",
        )
    )

    def solve(r: random.Random, s: Slip) -> tuple[list[str], int]:
        first, second = s(a * p), s(b * q)
        total = s(first + second)
        due = s(total - off)
        return [
            r.choice(
                (
                    f"The {one} cost {a} times {p} euros, which comes to {first} euros.",
                    f"For the {one} we have {a} × {p} = {first} euros in total.",
                )
            ),
            r.choice(
                (
                    f"The {two} cost {b} times {q} euros, and that makes {second} euros.",
                    f"For the {two} the same calculation gives {b} × {q} = {second} euros.",
                )
            ),
            r.choice(
                (
                    f"Adding both amounts, the bill before the voucher is {first} + {second} = {total} euros.",
                    f"Together that is {first} + {second} = {total} euros before anything is taken off.",
                )
            ),
            r.choice(
                (
                    f"The voucher lowers this by {off} euros, so {total} − {off} = {due} euros remain to be paid.",
                    f"Taking off the {off} euros of the voucher leaves {total} − {off} = {due} euros to pay.",
                )
            ),
        ], due

    return _problem(rng, "shopping", prompt, f"{a}*{p}+{b}*{q}-{off}", solve, 4)


def journey(rng: random.Random) -> Problem:
    """Two legs at different speeds, the way still to go."""
    name = rng.choice(_NAMES)
    v, t, w, u = rng.randint(41, 96), rng.randint(2, 6), rng.randint(12, 39), rng.randint(2, 5)
    rest = rng.randint(15, 90)
    whole = v * t + w * u + rest
    prompt = (
        f"{name} has {whole} kilometres to cover: {t} hours by train at {v} kilometres an hour, then {u} by bicycle "
        f"at {w} kilometres an hour. How many kilometres are left after that?"
    )

    def solve(r: random.Random, s: Slip) -> tuple[list[str], int]:
        train, bike = s(v * t), s(w * u)
        done = s(train + bike)
        left = s(whole - done)
        return [
            r.choice(
                (
                    f"The train covers {v} kilometres in each of {t} hours, so {v} × {t} = {train} kilometres.",
                    f"In {t} hours at {v} kilometres an hour the train gets {train} kilometres along the route.",
                )
            ),
            r.choice(
                (
                    f"The bicycle adds {w} × {u} = {bike} kilometres during its {u} hours.",
                    f"In the {u} hours on the bicycle, at {w} kilometres an hour, another {bike} kilometres go by.",
                )
            ),
            f"The distance already covered is therefore {train} + {bike} = {done} kilometres.",
            r.choice(
                (
                    f"Subtracting this from the whole way leaves {whole} − {done} = {left} kilometres.",
                    f"Of the {whole} kilometres in all, {whole} − {done} = {left} kilometres are still ahead.",
                )
            ),
        ], left

    return _problem(rng, "journey", prompt, f"{whole}-({v}*{t}+{w}*{u})", solve, 4)


def garden(rng: random.Random) -> Problem:
    """The area of a border around a rectangle."""
    length, width, border = rng.randint(9, 34), rng.randint(6, 22), rng.randint(1, 4)
    prompt = (
        f"A rectangular lawn measures {length} by {width} metres. A path {border} metre{'s' * (border > 1)} wide runs "
        "all the way around the outside of it. What is the area of the path, in square metres?"
    )

    def solve(r: random.Random, s: Slip) -> tuple[list[str], int]:
        long, wide = s(length + 2 * border), s(width + 2 * border)
        outer, inner = s(long * wide), s(length * width)
        area = s(outer - inner)
        return [
            r.choice(
                (
                    f"With the path, the long side grows by {border} metres at both ends and becomes {long} metres.",
                    f"The path adds its width twice to the long side: {length} + 2 × {border} = {long} metres.",
                )
            ),
            f"In the same way the short side becomes {width} + 2 × {border} = {wide} metres.",
            r.choice(
                (
                    f"The outer rectangle then has an area of {long} × {wide} = {outer} square metres.",
                    f"Multiplying the outer sides, {long} × {wide} = {outer} square metres for lawn and path together.",
                )
            ),
            f"The lawn alone takes up {length} × {width} = {inner} square metres.",
            f"What lies between the two is the path: {outer} − {inner} = {area} square metres.",
        ], area

    expression = f"({length}+2*{border})*({width}+2*{border})-{length}*{width}"
    return _problem(rng, "garden", prompt, expression, solve, 5)


def series(rng: random.Random) -> Problem:
    """The sum of an arithmetic series."""
    start, step, n = rng.randint(3, 25), rng.randint(2, 11), 2 * rng.randint(4, 13)
    prompt = rng.choice(
        (
            f"A theatre has {n} rows. The first row has {start} seats and each further row {step} more than the row "
            "before it. How many seats are there altogether?",
            f"{rng.choice(_NAMES)} saves {start} coins in the first week and in every later week {step} more than "
            f"in the week before. How many coins are saved after {n} weeks?",
        )
    )

    def solve(r: random.Random, s: Slip) -> tuple[list[str], int]:
        growth = s((n - 1) * step)
        last = s(start + growth)
        pair = s(start + last)
        total = s(n // 2 * pair)
        return [
            r.choice(
                (
                    f"From the first to the last term there are {n - 1} increases of {step}, which is {growth} in all.",
                    f"The number grows {n - 1} times by {step}, that is by {n - 1} × {step} = {growth} overall.",
                )
            ),
            f"The last term is therefore {start} + {growth} = {last}.",
            r.choice(
                (
                    f"Pairing the first term with the last gives {start} + {last} = {pair}, like every such pair.",
                    f"The first and last term make {start} + {last} = {pair}, like the second and the last but one.",
                )
            ),
            f"There are {n // 2} such pairs, and so the sum is {n // 2} × {pair} = {total}.",
        ], total

    return _problem(rng, "series", prompt, f"sum({start}+{step}*i for i in range({n}))", solve, 4)


def missing_score(rng: random.Random) -> Problem:
    """The value that brings an average to a target."""
    name, n = rng.choice(_NAMES), rng.randint(4, 6)
    scores = [rng.randint(52, 88) for _ in range(n)]
    target = (sum(scores) + rng.randint(70, 96)) // (n + 1)
    shown = ", ".join(map(str, scores))
    prompt = (
        f"{name} has scored {shown} points in {n} tests. How many points are needed in the next test to bring the mean "
        f"of all {n + 1} tests to exactly {target}?"
    )

    def solve(r: random.Random, s: Slip) -> tuple[list[str], int]:
        needed, have = s(target * (n + 1)), s(sum(scores))
        gap = s(needed - have)
        return [
            r.choice(
                (
                    f"An average of {target} over {n + 1} tests requires {target} × {n + 1} = {needed} points in all.",
                    f"For {n + 1} tests to average {target}, their points must add up to {needed}.",
                )
            ),
            r.choice(
                (
                    f"So far the points are {' + '.join(map(str, scores))}, and these add up to {have}.",
                    f"Adding what has been scored, {' + '.join(map(str, scores))} = {have} points are there already.",
                )
            ),
            r.choice(
                (
                    f"The next test has to supply what is missing, and that is {needed} − {have} = {gap} points.",
                    f"The difference, {needed} − {have} = {gap} points, must come from the next test alone.",
                )
            ),
        ], gap

    expression = f"{target}*{n + 1}-({'+'.join(map(str, scores))})"
    return _problem(rng, "missing score", prompt, expression, solve, 3)


def committee(rng: random.Random) -> Problem:
    """Counting choices from two groups."""
    a, b, k = rng.randint(5, 12), rng.randint(4, 9), rng.choice((2, 3))
    prompt = (
        f"A club has {a} senior and {b} junior members. In how many ways can a committee be formed with {k} "
        "seniors and 2 juniors?"
    )

    def solve(r: random.Random, s: Slip) -> tuple[list[str], int]:
        ordered = s(math.perm(a, k))
        seniors = s(ordered // math.factorial(k))
        juniors = s(b * (b - 1) // 2)
        total = s(seniors * juniors)
        factors = " × ".join(str(a - i) for i in range(k))
        return [
            f"Picking {k} seniors one after another can be done in {factors} = {ordered} ways.",
            r.choice(
                (
                    f"The order within the committee does not matter, so we divide by {math.factorial(k)} and have "
                    f"{seniors} possible groups of seniors.",
                    f"Each group of seniors has been counted {math.factorial(k)} times in this, which leaves {seniors} "
                    "different groups.",
                )
            ),
            f"For the juniors, {b} × {b - 1} divided by 2 makes {juniors} possible couples.",
            r.choice(
                (
                    f"Every group of seniors goes with every couple of juniors: {seniors} × {juniors} = {total}.",
                    f"Both choices are free of each other, hence {seniors} × {juniors} = {total} committees.",
                )
            ),
        ], total

    return _problem(rng, "committee", prompt, f"comb({a},{k})*comb({b},2)", solve, 4)


KINDS = (shopping, journey, garden, series, missing_score, committee)
