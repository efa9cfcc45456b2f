"""Stability selection keeps its bound on false selections, and finds what is there."""

import numpy as np
import pytest
from biasscope.core.errors import ConfigError, DataError
from biasscope.validators.stability import Block, false_bound, first_to_enter, most_per_half, stability_selection
from sklearn.linear_model import lasso_path


def names(n):
    return [f"pair {k}" for k in range(n)]


def select(x, y, seed=0, **more):
    group = more.pop("group", None) or names(len(y))
    nuisance = more.pop("nuisance", None)
    return stability_selection([Block(x, y, group, nuisance)], np.random.default_rng(seed), pairs=25, **more)


def test_bound_worked_by_hand():
    # Ten of a hundred columns: theta = 0.1. Theorem 1 gives q theta / (2 tau - 1).
    assert false_bound(10, 100, 0.9, 50) == pytest.approx(1.0 * 4 * (0.1 + 0.01) / 1.02)
    assert false_bound(10, 100, 0.75, 50) == pytest.approx(1.0 / (2 * (0.5 - 0.01)))
    # Where Theorem 2 says nothing, Theorem 1 stands: theta over 1 / sqrt(3), or a threshold close to a half.
    assert false_bound(60, 100, 0.9, 50) == pytest.approx(36 / 0.8)
    assert false_bound(10, 100, 0.505, 50) == pytest.approx(1 / 0.01)
    with pytest.raises(ConfigError, match=r"threshold: 0\.5"):
        false_bound(1, 10, 0.5)


@pytest.mark.parametrize("columns", [3, 20, 90, 400])
@pytest.mark.parametrize("allowed", [0.05, 1.0, 5.0])
def test_as_many_per_half_as_the_bound_allows(columns, allowed):
    most = most_per_half(columns, allowed)
    assert most == 0 or false_bound(most, columns) <= allowed
    assert most >= columns // 2 or false_bound(most + 1, columns) > allowed


@pytest.mark.parametrize("strong", [0, 3])
@pytest.mark.parametrize("verdicts", [False, True])
def test_false_selections_stay_under_the_bound(strong, verdicts):
    columns, n, repeats = 60, 120, 30
    false, found, bound = [], [], 0.0
    for repeat in range(repeats):
        rng = np.random.default_rng(1000 + repeat)
        x = rng.standard_normal((n, columns)) * (rng.random((n, columns)) < 0.3)
        pull = 4.0 * x[:, :strong].sum(axis=1)
        y = (rng.random(n) < 1 / (1 + np.exp(-pull))).astype(float) if verdicts else pull + rng.standard_normal(n)
        made = select(x, y, repeat, false_selections=4.0)
        false.append(int(made.chosen[strong:].sum()))
        found.append(int(made.chosen[:strong].sum()))
        bound = made.false_bound
    assert 3.0 < bound <= 4.0
    # Three standard errors of the mean of what was counted.
    assert np.mean(false) + 3 * np.std(false) / np.sqrt(repeats) <= bound
    assert not strong or np.mean(found) > 0.9 * strong


def test_columns_enter_as_on_the_lasso_path():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((80, 12))
    y = x @ np.array([3, -2, 1.2, 0.8, *[0] * 8]) + 0.5 * rng.standard_normal(80)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    _, coefficients, _ = lasso_path(z, y - y.mean(), alphas=np.geomspace(5, 0.01, 2000))
    entered = np.where((coefficients != 0).any(axis=1), (coefficients != 0).argmax(axis=1), 9999)
    expected = np.argsort(entered, kind="stable")[:4]
    np.testing.assert_array_equal(first_to_enter(x, y, 4), expected)
    # Columns at right angles come in the order of their correlations.
    square = rng.standard_normal((40, 6))
    square = np.linalg.qr(square - square.mean(axis=0))[0]
    target = rng.standard_normal(40)
    by_correlation = np.argsort(-np.abs(np.corrcoef(square.T, target)[-1, :-1]))
    np.testing.assert_array_equal(first_to_enter(square, target, 6), by_correlation)


def test_weights_carry_direction_and_size():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((300, 30)) * 7
    y = x[:, 2] / 7 - 0.5 * x[:, 9] / 7 + 0.2 * rng.standard_normal(300)
    made = select(x, y)
    assert list(np.flatnonzero(made.chosen)) == [2, 9]
    np.testing.assert_allclose(made.weight[[2, 9]], np.array([1, -0.5]) / y.std(), atol=0.05)
    assert made.frequency[2] == 1.0 and made.n == 300


def test_rows_of_a_pair_stay_together():
    """Copies in both halves would make any chance pattern look stable."""
    kept, split = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x, y = rng.standard_normal((30, 40)), rng.standard_normal(30)
        copies = (np.repeat(x, 12, axis=0), np.repeat(y, 12))
        kept.append(select(*copies, group=list(np.repeat(names(30), 12))).chosen.sum())
        split.append(select(*copies).chosen.sum())
    assert np.mean(kept) <= 1.0 < np.mean(split)


def test_nuisance_is_explained_away():
    rng = np.random.default_rng(6)
    first = rng.integers(0, 2, 200).astype(float)
    x = rng.standard_normal((200, 20))
    x[:, 0] += 2 * first
    y = 3 * first + rng.standard_normal(200)
    assert select(x, y).chosen[0]
    assert not select(x, y, nuisance=first[:, None]).chosen.any()


def test_blocks_count_by_their_own_noise():
    rng = np.random.default_rng(7)
    x = rng.standard_normal((2, 150, 25))
    y = x[:, :, 3] + 0.5 * rng.standard_normal((2, 150)) + np.array([[10.0], [-4.0]])
    blocks = [Block(x[k], y[k], names(150)) for k in range(2)]
    scaled = [blocks[0], Block(x[1] * 1000, y[1] * 1000, names(150))]
    one, other = (stability_selection(b, np.random.default_rng(1), pairs=10) for b in (blocks, scaled))
    np.testing.assert_array_equal(one.frequency, other.frequency)
    assert list(np.flatnonzero(one.chosen)) == [3] and one.n == 300


def test_what_hardly_varies_is_not_looked_at():
    rng = np.random.default_rng(8)
    x = rng.standard_normal((100, 30))
    x[:, 0] = 0
    x[:3, 0] = 50
    y = 5 * x[:, 0] + rng.standard_normal(100)
    made = select(x, y)
    assert not made.considered[0] and not made.chosen[0] and made.considered[1:].all()
    assert select(x, y, min_rows=2).considered[0]


def test_without_anything_to_explain_nothing_is_chosen():
    x = np.random.default_rng(9).standard_normal((40, 30))
    for y in (np.zeros(40), np.full(40, np.nan), np.r_[1.0, np.full(39, np.nan)]):
        made = select(x, y)
        assert not made.chosen.any() and made.false_bound == 0.0
    # Too few columns for the bound: none may be chosen.
    assert select(x[:, :2], x[:, 0], false_selections=0.1).per_half == 0


def test_missing_responses_leave_and_the_seed_decides():
    rng = np.random.default_rng(10)
    x, y = rng.standard_normal((200, 30)), rng.standard_normal(200)
    y += x[:, 4]
    holes = np.where(np.arange(200) % 4 == 0, np.nan, y)
    there = np.isfinite(holes)
    some = select(x, holes)
    only = select(x[there], y[there], group=[n for n, t in zip(names(200), there, strict=True) if t])
    np.testing.assert_array_equal(some.frequency, only.frequency)
    assert some.n == 150 and some.chosen[4]
    assert (select(x, y, seed=3).frequency != select(x, y, seed=4).frequency).any()


def test_bad_blocks_are_named():
    rng = np.random.default_rng(0)
    x = np.zeros((3, 2))
    with pytest.raises(DataError, match="3 rows, 2 responses"):
        stability_selection([Block(x, np.zeros(2), names(3))], rng)
    with pytest.raises(DataError, match="columns"):
        stability_selection([Block(x, np.zeros(3), names(3)), Block(x[:, :1], np.zeros(3), names(3))], rng)
    with pytest.raises(DataError, match="finite"):
        stability_selection([Block(x + np.nan, np.zeros(3), names(3))], rng)
