"""The text-feature lexicon: what can be measured in an answer and written into it (docs/features.md)."""

from .feature import Dimension, Feature, feature_bias
from .lexicon import load_features, measure_all, user_features
from .neutral import neutral_words, write_matched, write_neutral
from .recipes import nearest_feature
from .weakening import WEAKENERS, weaken

__all__ = [
    "WEAKENERS",
    "Dimension",
    "Feature",
    "feature_bias",
    "load_features",
    "measure_all",
    "nearest_feature",
    "neutral_words",
    "user_features",
    "weaken",
    "write_matched",
    "write_neutral",
]
