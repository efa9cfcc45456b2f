import ast
import contextlib
import io
import itertools
import json
import math
import re
from collections import Counter

import pytest
from biasscope.core.errors import DataError
from biasscope.core.records import PreferencePair
from biasscope.data.builtin import builtin_pairs
from biasscope.data.builtin_prose import final_answer

PAIRS = builtin_pairs(1200)

# The same facts, written down a second time and in another form, so that a slip in the tables is found.
SYMBOLS = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb "
    "Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe"
)
LATIN = {"sodium": "Na", "potassium": "K", "iron": "Fe", "copper": "Cu", "silver": "Ag", "tin": "Sn", "antimony": "Sb"}
SYMBOL_OF = LATIN | {
    "magnesium": "Mg", "manganese": "Mn", "chlorine": "Cl", "chromium": "Cr", "cadmium": "Cd", "arsenic": "As",
    "strontium": "Sr", "zinc": "Zn", "zirconium": "Zr", "niobium": "Nb", "technetium": "Tc", "rubidium": "Rb",
    "rhodium": "Rh", "palladium": "Pd", "hydrogen": "H", "boron": "B", "carbon": "C", "nitrogen": "N", "oxygen": "O",
    "fluorine": "F", "phosphorus": "P", "sulfur": "S", "vanadium": "V", "yttrium": "Y", "iodine": "I",
}  # fmt: skip
CITY_OF = {
    "Rabat": "Morocco",
    "Ankara": "Turkey",
    "Ottawa": "Canada",
    "Canberra": "Australia",
    "Brasília": "Brazil",
    "Bern": "Switzerland",
    "Hanoi": "Vietnam",
    "Islamabad": "Pakistan",
    "New Delhi": "India",
    "Beijing": "China",
    "Astana": "Kazakhstan",
    "Abuja": "Nigeria",
    "Wellington": "New Zealand",
    "Quito": "Ecuador",
    "Rome": "Italy",
    "Madrid": "Spain",
    "Berlin": "Germany",
    "Warsaw": "Poland",
    "Edinburgh": "Scotland",
    "Zagreb": "Croatia",
    "Lisbon": "Portugal",
    "Athens": "Greece",
    "Damascus": "Syria",
    "Bogotá": "Colombia",
    "Nairobi": "Kenya",
    "Yaoundé": "Cameroon",
    "Tokyo": "Japan",
    "Moscow": "Russia",
    "Brussels": "Belgium",
    "Stockholm": "Sweden",
    "Oslo": "Norway",
    "Vienna": "Austria",
    "Cairo": "Egypt",
}
YEARS = {
    "Constantinople": 1453, "Columbus": 1492, "Luther": 1517, "Armada": 1588, "Westphalia": 1648, "Great Fire": 1666,
    "Principia": 1687, "Lisbon": 1755, "Declaration of Independence": 1776, "Bastille": 1789, "Trafalgar": 1805,
    "Waterloo": 1815, "Darwin": 1859, "Suez": 1869, "Eiffel": 1889, "Wright": 1903, "Titanic": 1912, "Panama": 1914,
    "October Revolution": 1917, "Wall Street": 1929, "United Nations": 1945, "Everest": 1953, "Sputnik": 1957,
    "Gagarin": 1961, "Moon landing": 1969, "Chernobyl": 1986, "Berlin Wall": 1989,
}  # fmt: skip


def _year(event: str) -> int:
    (year,) = [y for key, y in YEARS.items() if key in event]
    return year


def _atomic_number(name: str) -> int:
    return SYMBOLS.split().index(SYMBOL_OF.get(name, name[:2].capitalize())) + 1


def _arithmetic(pair: PreferencePair, facts: dict) -> str:
    expression = facts["expression"]
    numbers = set(re.findall(r"\d+", expression)) - {"1", "2"}
    told = set(re.findall(r"\d+", pair.prompt))
    derived = {str(int(n) + 1) for n in told}
    assert numbers <= told | derived, (pair.prompt, expression)
    names = {n.id for n in ast.walk(ast.parse(expression)) if isinstance(n, ast.Name)}
    assert names <= {"sum", "range", "i", "comb"}
    return str(eval(expression, {"__builtins__": {}}, {"sum": sum, "range": range, "comb": math.comb}))  # noqa: S307


def _ordering(pair: PreferencePair, facts: dict) -> str:
    clues = re.findall(r"(\w+) (?:finished|arrived|spoke) before (\w+)\.", pair.prompt)
    people = pair.prompt.split(": ")[1].split(". ")[0].split(", ")
    places = ("first", "second", "third", "fourth", "fifth")
    place = places.index(re.search(r"(\w+)\?$", pair.prompt)[1])
    fits = {r[place] for r in itertools.permutations(people) if all(r.index(a) < r.index(b) for a, b in clues)}
    (one,) = fits
    return one


def _knights(pair: PreferencePair, facts: dict) -> str:
    (a, says_a), (b, says_b) = re.findall(r'(\w+) says: "(.*?)\."', pair.prompt)
    asked = re.search(r"Is (\w+) a knight", pair.prompt)[1]

    def true(said: str, me: bool, other: bool) -> bool:
        said = said.lower()
        if "same kind" in said:
            return me is other
        if "different kinds" in said:
            return me is not other
        if "both of us are knaves" in said:
            return not me and not other
        if "at least one of us is a knave" in said:
            return not me or not other
        if "at least one of us is a knight" in said:
            return me or other
        return other if said.endswith("is a knight") else not other

    worlds = [
        w
        for w in itertools.product((True, False), repeat=2)
        if true(says_a, *w) == w[0] and true(says_b, *w[::-1]) == w[1]
    ]
    kinds = {w[(a, b).index(asked)] for w in worlds}
    (one,) = kinds
    return "knight" if one else "knave"


def _lamps(pair: PreferencePair, facts: dict) -> str:
    rules = re.findall(r"If the (\w+) lamp is on, the (\w+) lamp is on\.", pair.prompt)
    seen, state = re.search(r"Right now the (\w+) lamp is (on|off)", pair.prompt).groups()
    asked = re.search(r"said about the (\w+) lamp", pair.prompt)[1]
    lamps = sorted({x for r in rules for x in r})
    states = set()
    for values in itertools.product((True, False), repeat=len(lamps)):
        world = dict(zip(lamps, values, strict=True))
        if world[seen] == (state == "on") and all(world[b] or not world[a] for a, b in rules):
            states.add(world[asked])
    return {(True,): "on", (False,): "off"}.get(tuple(states), "undetermined")


def _code(pair: PreferencePair, facts: dict) -> str:
    code = re.search(r"```python\n(.*)\n```$", pair.prompt, re.DOTALL)[1]
    assert code == facts["code"]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "pair", "exec"), {})
    return out.getvalue().strip()


def _element_gap(pair: PreferencePair, facts: dict) -> str:
    a, b = facts["elements"]
    assert a in pair.prompt and b in pair.prompt
    return str(_atomic_number(a) - _atomic_number(b))


def _capital(pair: PreferencePair, facts: dict) -> str:
    country = re.search(r"capital of (.*?)(?:: | is one)", pair.prompt)[1]
    (city,) = [c for c in facts["options"] if CITY_OF.get(c) == country]
    return city


def _years_between(pair: PreferencePair, facts: dict) -> str:
    first, second = facts["events"]
    assert first in pair.prompt and second in pair.prompt
    return str(_year(second) - _year(first))


def _earliest(pair: PreferencePair, facts: dict) -> str:
    events = re.search(r"\(A\) (.*), \(B\) (.*), or \(C\) (.*)\? Give", pair.prompt).groups()
    years = [_year(e) for e in events]
    assert len(set(years)) == 3
    return "ABC"[years.index(min(years))]


def _planets(pair: PreferencePair, facts: dict) -> str:
    row = ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"]
    count = {"one place": 1, "two places": 2, "three places": 3}
    told = re.search(r"(one place|two places|three places|\d places) (farther|closer)", pair.prompt)
    steps = count.get(told[1]) or int(told[1][0])
    start = next(p for p in row if p in pair.prompt)
    return row[row.index(start) + (steps if told[2] == "farther" else -steps)]


TRUTH = dict.fromkeys(("shopping", "journey", "garden", "series", "missing score", "committee"), _arithmetic)
TRUTH |= dict.fromkeys(("total in range", "sliced word", "shared list", "letter count", "recursion"), _code)
TRUTH |= {"ordering": _ordering, "knights and knaves": _knights, "lamps": _lamps, "element gap": _element_gap}
TRUTH |= {"capital": _capital, "years between": _years_between, "earliest event": _earliest, "planets": _planets}


@pytest.mark.parametrize("kind", sorted(TRUTH))
def test_truth_recomputed_from_the_prompt(kind: str) -> None:
    some = [p for p in PAIRS if p.meta["kind"] == kind]
    assert len(some) >= 10
    for pair in some:
        truth = TRUTH[kind](pair, json.loads(pair.meta["facts"]))
        assert truth == pair.meta["right_answer"] == final_answer(pair.chosen), pair
        assert pair.meta["wrong_answer"] == final_answer(pair.rejected) != truth, pair


def test_arithmetic_in_right_answers_holds() -> None:
    """Every `a op b = c` of a chosen answer is true; the rejected ones slip somewhere."""
    checked = 0
    for pair in PAIRS:
        for left, right in re.findall(r"((?:\d+ [×+−] )+\d+) = (\d+)", pair.chosen):
            assert eval(left.replace("×", "*").replace("−", "-")) == int(right), pair.chosen  # noqa: S307
            checked += 1
    assert checked > 800


def test_distinct_deterministic_and_long_enough() -> None:
    assert PAIRS[:400] == builtin_pairs()
    assert len({p.id for p in PAIRS}) == len({p.prompt for p in PAIRS}) == 1200
    assert builtin_pairs(400, seed=1)[:8] != PAIRS[:8]
    assert Counter(p.domain for p in PAIRS[:400]) == dict.fromkeys(("math", "logic", "knowledge", "code"), 100)
    assert {p.meta["kind"] for p in PAIRS} == set(TRUTH)
    assert all(40 <= len(text.split()) <= 250 for p in PAIRS for text in (p.chosen, p.rejected))


SHORTCUTS = {
    "characters": len,
    "words": lambda t: len(t.split()),
    "digits": lambda t: sum(c.isdigit() for c in t),
    "line breaks": lambda t: t.count("\n"),
    "commas": lambda t: t.count(","),
    "list items": lambda t: len(re.findall(r"^\d\. ", t, re.MULTILINE)),
    "final answer's length": lambda t: len(final_answer(t)),
    "final number": lambda t: int(final_answer(t)) if final_answer(t).isdigit() else 0,
    "negations": lambda t: len(re.findall(r"\b(?:not|no|nothing|cannot)\b", t)),
    "alphabetical": lambda t: sum(ord(c) / 1000.0 ** (i + 1) for i, c in enumerate(t[:8])),
}


@pytest.mark.parametrize("name", sorted(SHORTCUTS))
def test_no_shortcut(name: str) -> None:
    measure = SHORTCUTS[name]
    score = sum(
        (measure(p.chosen) > measure(p.rejected)) + 0.5 * (measure(p.chosen) == measure(p.rejected)) for p in PAIRS
    )
    assert 0.45 < score / len(PAIRS) < 0.55


def test_wording_varies() -> None:
    openings = Counter(t.split(".")[0] for p in PAIRS for t in (p.chosen, p.rejected))
    finals = Counter(
        re.sub(rf"(?<!\w){re.escape(final_answer(t))}(?!\w)", "X", t.rsplit("\n", 1)[1])
        for p in PAIRS
        for t in (p.chosen, p.rejected)
    )
    assert len(openings) >= 8 and len(finals) == 8
    assert max(finals.values()) < 0.2 * 2 * len(PAIRS)


def test_choosing_domains_and_limits() -> None:
    assert {p.domain for p in builtin_pairs(20, domains=["code", "math"])} == {"code", "math"}
    with pytest.raises(DataError, match="choose from"):
        builtin_pairs(4, domains=["poetry"])  # type: ignore[list-item]
    with pytest.raises(DataError, match="at most"):
        builtin_pairs(5000)
