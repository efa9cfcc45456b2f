"""Relevance pairs: the chosen answer answers the question and the rejected one does not, by construction."""

import re
from collections import Counter

import pytest
import yaml
from biasscope.core.errors import DataError
from biasscope.data import builtin_relevance
from biasscope.data.builtin import builtin_pairs
from biasscope.data.builtin_relevance import KINDS, MOST, relevance_pairs
from biasscope.data.sources import load
from biasscope.data.spec import SourceSpec

PAIRS = relevance_pairs(800)
ROWS = yaml.safe_load(
    (builtin_relevance.Path(builtin_relevance.__file__).parent / "builtin_relevance.yaml").read_text(encoding="utf-8")
)
ANSWERS = {ask: set(aspect["says"]) for row in ROWS for aspect in row["aspects"] for ask in aspect["asks"]}
TOPIC = {line: row["topic"] for row in ROWS for aspect in row["aspects"] for line in aspect["says"]}


def asked(pair):
    (question,) = [ask for ask in ANSWERS if ask in pair.prompt]
    return question


def test_the_facts_are_whole_and_used_once():
    assert len(ROWS) == 40 and len({row["topic"] for row in ROWS}) == 40
    assert len(ANSWERS) == 240 and len(TOPIC) == 480
    for row in ROWS:
        assert [len(aspect["says"]) for aspect in row["aspects"]] == [4, 4, 4]
        assert all(line.endswith(".") for aspect in row["aspects"] for line in aspect["says"])
        assert all(ask.endswith("?") for aspect in row["aspects"] for ask in aspect["asks"])


def test_right_and_wrong_by_construction():
    for pair in PAIRS:
        right = ANSWERS[asked(pair)]
        assert all(line in pair.chosen for line in right)
        assert not any(line in pair.rejected for line in right)
        facts = {line for line in TOPIC if line in pair.rejected}
        topics = {TOPIC[line] for line in facts}
        if pair.domain in ("generic", "evasive"):
            assert not facts
        else:
            assert len(facts) == 4
            assert (topics == {pair.meta["topic"]}) == (pair.domain == "beside the question")


def test_distinct_deterministic_and_balanced():
    assert relevance_pairs(100) == PAIRS[:100]
    assert relevance_pairs(40, seed=1) != PAIRS[:40]
    assert len({p.prompt for p in PAIRS}) == len({p.id for p in PAIRS}) == len(PAIRS)
    assert Counter(p.domain for p in PAIRS) == dict.fromkeys(KINDS, 200)
    assert all(30 <= len(t.split()) <= 115 for p in PAIRS for t in (p.chosen, p.rejected))
    assert max(Counter(asked(p) for p in PAIRS).values()) < 20
    assert not re.search(r"[{}]", "".join(p.prompt + p.chosen + p.rejected for p in PAIRS))


SHORTCUTS = {
    "words": lambda t: len(t.split()),
    "line breaks": lambda t: t.count("\n"),
    "list items": lambda t: t.count("- "),
    "characters": len,
}


@pytest.mark.parametrize("name", sorted(SHORTCUTS))
def test_no_shortcut(name):
    measure = SHORTCUTS[name]
    more = [(measure(p.chosen), measure(p.rejected)) for p in PAIRS]
    score = sum((a > b) + 0.5 * (a == b) for a, b in more) / len(more)
    assert 0.42 < score < 0.58


def test_as_a_source_of_its_own():
    pairs, report = load(SourceSpec(source="builtin:relevance", limit=80))
    assert len(pairs) == 80 and report.preset == "builtin:relevance" and set(report.domains) == set(KINDS)
    assert {p.source for p in pairs} == {"builtin:relevance"}
    # The verifiable pairs are what they were.
    assert not {p.domain for p in builtin_pairs(40)} & set(KINDS)
    with pytest.raises(DataError, match="at most"):
        relevance_pairs(MOST + 1)
    assert len(relevance_pairs(MOST)) == MOST
