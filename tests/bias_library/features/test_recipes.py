"""Which feature writes which bias, and which biases have none."""

import pytest
from biasscope.bias_library.features import feature_bias, load_features, nearest_feature
from biasscope.bias_library.features.recipes import recipes
from biasscope.bias_library.seeds import seed_biases
from biasscope.bias_library.taxonomy import taxonomy

FEATURES = load_features()


def feature_for(name, definition="Favouring something."):
    found = nearest_feature(name, definition, FEATURES)
    return found and found.name


def test_seed_biases():
    assert {bias.name: feature_for(bias.name, bias.definition) for bias in seed_biases()} == {
        "Length bias": "length",
        "Position bias": "first_place",
        "Authority bias": "institutions",
        "Compassion fade": "model_label",
        "Fallacy oversight": None,
        "Sentiment bias": "positive_sentiment",
        "Refinement-aware bias": "refined_label",
    }


def test_taxonomy_biases_have_features():
    found = {t.name: feature_for(t.bias.name, t.definition) for t in taxonomy()}
    assert all(found.values())
    assert (found["Beauty"], found["Sycophancy"], found["Bandwagon"]) == ("headings", "praise", "majority")


def test_a_feature_bias_finds_its_feature():
    for feature in FEATURES.values():
        bias = feature_bias(feature)
        assert feature_for(bias.name, bias.definition) == feature.name
        assert feature_for("Another name", bias.definition) == feature.name
        assert feature_for(feature.name) == feature.name


@pytest.mark.parametrize(
    ("name", "feature"),
    [
        ("Verbosity Bias", "length"),
        ("citation bias", "citations"),
        ("double-checking claims", "self_verification"),
        ("Excessive hedging", "hedges"),
        ("Overconfidence", "certainty"),
        ("Confidence effect", "certainty"),
        ("Technical Jargon Bias", "jargon"),
        ("Social proof bias", "majority"),
        ("preference for emoji", "emoji"),
        ("Logical fallacy blindness", None),
        ("Lack of citations", None),
        ("Factual accuracy neglect", None),
        ("nautical imagery", None),
        ("", None),
        ("\ud800", None),
    ],
)
def test_other_names(name, feature):
    assert feature_for(name) == feature


def test_definitions_are_not_matched_by_their_words():
    assert feature_for("Blue bias", "Favouring blue words; it is not about length, citations or emoji.") is None


def test_the_table_names_features_that_are_there():
    table = recipes()
    assert {f for f in [*table.names.values(), *(f for _, f in table.words)] if f} <= set(FEATURES)
