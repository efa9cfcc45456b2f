"""Seeds, wording and ids."""

import pytest
from biasscope.bias_library.bias import bias_text, clean, make_bias
from biasscope.bias_library.seeds import is_order_bias, seed_biases
from biasscope.bias_library.taxonomy import TaxonomyBias, identities, taxonomy
from biasscope.core.errors import LibraryError
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

anything = st.text(st.characters(codec=None), max_size=60)


def test_the_seven_seeds_can_be_injected():
    seeds = seed_biases()
    assert len({b.id for b in seeds}) == 7
    assert {b.name.split()[0].lower() for b in seeds} == {
        "length", "position", "authority", "compassion", "fallacy", "sentiment", "refinement-aware",
    }  # fmt: skip
    assert all(b.origin == "seed" and b.definition.startswith(("Favouring", "Overlooking")) for b in seeds)
    assert all("answer" in b.manifestation.lower() for b in seeds)
    assert [b.name for b in seeds if is_order_bias(b.id)] == ["Position bias"]


def test_the_taxonomy_has_twelve_in_four_dimensions():
    assert len({t.bias.id for t in taxonomy()}) == len(taxonomy()) == 12
    counts = {}
    for t in taxonomy():
        counts[t.dimension] = counts.get(t.dimension, 0) + 1
    assert counts == {"superficial quality": 7, "context": 2, "presentation": 1, "diversity": 2}
    assert [t.name for t in taxonomy() if t.how == "rewrite" and t.ratio is None] == ["Length"]
    assert {t.name for t in taxonomy() if "discriminative" not in t.kinds} == {
        "Superficial reflection", "Bandwagon", "Position",
    }  # fmt: skip
    for t in taxonomy():
        for cue in t.cues:
            assert ("{percent}" in cue) == bool(t.percent)


def test_an_incomplete_taxonomy_entry_is_refused():
    fields = taxonomy()[0].model_dump()
    with pytest.raises(ValidationError, match="both sides"):
        TaxonomyBias.model_validate({**fields, "rejected": ""})
    with pytest.raises(ValidationError, match="variants and a place"):
        TaxonomyBias.model_validate({**fields, "cues": ["x"], "beside": "chosen"})


@pytest.mark.parametrize(
    ("name", "definition"),
    [
        ("  LENGTH   bias", "Longer is\nbetter."),
        ("Length bias.", "longer is better"),
        ("Length\u200b bias", "Longer is better!"),
        ("Length bias", "Longer is better"),
    ],
)
def test_the_id_ignores_case_space_and_final_stops(name, definition):
    assert (
        make_bias(name, definition, origin="discovered").id
        == make_bias("length bias", "longer is better", origin="seed").id
    )


def test_manifestation_and_origin_are_not_part_of_the_id():
    a = make_bias("a", "b", "c", origin="seed")
    assert a.id == make_bias("a", "b", "d", origin="imported", parents=["x"]).id
    assert a.id != make_bias("a", "c", "c", origin="seed").id


@pytest.mark.parametrize(
    ("name", "definition"), [("", "x"), ("x", " \x00\n"), ("x" * 201, "x"), ("x", "y" * 4001), ("...", "x")]
)
def test_wording_that_is_no_bias_is_refused_in_one_line(name, definition):
    with pytest.raises(LibraryError) as error:
        make_bias(name, definition, origin="discovered")
    assert "\n" not in str(error.value) and len(str(error.value)) < 200


@given(anything)
def test_clean_is_stable_and_storable(text):
    once = clean(text)
    assert clean(once) == once
    once.encode("utf-8")
    assert not any(ord(c) < 32 for c in once)


def test_shared_words_do_not_reach_the_embedder():
    assert bias_text("Length bias", "The judge prefers longer answers.") == "Length: longer"
    assert bias_text("Preference", "The judge prefers it") == "Preference: The judge prefers it"


def test_every_cue_has_a_control_of_as_many_words_that_names_nobody():
    groups = (*taxonomy(), *identities())
    assert len({t.name for t in groups}) == len(groups) == len(taxonomy()) + len(identities())
    for t in groups:
        assert len(t.controls) == len(t.cues)
        for cue, control in zip(t.cues, t.controls, strict=True):
            assert len(cue.split()) == len(control.split()), (cue, control)
            assert ("{percent}" in cue) == ("{percent}" in control)
            assert not {"by", "person", "man", "woman", "readers", "users"} & set(control.lower().rstrip(".").split())
    assert all(t.dimension == "diversity" and t.beside == "chosen" for t in identities())
