import math

import numpy as np
import pytest
from biasscope.core.errors import DataError
from biasscope.validators.multiplicity import benjamini_hochberg, e_bh, e_bh_log, holm
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

p_lists = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), min_size=1, max_size=30)


@settings(max_examples=40)
@given(p_lists, st.sampled_from([0.0125, 0.05, 0.2]))
def test_p_values_as_in_statsmodels(p: list[float], level: float) -> None:
    for ours, method in ((benjamini_hochberg, "fdr_bh"), (holm, "holm")):
        rejected, adjusted = ours(p, level)
        theirs, corrected, _, _ = multipletests(p, level, method=method)
        np.testing.assert_allclose(adjusted, corrected, atol=1e-12)
        near = np.abs(corrected - level) < 1e-9
        np.testing.assert_array_equal(rejected[~near], theirs[~near])


@given(st.lists(st.floats(0, 1e6), max_size=30), st.sampled_from([0.0125, 0.05]))
def test_e_bh_against_its_definition(values: list[float], level: float) -> None:
    total = len(values)
    ordered = sorted(values, reverse=True)
    count = max((k for k in range(1, total + 1) if k * ordered[k - 1] * level / total >= 1 - 1e-12), default=0)
    rejected = e_bh(values, level)
    if not any(math.isclose(value * k * level, total, rel_tol=1e-9) for value in values for k in range(1, total + 1)):
        assert rejected.sum() == count
        assert all(value >= ordered[count - 1] for value, r in zip(values, rejected, strict=True) if r)


def test_e_bh_by_hand() -> None:
    # K = 4, level 0.1: bars 40, 20, 13.3, 10.
    np.testing.assert_array_equal(e_bh([39, 1, 0, 1], 0.1), [False] * 4)
    np.testing.assert_array_equal(e_bh([39, 21, 0, 1], 0.1), [True, True, False, False])
    np.testing.assert_array_equal(e_bh([11, 11, 11, 11], 0.1), [True] * 4)
    assert e_bh([], 0.1).size == 0
    np.testing.assert_array_equal(e_bh_log([[9.0, -np.inf], [0.0, 0.0]], 0.1), [[True, False], [False, False]])


def test_e_bh_holds_under_strong_dependence() -> None:
    rng = np.random.default_rng(1)
    shared = rng.normal(size=(4000, 1))
    z = math.sqrt(0.8) * shared + math.sqrt(0.2) * rng.normal(size=(4000, 20))
    log_e = 2 * z - 2 + np.where(np.arange(20) < 5, 6.0, 0.0)
    rejected = e_bh_log(log_e, 0.1)
    fdp = rejected[:, 5:].sum(axis=1) / np.maximum(rejected.sum(axis=1), 1)
    assert fdp.mean() <= 0.1
    assert rejected[:, :5].mean() > 0.3


def test_false_discoveries_of_the_p_value_procedures() -> None:
    rng = np.random.default_rng(2)
    p = rng.random((4000, 20))
    p[:, :5] **= 6
    bh, _ = benjamini_hochberg(p, 0.1)
    family, _ = holm(p, 0.1)
    assert (bh[:, 5:].sum(axis=1) / np.maximum(bh.sum(axis=1), 1)).mean() <= 0.1
    assert family[:, 5:].any(axis=1).mean() <= 0.1


def test_bad_values_are_named() -> None:
    with pytest.raises(DataError, match="NaN"):
        e_bh([math.nan], 0.05)
    with pytest.raises(DataError, match="is negative"):
        e_bh([-1.0], 0.05)
    for call in (benjamini_hochberg, holm):
        with pytest.raises(DataError, match="p-values"):
            call([0.5, math.nan], 0.05)
