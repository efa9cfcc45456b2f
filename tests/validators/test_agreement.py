import math

import numpy as np
import pytest
from biasscope.core.errors import DataError
from biasscope.validators.agreement import (
    cohen_kappa,
    cohen_kappa_interval,
    fleiss_kappa,
    phi_coefficient,
    same_effect_groups,
)
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_reference


def test_kappas_as_in_statsmodels() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 60)
    ratings = np.where(rng.random((60, 4)) < 0.7, truth[:, None], rng.integers(0, 3, (60, 4)))
    table, _ = aggregate_raters(ratings)
    assert fleiss_kappa(table) == pytest.approx(fleiss_reference(table))
    pairs = np.zeros((3, 3))
    np.add.at(pairs, (ratings[:, 0], ratings[:, 1]), 1)
    assert cohen_kappa(ratings[:, 0].tolist(), ratings[:, 1].tolist()) == pytest.approx(cohens_kappa(pairs).kappa)


def test_kappas_by_hand_and_at_the_edges() -> None:
    # 45 yes/yes, 15 yes/no, 25 no/yes, 15 no/no: observed 0.6, expected 0.54.
    first = ["y"] * 60 + ["n"] * 40
    second = ["y"] * 45 + ["n"] * 15 + ["y"] * 25 + ["n"] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.06 / 0.46)
    assert cohen_kappa(["a", "b"], ["a", "b"]) == 1.0
    assert math.isnan(cohen_kappa([], [])) and math.isnan(cohen_kappa(["a"], ["a"]))
    assert math.isnan(fleiss_kappa([[3, 0], [3, 0]]))
    with pytest.raises(DataError, match="same number of ratings"):
        fleiss_kappa([[3, 0], [2, 0]])
    with pytest.raises(DataError, match="1 ratings for 2 items"):
        cohen_kappa(["a", "b"], ["a"])


def test_kappa_of_chance_is_near_zero() -> None:
    rng = np.random.default_rng(2)
    tables = np.stack([np.bincount(row, minlength=3) for row in rng.integers(0, 3, (20_000, 4))])
    assert abs(fleiss_kappa(tables)) < 0.01


def test_phi_is_the_correlation_over_shared_pairs() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.choice([-1.0, 0.0, 1.0], (2, 200))
    holed = np.where(rng.random(200) < 0.2, np.nan, b)
    kept = ~np.isnan(holed)
    assert phi_coefficient(a, holed) == pytest.approx(np.corrcoef(a[kept], b[kept])[0, 1])
    assert phi_coefficient(a, a) == pytest.approx(1.0)
    assert math.isnan(phi_coefficient(a, np.zeros(200)))
    assert math.isnan(phi_coefficient([1.0, math.nan], [math.nan, 1.0]))


def test_groups_are_connected_components() -> None:
    rng = np.random.default_rng(4)
    base = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.7, 0.2], size=300)

    def near(d: np.ndarray, changed: int) -> np.ndarray:
        copy = d.copy()
        copy[rng.choice(300, changed, replace=False)] = 0.0
        return copy

    middle = near(base, 40)
    vectors = {
        "length": base,
        "verbosity": middle,
        "detail": near(middle, 40),
        "tone": rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.7, 0.2], size=300),
        "opposite": -base,
        "silent": np.zeros(300),
        "barely seen": np.where(np.arange(300) < 20, base, np.nan),
    }
    assert same_effect_groups(vectors) == [("detail", "length", "verbosity")]
    assert same_effect_groups({"length": base, "barely seen": vectors["barely seen"]}, min_shared=10, min_flips=2) == [
        ("barely seen", "length")
    ]
    assert same_effect_groups({}) == []
    with pytest.raises(DataError, match="align both by pair"):
        same_effect_groups({"a": [1.0], "b": [1.0, 0.0]})


@pytest.mark.parametrize("seed", range(4))
def test_groups_are_those_of_every_pair_looked_at_by_itself(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bases = rng.choice([-1.0, 0.0, 0.5, 1.0], p=[0.1, 0.6, 0.1, 0.2], size=(6, 80))
    d = {}
    for k in range(40):
        row = bases[k % 6].copy()
        row[rng.random(80) < 0.06] = 0.0
        row[rng.random(80) < rng.choice([0.05, 0.5])] = np.nan
        d[f"b{k:02}"] = row
        d[f"a{k:02}"] = np.where(np.arange(80) < 25, row, np.nan) if k % 2 else np.where(np.arange(80) < 3, row, 0.0)
    links = set()
    for a, x in d.items():
        for b, y in d.items():
            both = ~(np.isnan(x) | np.isnan(y))
            flips = min(np.count_nonzero(x[both]), np.count_nonzero(y[both]))
            if a < b and both.sum() >= 30 and flips >= 5 and phi_coefficient(x, y) >= 0.8:
                links.add((a, b))
    group = {a: a for a in d}
    for _ in d:
        for a, b in links:
            group[a] = group[b] = min(group[a], group[b])
    expected = {}
    for a, root in group.items():
        expected.setdefault(root, []).append(a)
    wanted = sorted((tuple(m) for m in expected.values() if len(m) > 1), key=lambda m: (-len(m), m))
    assert wanted
    assert same_effect_groups(d) == wanted


@pytest.mark.parametrize("seed", range(4))
def test_interval_of_kappa_as_in_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 3, 80)
    second = np.where(rng.random(80) < 0.7, first, rng.integers(0, 3, 80))
    table = np.zeros((3, 3))
    np.add.at(table, (first, second), 1)
    theirs = cohens_kappa(table)
    low, high = cohen_kappa_interval(first.tolist(), second.tolist())
    np.testing.assert_allclose((low, high), (theirs.kappa_low, theirs.kappa_upp), atol=1e-9)


def test_interval_of_kappa_without_kappa() -> None:
    assert cohen_kappa_interval(["a"], ["a"]) == (-1.0, 1.0)
    assert cohen_kappa_interval([], []) == (-1.0, 1.0)


def test_coverage_of_the_interval_of_kappa() -> None:
    """Two raters, two categories, the same with chance 0.7, else drawn anew: kappa is 0.7."""
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(600):
        first = rng.random(150) < 0.4
        second = np.where(rng.random(150) < 0.7, first, rng.random(150) < 0.4)
        low, high = cohen_kappa_interval(first.astype(int).tolist(), second.astype(int).tolist())
        inside += low <= 0.7 <= high
    assert inside / 600 >= 0.925
