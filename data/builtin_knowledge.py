"""Questions of common knowledge, from small tables of plain facts."""

import json
import random

from .builtin_prose import Problem, Solution

ELEMENTS = (
    "hydrogen",
    "helium",
    "lithium",
    "beryllium",
    "boron",
    "carbon",
    "nitrogen",
    "oxygen",
    "fluorine",
    "neon",
    "sodium",
    "magnesium",
    "aluminium",
    "silicon",
    "phosphorus",
    "sulfur",
    "chlorine",
    "argon",
    "potassium",
    "calcium",
    "scandium",
    "titanium",
    "vanadium",
    "chromium",
    "manganese",
    "iron",
    "cobalt",
    "nickel",
    "copper",
    "zinc",
    "gallium",
    "germanium",
    "arsenic",
    "selenium",
    "bromine",
    "krypton",
    "rubidium",
    "strontium",
    "yttrium",
    "zirconium",
    "niobium",
    "molybdenum",
    "technetium",
    "ruthenium",
    "rhodium",
    "palladium",
    "silver",
    "cadmium",
    "indium",
    "tin",
    "antimony",
    "tellurium",
    "iodine",
    "xenon",
)
PLANETS = ("Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune")
CAPITALS = {
    "Australia": ("Canberra", "Sydney"),
    "Brazil": ("Brasília", "Rio de Janeiro"),
    "Canada": ("Ottawa", "Toronto"),
    "Turkey": ("Ankara", "Istanbul"),
    "Switzerland": ("Bern", "Zurich"),
    "Morocco": ("Rabat", "Casablanca"),
    "Vietnam": ("Hanoi", "Ho Chi Minh City"),
    "Pakistan": ("Islamabad", "Karachi"),
    "India": ("New Delhi", "Mumbai"),
    "China": ("Beijing", "Shanghai"),
    "Kazakhstan": ("Astana", "Almaty"),
    "Nigeria": ("Abuja", "Lagos"),
    "New Zealand": ("Wellington", "Auckland"),
    "Ecuador": ("Quito", "Guayaquil"),
    "Italy": ("Rome", "Milan"),
    "Spain": ("Madrid", "Barcelona"),
    "Germany": ("Berlin", "Munich"),
    "Poland": ("Warsaw", "Kraków"),
    "Scotland": ("Edinburgh", "Glasgow"),
    "Croatia": ("Zagreb", "Split"),
    "Portugal": ("Lisbon", "Porto"),
    "Greece": ("Athens", "Thessaloniki"),
    "Syria": ("Damascus", "Aleppo"),
    "Colombia": ("Bogotá", "Medellín"),
    "Kenya": ("Nairobi", "Mombasa"),
    "Cameroon": ("Yaoundé", "Douala"),
    "Japan": ("Tokyo", "Osaka"),
    "Russia": ("Moscow", "Saint Petersburg"),
    "Belgium": ("Brussels", "Antwerp"),
    "Sweden": ("Stockholm", "Gothenburg"),
    "Norway": ("Oslo", "Bergen"),
    "Austria": ("Vienna", "Salzburg"),
    "Egypt": ("Cairo", "Alexandria"),
}
EVENTS = {
    "the fall of Constantinople to the Ottomans": 1453,
    "the first voyage of Columbus to the Americas": 1492,
    "the posting of Luther's ninety-five theses": 1517,
    "the defeat of the Spanish Armada": 1588,
    "the Peace of Westphalia": 1648,
    "the Great Fire of London": 1666,
    "the first publication of Newton's Principia": 1687,
    "the Lisbon earthquake": 1755,
    "the United States Declaration of Independence": 1776,
    "the storming of the Bastille": 1789,
    "the Battle of Trafalgar": 1805,
    "the Battle of Waterloo": 1815,
    "the first edition of Darwin's On the Origin of Species": 1859,
    "the opening of the Suez Canal": 1869,
    "the completion of the Eiffel Tower": 1889,
    "the first powered flight of the Wright brothers": 1903,
    "the sinking of the Titanic": 1912,
    "the opening of the Panama Canal": 1914,
    "the Russian October Revolution": 1917,
    "the Wall Street crash that began the Great Depression": 1929,
    "the founding of the United Nations": 1945,
    "the first ascent of Mount Everest by Hillary and Tenzing": 1953,
    "the launch of Sputnik 1": 1957,
    "the first human spaceflight, by Yuri Gagarin": 1961,
    "the first Moon landing": 1969,
    "the Chernobyl disaster": 1986,
    "the fall of the Berlin Wall": 1989,
}


def element_gap(rng: random.Random) -> Problem:
    """Difference of two atomic numbers."""
    one, two = rng.sample(range(1, len(ELEMENTS) + 1), 2)
    low, high = sorted((one, two))
    a, b = ELEMENTS[high - 1], ELEMENTS[low - 1]
    prompt = rng.choice(
        (
            f"How many more protons does an atom of {a} have than an atom of {b}?",
            f"By how much is the atomic number of {a} greater than that of {b}?",
        )
    )

    def solve(top: int, bottom: int) -> Solution:
        return Solution(
            (
                rng.choice(
                    (
                        "The atomic number of an element is the number of protons in the nucleus of its atoms, so "
                        "two numbers have to be looked up and compared.",
                        "What counts is the place of each element in the periodic table, since it equals the number "
                        "of protons in the nucleus.",
                    )
                ),
                rng.choice(
                    (
                        f"The element {a} has the atomic number {top}.",
                        f"In the table, {a} stands at place {top}, which is its number of protons.",
                    )
                ),
                rng.choice(
                    (
                        f"The element {b} has the atomic number {bottom}.",
                        f"For {b} the place in the table, and with it the number of protons, is {bottom}.",
                    )
                ),
                f"The difference between the two is {top} − {bottom} = {top - bottom}.",
            ),
            str(top - bottom),
        )

    shift = rng.choice((-2, -1, 1, 2))
    first = rng.random() < 0.5
    if high - low + (shift if first else -shift) <= 0 or low - shift < 1:
        first, shift = True, abs(shift)
    wrong = solve(high + shift, low) if first else solve(high, low + shift)
    return Problem("element gap", prompt, solve(high, low), wrong, json.dumps({"elements": [a, b]}))


def capital(rng: random.Random) -> Problem:
    """The seat of government of two countries, where a larger or better known city misleads."""
    land, other = rng.sample(list(CAPITALS), 2)
    options = sorted((*CAPITALS[land], CAPITALS[other][rng.randrange(2)]))
    right, rival = CAPITALS[land]
    prompt = rng.choice(
        (
            f"Which of these cities is the capital of {land}: {'; '.join(options)}?",
            f"The capital of {land} is one of the following: {'; '.join(options)}. Which one?",
        )
    )
    stranger = next(c for c in options if c not in CAPITALS[land])

    def solve(city: str, rest: str) -> Solution:
        return Solution(
            (
                rng.choice(
                    (
                        f"Of the three cities, {stranger} can be set aside, because it lies in {other} and not in "
                        f"{land}.",
                        f"We can leave out {stranger}, which belongs to {other} and so has no claim here.",
                    )
                ),
                rng.choice(
                    (
                        f"This leaves {city} and {rest}, which are both well-known cities of {land}.",
                        f"Both {city} and {rest} are in {land}, and people do mix up their roles.",
                    )
                ),
                rng.choice(
                    (
                        f"The national government has its seat in {city}, and that is what makes a city the capital.",
                        f"As the seat of the national institutions, {city} is the capital in the usual sense.",
                    )
                ),
                rng.choice(
                    (
                        f"For all its importance to the country, {rest} does not hold that role.",
                        f"As for {rest}, it matters in other ways, but it is not the capital.",
                    )
                ),
            ),
            city,
        )

    facts = json.dumps({"country": land, "options": options})
    return Problem("capital", prompt, solve(right, rival), solve(rival, right), facts)


def years_between(rng: random.Random) -> Problem:
    """Years between two dated events."""
    one, two = rng.sample(list(EVENTS), 2)
    early, late = sorted((one, two), key=EVENTS.__getitem__)
    prompt = rng.choice(
        (
            f"How many years after {early} came {late}? Count by calendar year.",
            f"By calendar year, how many years lie between {early} and {late}?",
        )
    )

    def solve(start: int, end: int) -> Solution:
        return Solution(
            (
                rng.choice(
                    (
                        "Both events have well-known dates, so it is enough to recall the two years and subtract.",
                        "The question comes down to the two years, since only the calendar year of each event counts.",
                    )
                ),
                rng.choice((f"The year of {early} was {start}.", f"It was in {start} that {early} took place.")),
                rng.choice((f"The year of {late} was {end}.", f"It was in {end} that {late} took place.")),
                rng.choice(
                    (
                        f"Subtracting the earlier year from the later one gives {end} − {start} = {end - start} years.",
                        f"From {start} to {end} the calendar moves on by {end - start} years.",
                    )
                ),
            ),
            str(end - start),
        )

    start, end = EVENTS[early], EVENTS[late]
    shift = rng.choice((-10, -4, -3, -2, 2, 3, 4, 10))
    first = rng.random() < 0.5
    if end - start + (-shift if first else shift) <= 0:
        first, shift = False, abs(shift)
    wrong = solve(start + shift, end) if first else solve(start, end + shift)
    return Problem("years between", prompt, solve(start, end), wrong, json.dumps({"events": [early, late]}))


def earlier(rng: random.Random) -> Problem:
    """Which of three events came first."""
    three = rng.sample(list(EVENTS), 3)
    order = sorted(three, key=EVENTS.__getitem__)
    prompt = (
        f"Which of these events happened first: (A) {three[0]}, (B) {three[1]}, or (C) {three[2]}? Give the letter."
    )
    letters = dict(zip(three, "ABC", strict=True))
    right, second = order[0], order[1]
    gap = EVENTS[second] - EVENTS[right]

    def solve(years: dict[str, int], first: str) -> Solution:
        steps = [
            rng.choice(
                (
                    "To compare the three events, it helps to put a year to each before looking for the earliest.",
                    "The three events can be put on one line of time once the year of each is known.",
                )
            )
        ]
        steps += [
            rng.choice(
                (
                    f"Event {letters[e]}, {e}, dates from {years[e]}.",
                    f"For {e} (event {letters[e]}) the year is {years[e]}.",
                )
            )
            for e in three
        ]
        steps.append(f"The earliest of these years is {years[first]}, and it belongs to event {letters[first]}.")
        return Solution(tuple(steps), letters[first])

    # The slip dates one event wrongly, so that another seems to be first.
    shifted = dict(EVENTS)
    if rng.random() < 0.5:
        shifted[right] += gap + rng.randint(2, 9)
    else:
        shifted[second] -= gap + rng.randint(2, 9)
    wrong = min(three, key=shifted.__getitem__)
    facts = json.dumps({"events": three})
    return Problem("earliest event", prompt, solve(EVENTS, right), solve(shifted, wrong), facts)


def planets(rng: random.Random) -> Problem:
    """Planets counted outward or inward from another one."""
    start, steps_out = rng.randrange(8), 0
    target = rng.choice([i for i in range(8) if i != start])
    steps_out = target - start
    way = "farther from" if steps_out > 0 else "closer to"
    count = abs(steps_out)
    number = {1: "one place", 2: "two places", 3: "three places"}.get(count, f"{count} places")
    moon = rng.choice(
        (
            "Leave dwarf planets out.",
            "Only the eight planets count.",
            "Take the usual order of the eight planets.",
            "Use the mean distances from the Sun.",
        )
    )
    ask = rng.choice(
        (
            f"Which planet of the Solar System is {number} {way} the Sun than {PLANETS[start]}?",
            f"Starting from {PLANETS[start]}, which planet comes {number} {way} the Sun?",
            f"Name the planet of the Solar System that stands {number} {way} the Sun than {PLANETS[start]} does.",
        )
    )
    prompt = f"{ask} {moon}"
    options = [i for i in (target - 1, target + 1) if 0 <= i < 8 and i != start]
    off = rng.choice(options or [target - 2 if target > 1 else target + 2])

    def solve(at: int) -> Solution:
        row = list(PLANETS)
        if at != target:
            row[at], row[target] = row[target], row[at]
        return Solution(
            (
                rng.choice(
                    (
                        f"Counted outward from the Sun, the planets are {', '.join(row[:-1])} and {row[-1]}.",
                        f"The order of the planets, from the Sun outward, is {', '.join(row)}.",
                    )
                ),
                rng.choice(
                    (
                        f"In this list {row[start]} stands at place {start + 1}, and that is where the count begins.",
                        f"We begin at {row[start]}, which has place {start + 1} in the list.",
                    )
                ),
                rng.choice(
                    (
                        f"Since the planet we want is {way} the Sun, we move {number} along to place {target + 1}.",
                        f"Going {number} {way} the Sun brings us to place {target + 1} of the list.",
                    )
                ),
                f"The planet that we find there is {row[target]}.",
            ),
            row[target],
        )

    return Problem(
        "planets", prompt, solve(target), solve(off), json.dumps({"from": PLANETS[start], "steps": steps_out})
    )


KINDS = (element_gap, capital, years_between, earlier, planets)
