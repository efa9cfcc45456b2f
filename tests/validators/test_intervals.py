import functools
import math

import numpy as np
import pytest
from biasscope.core.errors import DataError
from biasscope.validators.mcnemar import mcnemar_exact, mcnemar_p, newcombe, paired_interval, tango
from biasscope.validators.proportions import clopper_pearson, wilson
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint


def test_published_examples() -> None:
    # Fagerland, Lydersen, Laake, Statistical Analysis of Contingency Tables (2017), chapter 8: complete response before
    # and after consolidation therapy (59, 6, 16, 80), and airway hyper-responsiveness (1, 1, 7, 12).
    np.testing.assert_allclose(newcombe(59, 6, 16, 80), (-0.1186, -0.0046), atol=5e-5)
    np.testing.assert_allclose(tango(6, 16, 161), (-0.1240, -0.0054), atol=5e-5)
    assert mcnemar_exact(6, 16) == pytest.approx(0.052479, abs=5e-7)
    np.testing.assert_allclose(tango(1, 7, 21), (-0.517, -0.026), atol=5e-4)
    # R package PropCIs, scoreci.mp(25, 28, 618) at 90 %.
    np.testing.assert_allclose(tango(28, 25, 618, 0.9), (-0.0148, 0.0247), atol=5e-5)


@pytest.mark.parametrize(("harms", "repairs"), [(0, 0), (5, 5), (9, 2), (2, 9), (0, 7), (60, 30)])
def test_exact_p_as_in_statsmodels_and_scipy(harms: int, repairs: int) -> None:
    theirs = mcnemar([[0, harms], [repairs, 0]], exact=True).pvalue if harms + repairs else 1.0
    assert mcnemar_exact(harms, repairs) == pytest.approx(min(1.0, theirs))
    if harms + repairs:
        one_sided = binomtest(harms, harms + repairs, 0.5, "greater").pvalue
        assert mcnemar_exact(harms, repairs, "greater") == pytest.approx(one_sided)


def test_p_of_differences() -> None:
    d = [1, 1, 1, -1, 0, math.nan, 0.5]
    assert mcnemar_p(d) == mcnemar_exact(4, 1)
    assert mcnemar_p(d, "greater") == mcnemar_exact(4, 1, "greater")


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (1, 10), (7, 10), (10, 10), (300, 620), (1, 1)])
def test_one_proportion_as_in_statsmodels(successes: int, n: int) -> None:
    np.testing.assert_allclose(wilson(successes, n), proportion_confint(successes, n, method="wilson"), atol=1e-12)
    np.testing.assert_allclose(
        clopper_pearson(successes, n), proportion_confint(successes, n, method="beta"), atol=1e-12
    )


@pytest.mark.parametrize("p", [0.05, 0.3, 0.8])
def test_coverage_of_one_proportion(p: float) -> None:
    counts = np.random.default_rng(1).binomial(80, p, 4000)
    for method, least in ((wilson, 0.93), (clopper_pearson, 0.95)):
        table = {int(k): method(int(k), 80) for k in set(counts)}
        assert np.mean([table[k][0] <= p <= table[k][1] for k in counts]) >= least


@pytest.mark.parametrize(
    ("harm", "repair", "n"), [(0.075, 0.075, 60), (0.15, 0.15, 200), (0.175, 0.075, 100), (0.1, 0.0, 80)]
)
def test_coverage_of_paired_differences(harm: float, repair: float, n: int) -> None:
    both = 0.25
    cells = np.random.default_rng(2).multinomial(n, [both, harm, repair, 1 - both - harm - repair], size=3000)
    score = functools.cache(tango)
    square = functools.cache(newcombe)
    truth = harm - repair
    hits = np.zeros(2)
    for a, b, c, d in cells.tolist():
        for i, (low, high) in enumerate((score(b, c, n), square(a, b, c, d))):
            hits[i] += low <= truth <= high
    assert np.all(hits / 3000 >= 0.93)
    assert np.all(hits / 3000 <= 0.99)


def test_level_of_the_exact_test() -> None:
    counts = np.random.default_rng(3).multinomial(200, [0.1, 0.1, 0.8], size=4000)
    exact = functools.cache(mcnemar_exact)
    p = np.array([exact(b, c, "greater") for b, c, _ in counts.tolist()])
    assert (p <= 0.05).mean() <= 0.05


@pytest.mark.parametrize("cells", [(0, 0, 0), (0, 10, 10), (10, 0, 10), (5, 5, 10), (0, 0, 5)])
def test_extreme_tables_give_intervals_in_range(cells: tuple[int, int, int]) -> None:
    harms, repairs, n = cells
    for low, high in (tango(harms, repairs, n), newcombe(0, harms, repairs, n - harms - repairs)):
        estimate = (harms - repairs) / n if n else 0.0
        assert -1.0 - 1e-9 <= low <= estimate + 1e-9 and estimate - 1e-9 <= high <= 1.0 + 1e-9
    low, high = tango(repairs, harms, n)
    np.testing.assert_allclose(tango(harms, repairs, n), (-high, -low), atol=1e-7)


def test_paired_interval_chooses_by_the_kind_of_difference() -> None:
    assert paired_interval([1, 0, -1, 1, math.nan])[2] == "Tango score"
    low, high, method = paired_interval([0.1, 0.3, -0.2, 0.4])
    d = np.array([0.1, 0.3, -0.2, 0.4])
    assert method == "paired t"
    half = 3.1824463 * d.std(ddof=1) / 2
    np.testing.assert_allclose((low, high), (d.mean() - half, d.mean() + half), rtol=1e-6)
    assert paired_interval([0.5])[:2] == (-1.0, 1.0)


def test_coverage_of_the_paired_t() -> None:
    rng = np.random.default_rng(4)
    d = rng.choice([-0.5, 0, 0.5, 1], p=[0.15, 0.6, 0.2, 0.05], size=(1500, 80))
    truth = -0.075 + 0.1 + 0.05
    hits = [low <= truth <= high for low, high, _ in map(paired_interval, d)]
    assert 0.93 <= np.mean(hits) <= 0.97


def test_impossible_counts_are_named() -> None:
    for call in (
        lambda: tango(5, 6, 10),
        lambda: mcnemar_exact(-1, 2),
        lambda: wilson(3, 2),
        lambda: newcombe(1, -1, 0, 3),
    ):
        with pytest.raises(DataError, match="count"):
            call()
