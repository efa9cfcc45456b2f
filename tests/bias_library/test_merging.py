"""Merging: few calls, order-free, failures are data, every outcome in the library's history."""

import random
import re

import numpy as np
import pytest
from biasscope.bias_library import events as line
from biasscope.bias_library.bias import make_bias
from biasscope.bias_library.events import Stamp
from biasscope.bias_library.library import replay
from biasscope.bias_library.merging import Rule, Summary, merge_candidates
from biasscope.core.errors import CallFailed, ConfigError
from biasscope.core.records import Candidate
from hypothesis import given, settings
from hypothesis import strategies as st

STAMP = Stamp("r", 1000, "loop", iteration=2)
RULE = Rule(low=0.3, high=0.9, group=0.7, nearest=3)


def candidate(k: int, name: str, definition: str) -> Candidate:
    return Candidate(
        id=f"c{k:03}", run_id="r", iteration=2, name=name, definition=definition,
        judgment_id=f"j{k}", pair_id=f"p{k % 5}", source_bias=f"s{k % 2}",
    )  # fmt: skip


async def embed(texts):
    """Coordinates are written in the text: `@x,y,z`; else a direction of its own."""
    rows = []
    for text in texts:
        found = re.search(r"at(\w+)", text)
        row = np.full(6, 0.001)
        row[:3] = [int(part) for part in found[1].split("x")] if found else [0, 0, 0]
        row[3:] += [0, 0, 0] if found else np.random.default_rng(len(text)).normal(size=3)
        rows.append(row)
    return np.array(rows, dtype=np.float32)


class Teacher:
    """Answers by the letter that a name ends with: same letter, same bias."""

    def __init__(self, fail: str = "") -> None:
        self.calls: list[tuple[str, tuple[str, ...]]] = []
        self.fail = fail

    async def summarise(self, group):
        self.calls.append(("summarise", tuple(b.name for b in group)))
        if self.fail == "summarise":
            raise CallFailed("refused", "no", "raw text", "q1")
        letters = sorted({b.name[-1] for b in group})
        places = {x: tuple(k for k, b in enumerate(group) if b.name[-1] == x) for x in letters}
        return [Summary(f"all {x}", group[ks[0]].definition, "seen", ks) for x, ks in places.items()]

    async def same_as(self, bias, nearest):
        self.calls.append(("same_as", (bias.name, *(b.name for b in nearest))))
        if self.fail == "same_as":
            raise CallFailed("malformed", "no json", "{")
        return next((b.id for b in nearest if b.name[-1] == bias.name[-1]), None)


async def merge(candidates, known=(), teacher=None, rule=RULE):
    teacher = teacher or Teacher()
    return await merge_candidates(
        candidates, known, STAMP, embed=embed, summarise=teacher.summarise, same_as=teacher.same_as, rule=rule
    )


def known_bias(name: str, definition: str):
    return make_bias(name, definition, origin="seed")


async def test_the_same_words_merge_without_a_call():
    length = known_bias("Length bias", "Longer at9x0x0.")
    teacher = Teacher()
    merged = await merge([candidate(k, "LENGTH  bias", "longer at9x0x0") for k in range(7)], [length], teacher)
    assert teacher.calls == [] and merged.calls == 0 and merged.novel == []
    [outcome] = merged.outcomes
    assert outcome.into == length.id and outcome.decision.decided_by == "exact" and outcome.decision.similarity == 1.0
    assert outcome.support.misjudgments == 7 and len(outcome.support.pairs) == 5
    library = replay([line.add(Stamp("r", 0, "loop"), length, "seed"), *merged.events])
    assert library.entries[length.id].support.misjudgments == 7


async def test_one_wording_alone_needs_no_summary_and_is_novel():
    merged = await merge([candidate(k, "new a", "text at9x0x0") for k in range(3)])
    [bias] = merged.novel
    assert merged.calls == 0 and bias.parents == ("s0", "s1") and bias.origin == "discovered"
    assert [e.kind for e in merged.events] == ["add"] and merged.events[0].seq == 1000
    assert replay(merged.events).entries[bias.id].support.misjudgments == 3


async def test_the_teacher_parts_opposites_that_are_near():
    words = [("more of a", "text at9x1x0"), ("longer a", "words at9x1x1"), ("less of b", "text at9x0x1")]
    teacher = Teacher()
    merged = await merge([candidate(k, *w) for k, w in enumerate(words)], teacher=teacher)
    assert [c[0] for c in teacher.calls].count("summarise") == 1
    assert sorted(b.name for b in merged.novel) == ["all a", "less of b"]
    assert merged.calls == len(teacher.calls) <= 2 * len(merged.outcomes)


@pytest.mark.parametrize(
    ("where", "into_known", "decided_by", "calls"),
    [
        ("at90x1x0", True, "threshold", 0),
        ("at6x6x0", True, "teacher", 1),
        ("at1x9x0", False, "threshold", 0),
    ],
)
async def test_above_between_and_below_the_thresholds(where, into_known, decided_by, calls):
    known = known_bias("known a", "text at9x0x0")
    merged = await merge([candidate(0, "other a", f"text {where}")], [known])
    [outcome] = merged.outcomes
    assert (outcome.into == known.id) == into_known and outcome.novel != into_known
    assert (outcome.decision.decided_by, merged.calls) == (decided_by, calls)
    assert outcome.decision.nearest == known.id
    library = replay([line.add(Stamp("r", 0, "loop"), known, "seed"), *merged.events])
    assert library.resolve(outcome.bias.id) == outcome.into and not library.skipped
    if into_known:
        undone = replay([*library.events, line.undo(Stamp("r", 2000, "ann"), merged.events[-1])])
        assert undone.entries[outcome.bias.id].status == "candidate"


async def test_a_group_can_join_a_larger_one_of_the_same_iteration():
    words = [("first a", "text at9x0x0"), ("first a", "text at9x0x0"), ("second a", "text at5x6x0")]
    merged = await merge([candidate(k, *w) for k, w in enumerate(words)])
    assert [o.novel for o in merged.outcomes] == [True, False]
    assert merged.outcomes[1].into == merged.outcomes[0].bias.id
    library = replay(merged.events)
    assert library.entries[merged.outcomes[0].bias.id].support.misjudgments == 3


async def test_failed_calls_are_rows_and_fall_back():
    words = [("x a", "text at90x1x0"), ("y a", "text at90x2x0"), ("z a", "text at9x5x0")]
    merged = await merge([candidate(k, *w) for k, w in enumerate(words)], teacher=Teacher(fail="summarise"))
    assert [(f.kind, f.stage, f.raw, f.request_id) for f in merged.failures] == [("refused", "merge", "raw text", "q1")]
    first = next(o for o in merged.outcomes if o.support.misjudgments == 2)
    assert first.bias.name in ("x a", "y a")
    merged = await merge(
        [candidate(0, "q a", "text at6x6x0")], [known_bias("known a", "text at9x0x0")], Teacher(fail="same_as")
    )
    assert merged.outcomes[0].novel and merged.outcomes[0].decision.decided_by == "undecided"
    assert [f.kind for f in merged.failures] == ["malformed"]


@pytest.mark.parametrize(
    "summaries",
    [
        [Summary("s", "text at9x0x0", "", (0, 5))],
        [Summary("s", "text at9x0x0", "", (0, 0, 1))],
        [Summary("s", "text at9x0x0", "", (-1, 0))],
        [Summary("", "text at9x0x0", "", (0, 1))],
        [Summary("strays", "text at0x0x9", "", (0, 1))],
    ],
)
async def test_a_summary_of_no_use_leaves_the_central_wording(summaries):
    class Odd(Teacher):
        async def summarise(self, group):
            return summaries

    words = [("x a", "text at90x1x0"), ("y a", "text at90x2x0")]
    merged = await merge([candidate(k, *w) for k, w in enumerate(words)], teacher=Odd())
    assert [f.kind for f in merged.failures] == ["malformed"]
    assert [o.support.misjudgments for o in merged.outcomes] == [2] and merged.novel[0].name in ("x a", "y a")


async def test_a_teacher_that_names_what_was_not_shown_is_undecided():
    class Odd(Teacher):
        async def same_as(self, bias, nearest):
            return "ignore the above"

    merged = await merge([candidate(0, "q a", "text at6x6x0")], [known_bias("known a", "text at9x0x0")], Odd())
    assert merged.outcomes[0].decision.decided_by == "undecided" and "ignore the above" in merged.failures[0].raw


async def test_candidates_without_wording_are_failures():
    merged = await merge(
        [candidate(0, " \x00", "text"), candidate(1, "fine a", "text at9x0x0"), candidate(2, "n", "x" * 9000)]
    )
    assert [b.name for b in merged.novel] == ["fine a"]
    assert {f.subject for f in merged.failures} == {"c000", "c002"}


async def test_nothing_gives_nothing():
    merged = await merge([], [known_bias("known a", "text at9x0x0")])
    assert (merged.outcomes, merged.events, merged.failures, merged.calls) == ((), (), (), 0)


places = st.tuples(*[st.integers(0, 4)] * 3).filter(any)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), places), max_size=14), st.randoms(use_true_random=False))
async def test_the_outcome_is_order_free_complete_and_cheap(drawn, rng):
    words = [(f"n{k % 4} {x}", f"text at{p[0]}x{p[1]}x{p[2]}") for k, (x, p) in enumerate(drawn)]
    candidates = [candidate(k, *w) for k, w in enumerate(words)]
    library = [known_bias("known a", "text at4x0x0"), known_bias("known b", "text at0x4x1")]
    shuffled = candidates[:]
    rng.shuffle(shuffled)
    teacher = Teacher()
    one, other = await merge(candidates, library, teacher), await merge(shuffled, random.sample(library, 2))
    assert one == other
    assert one.calls == len(teacher.calls) <= 2 * len(one.outcomes)
    assert sorted(c for o in one.outcomes for c in o.support.candidates) == [c.id for c in candidates]
    seeds = [line.add(Stamp("r", k, "loop"), b, "seed") for k, b in enumerate(library)]
    state = replay([*seeds, *one.events])
    assert not state.skipped
    assert sum(e.support.misjudgments for e in state if e.merged_into is None) == len(candidates)


@pytest.mark.parametrize(
    ("letter", "into", "shown"),
    [("a", "near a", [3]), ("b", "far b", [3, 2]), ("z", None, [3, 2]), ("c", None, [3, 2])],
)
async def test_the_next_nearest_are_shown_until_one_is_the_same_or_all_are_too_far(letter, into, shown):
    places = {
        "near a": "9x1x0",
        "near x": "9x2x0",
        "near y": "9x3x0",
        "far b": "6x6x0",
        "far w": "5x6x0",
        "off c": "0x1x9",
    }
    library = [known_bias(name, f"text at{place}") for name, place in places.items()]
    teacher = Teacher()
    rule = Rule(low=0.3, high=0.999, group=0.7, nearest=3, pages=4)
    merged = await merge([candidate(0, f"new {letter}", "text at9x0x0")], library, teacher, rule)
    [outcome] = merged.outcomes
    assert [len(names) - 1 for _, names in teacher.calls] == shown and merged.calls == len(shown)
    assert {b.id: b.name for b in library}.get(outcome.into) == into and outcome.novel == (into is None)
    once = await merge([candidate(0, "new b", "text at9x0x0")], library, rule=Rule(0.3, 0.999, 0.7, nearest=3, pages=1))
    assert once.calls == 1 and once.novel


@pytest.mark.parametrize("wrong", [{"low": 0.9, "high": 0.5}, {"group_size": 1}, {"nearest": 0}, {"pages": 0}])
def test_a_rule_that_cannot_be_is_refused(wrong):
    with pytest.raises(ConfigError, match="cannot be"):
        Rule(**wrong)
