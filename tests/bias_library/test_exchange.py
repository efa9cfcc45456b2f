"""Out and in again without loss; what is wrong is named by its key."""

import json

import numpy as np
import pytest
from biasscope.bias_library import events as line
from biasscope.bias_library.bias import make_bias
from biasscope.bias_library.diff import diff
from biasscope.bias_library.events import Stamp, Support
from biasscope.bias_library.exchange import adopt, export_full, export_published, read_exchange
from biasscope.bias_library.library import replay
from biasscope.bias_library.seeds import seed_biases
from biasscope.core.errors import LibraryError
from biasscope.core.records import Validation
from hypothesis import given
from hypothesis import strategies as st

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40).map(lambda s: f"w{s}")


def validation(bias_id: str, effect: float, iteration: int = 0, judge: str = "m", half: float = 2.0) -> Validation:
    return Validation(
        id=f"v-{bias_id}-{iteration}-{judge}-{effect}", run_id="r", bias_id=bias_id, iteration=iteration, judge=judge,
        pair_set="search", rule="rigorous", n=100, harms=9, repairs=1, error_reference=0.1, error_bias=0.18,
        effect=effect, interval=(effect - half, effect + half), interval_method="exact", decision="valid",
    )  # fmt: skip


def library(*biases, status="seed", run="r"):
    return replay([line.add(Stamp(run, k, "loop"), b, status, Support.of([f"c{k}"])) for k, b in enumerate(biases)])


@given(
    st.lists(st.tuples(words, words, words), min_size=1, max_size=6),
    st.sampled_from(["merge", "retire", "undo", "rename"]),
)
def test_the_full_form_comes_back_whole(texts, last):
    biases = list({b.id: b for b in (make_bias(*t, origin="discovered") for t in texts)}.values())
    events = list(library(*biases).events)
    extra = {
        "merge": line.merge(Stamp("r", 50, "ann", at="2026-01-01"), biases[0].id, biases[-1].id),
        "retire": line.retire(Stamp("r", 50, "ann", reason="why"), biases[0].id),
        "undo": line.undo(Stamp("r", 50, "ann"), events[0]),
        "rename": line.rename(Stamp("r", 50, "ann", iteration=3), biases[0].id, "other"),
    }[last]
    whole = replay([*events, extra])
    checks = [validation(biases[0].id, 3.5)]
    text = export_full(whole, checks)
    back = read_exchange(text)
    assert back.library == whole and list(back.validations) == checks
    assert back.biases == tuple(e.bias for e in whole)
    assert export_full(back.library, back.validations) == text


@given(st.lists(st.tuples(words, words, words), max_size=6))
def test_the_published_form_comes_back_whole(texts):
    biases = list({b.name: b for b in (make_bias(*t, origin="imported") for t in texts)}.values())
    biases = list({b.id: b for b in biases}.values())
    assert list(read_exchange(export_published(biases)).biases) == biases


def test_the_published_form_in_its_variants():
    text = json.dumps(
        {
            "Length bias": {"Definition": "Longer is better.", "Manifestations": ["It repeats.", "It pads."]},
            "Tone": {"definition": ["Warm", "wins."]},
            "Plain": "Just a text.",
        }
    )
    found = read_exchange(text).biases
    assert [(b.name, b.definition, b.manifestation) for b in found] == [
        ("Length bias", "Longer is better.", "It repeats. It pads."),
        ("Tone", "Warm wins.", ""),
        ("Plain", "Just a text.", ""),
    ]
    assert all(b.origin == "imported" for b in found)


def test_biases_of_one_name_are_told_apart():
    a, b = make_bias("same", "one", origin="seed"), make_bias("same", "two", origin="seed")
    names = list(json.loads(export_published([a, b])))
    assert names == [f"same [{a.id[:8]}]", f"same [{b.id[:8]}]"]


FULL = json.loads(export_full(library(*seed_biases())))


def changed(**top):
    return json.dumps({**FULL, **top})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no JSON: .* line 1"),
        ("[" * 100_000, "no JSON|too deeply"),
        ("[]", "holds a list"),
        ('{"a": "x", "a": "y"}', "key 'a' twice"),
        ('{"a": 3}', "'a' is a int"),
        ('{"a": {"Definition": "x", "Example": "y"}}', "'a' has an unknown key 'example'"),
        ('{"a": {"Manifestations": "y"}}', "'a' has no 'Definition'"),
        ('{"a": {"Definition": [1]}}', "'a'.Definition is a list"),
        ('{"a": ""}', "'a': a bias needs a definition"),
        (changed(version=2), "version 2: this release reads"),
        (changed(format="x"), "in the form 'x'"),
        (changed(extra=1), "unknown key 'extra'"),
        (changed(events={}), "'events' is a dict"),
        (changed(biases=["x"]), r"biases\[0\] is a str"),
        (changed(biases=FULL["biases"][1:]), "do not follow from its events"),
        (changed(events=[{**FULL["events"][0], "author": "eve"}]), r"events\[0\].id .* does not fit"),
        (changed(events=[{**FULL["events"][0], "kind": "burn"}]), r"events\[0\]: kind: must be 'add'"),
        (changed(events=[{k: v for k, v in FULL["events"][0].items() if k != "seq"}]), r"events\[0\]: seq: is needed"),
        (changed(validations=[{"id": "v"}]), r"validations\[0\]: run_id: is needed"),
    ],
)
def test_what_is_wrong_is_named(text, says):
    with pytest.raises(LibraryError, match=says) as error:
        read_exchange(text, "lib.json")
    assert str(error.value).startswith("lib.json") and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("kind", "payload", "says"),
    [
        ("merge", {}, "payload.into must be a str, got None"),
        ("add", {"bias": {}, "status": "seed"}, "payload holds no bias"),
        ("split", {"parts": [3]}, "payload holds no bias"),
        ("status", {"status": 1}, "payload.status"),
    ],
)
def test_events_that_say_nothing_are_named(kind, payload, says):
    event = line.make_event(kind, "b", Stamp("r", 0, "eve"), payload)
    text = json.dumps({**FULL, "biases": [], "events": [event.model_dump(mode="json")]})
    with pytest.raises(LibraryError, match=says):
        read_exchange(text)


def test_a_file_is_adopted_as_candidates_without_what_is_there():
    seeds = seed_biases()
    extra = make_bias("extra", "something else", origin="discovered")
    known = library(*seeds[:2], run="mine")
    imported = read_exchange(export_full(library(*seeds, extra)))
    events = adopt(imported, Stamp("mine", known.next_seq, "ann"), known)
    after = replay([*known.events, *events])
    assert len(after) == 8 and after.entries[extra.id].status == "candidate"
    assert after.entries[extra.id].bias.origin == "imported" and after.entries[seeds[0].id].status == "seed"
    assert adopt(imported, Stamp("mine", 99, "ann"), after) == []
    assert len(adopt(read_exchange(export_published([extra])), Stamp("mine", 0, "ann"))) == 1


def test_diff_of_two_libraries():
    length, position, authority, fade, *_ = seed_biases()
    a = library(length, position, authority)
    b = replay(
        [
            *library(length, position, fade).events,
            line.set_status(Stamp("r", 9, "loop"), length.id, "confirmed"),
            line.merge(Stamp("r", 10, "ann"), position.id, length.id),
        ]
    )
    found = diff(
        a,
        b,
        [validation(length.id, 5, 0), validation(length.id, 4, -1), validation(fade.id, 1)],
        [validation(length.id, 9, 1, "other")],
        vectors={authority.id: np.array([1.0, 0.1]), fade.id: np.array([1.0, 0.2])},
    )
    assert [x.id for x in found.both] == [length.id]
    assert [x.id for x in found.only_a] == [position.id, authority.id] and [x.id for x in found.only_b] == [fade.id]
    assert [(s.before, s.after) for s in found.statuses] == [("seed", "confirmed")]
    [effect] = found.effects
    assert (effect.before, effect.after, effect.change, effect.apart) == (4, 9, 5, True)
    assert [(n.a.id, n.b.id) for n in found.near] == [(authority.id, fade.id)]
    assert found.near[0].similarity == pytest.approx(0.995, abs=0.002)


def test_diff_of_a_library_with_itself_is_empty():
    a = library(*seed_biases())
    found = diff(a, a)
    assert len(found.both) == 7
    assert (found.only_a, found.only_b, found.statuses, found.effects, found.near) == ((), (), (), (), ())
