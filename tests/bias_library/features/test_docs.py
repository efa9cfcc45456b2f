"""docs/features.md says what the lexicon is."""

from pathlib import Path

import biasscope
from biasscope.bias_library.features import load_features
from biasscope.bias_library.features.side_effects import BOUND, related

PAGE = (Path(biasscope.__file__).parent / "docs" / "features.md").read_text(encoding="utf-8")


def test_every_feature_is_documented():
    for feature in load_features().values():
        assert f"| `{feature.name}` | **{feature.title}.** {feature.definition} | {feature.unit} |" in PAGE


def test_every_related_pair_is_documented():
    for pair in related():
        assert f"- `{pair.edit}` shows in `{pair.shows}`: {pair.why}." in PAGE
    assert f"(bound {BOUND})" in PAGE
