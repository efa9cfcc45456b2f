import math

import numpy as np
import pytest
from biasscope.core.errors import DataError
from biasscope.validators.calibration import calibration


def drawn(rng: np.random.Generator, n: int, gap: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Confidences in [0.5, 1] of a judge that is right `gap` less often than it says, but for the least confident."""
    p = rng.uniform(0.5, 1.0, n)
    return p, (rng.random(n) < np.clip(p - gap * (p > 0.6), 0, 1)).astype(float)


def test_two_bins_worked_by_hand() -> None:
    p = [0.6] * 10 + [0.9] * 10
    y = [1.0] * 4 + [0.0] * 6 + [1.0] * 9 + [0.0]
    found = calibration(p, y, bins=2)
    assert [(b.n, b.confidence, b.right) for b in found.bins] == [
        (10, pytest.approx(0.6), 0.4),
        (10, pytest.approx(0.9), 0.9),
    ]
    assert found.ece == pytest.approx(0.5 * 0.2)
    assert found.brier == pytest.approx((4 * 0.16 + 6 * 0.36 + 9 * 0.01 + 0.81) / 20)
    # Variances of the mean residual: 0.4 * 0.6 / 9 and 0.9 * 0.1 / 9.
    noise = (0.24 / 9, 0.09 / 9)
    square = 0.5 * (0.04 - noise[0]) + 0.5 * (0 - noise[1])
    assert found.rms == pytest.approx(math.sqrt(max(square, 0)))
    spread = math.sqrt(0.25 * (4 * (0.04 - noise[0]) * noise[0] + 2 * noise[0] ** 2) + 0.25 * 2 * noise[1] ** 2)
    assert found.rms_interval[0] == 0.0
    assert found.rms_interval[1] == pytest.approx(math.sqrt(square + 1.959964 * spread), rel=1e-6)
    assert found.ece_if_calibrated == pytest.approx(
        math.sqrt(2 / math.pi) * (math.sqrt(10 * 0.24) + math.sqrt(10 * 0.09)) / 20
    )


def test_equal_confidences_stay_together_and_missing_ones_are_left_out() -> None:
    p = [1.0] * 15 + [0.7, 0.8, 0.9, 0.95, 0.6, math.nan]
    found = calibration(p, [1.0] * 21, bins=5)
    assert found.n == 20
    assert sum(b.n for b in found.bins) == 20
    assert [b.n for b in found.bins][-1] == 16  # 0.95 and every 1.0
    assert all(b.n >= 2 for b in found.bins)


def test_too_few() -> None:
    with pytest.raises(DataError, match="5 judgments for 10 bins; give at least 20"):
        calibration([0.7] * 5, [1.0] * 5)
    with pytest.raises(DataError, match="right: 2 values for 3"):
        calibration([0.7] * 3, [1.0] * 2)


def test_ece_of_a_calibrated_judge_is_what_chance_gives() -> None:
    rng = np.random.default_rng(1)
    found = [calibration(*drawn(rng, 400)) for _ in range(300)]
    expected = np.mean([c.ece_if_calibrated for c in found])
    assert np.mean([c.ece for c in found]) == pytest.approx(expected, rel=0.05)
    assert np.mean([c.rms_interval[0] == 0 for c in found]) > 0.93


@pytest.mark.parametrize("n", [200, 600])
@pytest.mark.parametrize("gap", [0.0, 0.05, 0.12])
def test_coverage_of_the_calibration_error(n: int, gap: float) -> None:
    """500 repetitions; the truth is the root mean square gap over the same bins of a very large sample."""
    rng = np.random.default_rng(n)
    p, _ = drawn(rng, 400_000)
    ranks = np.argsort(np.argsort(p)) * 10 // p.size
    shift = p - np.clip(p - gap * (p > 0.6), 0, 1)
    truth = math.sqrt(np.mean([shift[ranks == b].mean() ** 2 for b in range(10)]))
    intervals = [calibration(*drawn(rng, n, gap)).rms_interval for _ in range(500)]
    assert np.mean([low <= truth <= high for low, high in intervals]) >= 0.92
