"""The library is what its events say: replay, undo, merging, splitting, storing."""

import asyncio
import itertools
import random

import pytest
from biasscope.bias_library import events as line
from biasscope.bias_library.bias import make_bias
from biasscope.bias_library.events import Stamp, Support, event_id, first_seq
from biasscope.bias_library.library import append, append_now, checked, load_library, replay
from biasscope.bias_library.seeds import seed_biases
from biasscope.core.errors import LibraryError
from biasscope.core.records import Bias, LibraryEvent
from biasscope.core.store import Store
from hypothesis import given, settings
from hypothesis import strategies as st

BIASES = [make_bias(f"bias {k}", f"definition {k}", origin="discovered") for k in range(8)]
IDS = [b.id for b in BIASES]


def at(seq: int, author: str = "loop") -> Stamp:
    return Stamp("r", seq, author)


def added(n: int) -> list[LibraryEvent]:
    return [line.add(at(k), BIASES[k], support=Support.of([f"c{k}"], [f"p{k}"], ["s"])) for k in range(n)]


@st.composite
def histories(draw):
    """Any mixture of events, sensible or not, with ties in seq and undos of anything earlier."""
    events = []
    for k in range(draw(st.integers(1, 25))):
        seq = draw(st.sampled_from([k, max(k - 1, 0)]))
        one, other = draw(st.sampled_from(IDS[:5])), draw(st.sampled_from(IDS[:5]))
        kinds = ["add", "add", "merge", "merge", "status", "rename", "edit", "split", "retire", "evidence", "undo"]
        match draw(st.sampled_from(kinds)):
            case "add":
                event = line.add(at(seq), BIASES[IDS.index(one)], support=Support.of([f"c{k}"]))
            case "merge":
                event = line.merge(at(seq), one, other, 0.9)
            case "status":
                event = line.set_status(at(seq), one, draw(st.sampled_from(["valid", "rejected"])), [f"v{k}"])
            case "rename":
                event = line.rename(at(seq), one, f"name {k}")
            case "edit":
                event = line.edit(at(seq), one, definition=f"text {k}")
            case "split":
                event = line.split(at(seq), one, [(BIASES[5], Support()), (BIASES[6 + k % 2], Support())])
            case "retire":
                event = line.retire(at(seq), one)
            case "evidence":
                event = line.evidence(at(seq), one, Support.of([f"e{k}"]))
            case "undo":
                event = line.undo(at(k), draw(st.sampled_from(events))) if events else line.retire(at(seq), one)
        events.append(event)
    return events


@given(histories(), st.randoms(use_true_random=False))
def test_replay_does_not_depend_on_the_order_or_on_repeats(events, rng):
    shuffled = events + rng.sample(events, len(events) // 2)
    rng.shuffle(shuffled)
    assert replay(shuffled) == replay(events)


@given(histories(), st.data())
def test_undo_restores_the_exact_previous_state_and_its_undo_the_later_one(events, data):
    before = replay(events)
    one = data.draw(st.sampled_from(IDS[:5]))
    change = data.draw(
        st.sampled_from(
            [
                line.merge(at(90), one, IDS[0]),
                line.rename(at(90), one, "new"),
                line.retire(at(90), one),
                line.undo(at(90), events[-1]),
                line.add(at(90), BIASES[7]),
            ]
        )
    )
    changed = replay([*events, change])
    back = line.undo(at(91), change)
    undone = replay([*events, change, back])
    assert undone.entries == before.entries and list(undone.entries) == list(before.entries)
    assert replay([*events, change, back, line.undo(at(92), back)]).entries == changed.entries


@given(histories())
def test_merge_chains_end_and_support_reaches_the_end(events):
    library = replay(events)
    for entry in library:
        end = library.entries[library.resolve(entry.bias.id)]
        assert end.merged_into is None and end.status != "merged"
        assert set(entry.support.candidates) <= set(end.support.candidates)
        assert (entry.status == "merged") == (entry.merged_into is not None)


@given(histories())
def test_what_has_no_effect_says_why(events):
    library = replay(events)
    known = {e.id for e in events}
    assert set(library.skipped) <= known and all(library.skipped.values())
    assert not set(library.skipped) & library.cancelled or all(
        e.kind == "undo" for e in events if e.id in set(library.skipped) & library.cancelled
    )


def test_a_merge_can_be_undone_after_others():
    events = [*added(3), line.merge(at(3), IDS[0], IDS[1]), line.merge(at(4), IDS[1], IDS[2])]
    library = replay(events)
    assert library.resolve(IDS[0]) == IDS[2]
    assert library.entries[IDS[2]].support == Support.of(["c0", "c1", "c2"], ["p0", "p1", "p2"], ["s"])
    after = replay([*events, line.undo(at(5, "ann"), events[4])])
    assert after.resolve(IDS[0]) == IDS[1] and after.entries[IDS[1]].status == "candidate"
    assert after.entries[IDS[2]].support.candidates == ("c2",)


def test_a_circle_is_refused():
    library = replay([*added(3), line.merge(at(3), IDS[0], IDS[1]), line.merge(at(4), IDS[1], IDS[2])])
    with pytest.raises(LibraryError, match="that one is part of it"):
        checked(library, line.merge(at(5), IDS[2], IDS[0]))
    with pytest.raises(LibraryError, match="part of it"):
        checked(library, line.merge(at(5), IDS[2], IDS[2]))
    with pytest.raises(LibraryError, match="already"):
        checked(library, line.merge(at(5), IDS[0], IDS[2]))
    with pytest.raises(LibraryError, match="no bias"):
        checked(library, line.merge(at(5), IDS[2], "gone"))


def test_undoing_an_add_leaves_later_lines_without_effect_until_it_is_back():
    events = [*added(2), line.merge(at(2), IDS[0], IDS[1]), line.set_status(at(3), IDS[1], "valid", ["v"])]
    undo = line.undo(at(4), events[1])
    library = replay([*events, undo])
    assert list(library.entries) == [IDS[0]] and set(library.skipped) == {events[2].id, events[3].id}
    assert replay([*events, undo, line.undo(at(5), undo)]).entries == replay(events).entries


def test_words_status_and_evidence_change_and_the_id_stays():
    events = [
        *added(1),
        line.rename(at(1), IDS[0], " New\nname "),
        line.edit(at(2), IDS[0], manifestation="shows so"),
        line.set_status(at(3), IDS[0], "valid", ["v1"]),
        line.evidence(at(4), IDS[0], Support.of(["c9"]), ["v2", "v1"]),
    ]
    [entry] = replay(events)
    assert (entry.bias.name, entry.bias.definition, entry.bias.manifestation) == (
        "New name",
        "definition 0",
        "shows so",
    )
    assert entry.bias.id == IDS[0] and entry.status == "valid" and entry.validations == ("v1", "v2")
    assert entry.support.misjudgments == 2
    assert replay([*events, line.retire(at(5), IDS[0])]).biases() == []


def test_a_split_retires_the_whole_and_adds_its_parts():
    parts = [make_bias(n, n, origin="split", parents=[IDS[0]]) for n in ("left", "right")]
    split = line.split(at(1, "ann"), IDS[0], [(p, Support.of([f"c-{p.name}"])) for p in parts])
    library = replay([*added(1), split])
    assert library.entries[IDS[0]].status == "retired"
    assert library.entries[IDS[0]].split_into == tuple(p.id for p in parts)
    assert library.find("left").parents == (IDS[0],) and library.find("left").support.candidates == ("c-left",)
    assert [e.kind for e in library.history(parts[0].id)] == ["split"]
    assert replay([*added(1), split, line.undo(at(2), split)]).entries == replay(added(1)).entries
    with pytest.raises(LibraryError, match="two different"):
        line.split(at(1), IDS[0], [(parts[0], Support())] * 2)


def test_finding_a_bias():
    library = replay([line.add(at(k), b, "seed") for k, b in enumerate(seed_biases())])
    assert len(library.biases()) == 7
    length = library.find("length bias")
    assert library.find(length.bias.id) == library.find(length.bias.id[:10]) == length
    with pytest.raises(LibraryError, match="no bias 'nothing'"):
        library.find("nothing")
    with pytest.raises(LibraryError, match="no bias ''"):
        library.find("")
    twice = replay([*library.events, line.rename(at(9), seed_biases()[1].id, "Length bias")])
    with pytest.raises(LibraryError, match="fits 2 biases"):
        twice.find("Length bias")


def test_events_refuse_what_means_nothing():
    with pytest.raises(LibraryError, match="cannot be set"):
        line.set_status(at(0), "b", "merged")
    with pytest.raises(LibraryError, match="needs a name"):
        line.rename(at(0), "b", "\x00 ")
    with pytest.raises(LibraryError, match="changes nothing"):
        line.edit(at(0), "b")
    with pytest.raises(LibraryError, match="nothing to undo"):
        checked(replay(added(1)), line.undo(at(0), line.retire(at(5), IDS[0])))


def test_ids_cover_everything_an_event_says():
    stamp = at(1)
    ids = {
        line.retire(stamp, "b").id,
        line.retire(at(2), "b").id,
        line.retire(at(1, "ann"), "b").id,
        line.retire(Stamp("r", 1, "loop", reason="why"), "b").id,
        line.retire(Stamp("r", 1, "loop", at="2026-01-01T00:00:00Z"), "b").id,
        line.retire(Stamp("other", 1, "loop"), "b").id,
    }
    assert len(ids) == 6
    assert all(e.id == event_id(e) for e in added(3))
    assert "at" not in line.retire(stamp, "b").payload


def test_places_of_the_loop_never_meet():
    steps = ("seed", "merge", "validate", "admit", "confirm")
    places = [first_seq(step, t) for t in range(50) for step in steps]
    assert places == sorted(places) and min(b - a for a, b in itertools.pairwise(places)) >= 100_000
    assert max(places) < 2**31


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "store.db")
    yield store
    store.close()


async def test_a_library_comes_back_from_the_store_as_it_was(store):
    split = line.split(at(9), IDS[1], [(BIASES[5], Support()), (BIASES[6], Support.of(["c"]))])
    events = [*added(4), line.merge(at(8), IDS[0], IDS[1], 0.91234567, ["c0"], "teacher"), split]
    await append(store, events)
    await append(store, events)
    assert load_library(store, "r") == replay(events)
    assert load_library(store, "r", before=8) == replay(added(4))
    assert store.count(LibraryEvent, run_id="r") == 6 and store.count(Bias) == 6
    assert len(load_library(store, "other")) == 0


async def test_two_reviewers_at_the_same_place_lose_nothing(store):
    await append(store, added(3))
    seen = [load_library(store, "r") for _ in range(2)]
    assert seen[0].next_seq == 3
    ann = line.merge(Stamp("r", seen[0].next_seq, "ann", at="2026-01-01T10:00:00Z"), IDS[0], IDS[1])
    bob = line.retire(Stamp("r", seen[1].next_seq, "bob", at="2026-01-01T10:00:01Z"), IDS[2])
    same = line.retire(Stamp("r", seen[1].next_seq, "ann", at="2026-01-01T10:00:01Z"), IDS[2])
    await asyncio.gather(append(store, [ann]), append(store, [bob]), append(store, [same]))
    library = load_library(store, "r")
    assert {e.id for e in library.events} >= {ann.id, bob.id, same.id}
    assert [e.status for e in library] == ["merged", "candidate", "retired"]


def test_reviewers_who_merge_into_each_other_make_no_circle(store):
    append_now(store, [*added(2), line.merge(at(2, "ann"), IDS[0], IDS[1]), line.merge(at(2, "bob"), IDS[1], IDS[0])])
    library = load_library(store, "r")
    assert len(library.skipped) == 1 and len({library.resolve(i) for i in IDS[:2]}) == 1


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_a_long_history_replays_the_same_from_any_order(seed):
    rng = random.Random(seed)
    events = added(8)
    for k in range(8, 120):
        events.append(
            line.merge(at(k), rng.choice(IDS), rng.choice(IDS)) if k % 3 else line.undo(at(k), rng.choice(events))
        )
    assert replay(rng.sample(events, len(events))) == replay(events)
