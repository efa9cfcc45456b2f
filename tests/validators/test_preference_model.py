import numpy as np
import pytest
import statsmodels.api as sm
from biasscope.core.errors import DataError
from biasscope.validators.preference_model import fit_preference
from scipy.special import expit
from scipy.stats import norm


def panel_world(rng, prompts, others, beta, a, g, shared=0.3):
    """Verdicts of a judge with known coefficients, one per pair and order.

    A copula ties the verdicts of one prompt and of one pair together, and leaves each one's probability as the model
    has it.
    """
    own = rng.normal(0, 0.6, prompts)[:, None]
    dq = np.round((own - rng.normal(0, 0.6, (prompts, others))) * 4) / 4
    of_prompt, of_pair = rng.normal(size=(prompts, 1)), rng.normal(size=(prompts, others))
    rows = []
    for first in (True, False):
        noise = (of_pair + rng.normal(size=dq.shape)) / 2**0.5
        u = norm.cdf(shared**0.5 * of_prompt + (1 - shared) ** 0.5 * noise)
        p = expit(beta + a * dq + g * (0.5 if first else -0.5))
        label = np.broadcast_to(np.arange(prompts)[:, None], dq.shape)
        rows.append(((u < p).astype(float), dq, np.full(dq.shape, first), label))
    return tuple(np.concatenate([r[k].ravel() for r in rows]) for k in range(4))


def test_coefficients_as_in_statsmodels():
    y, dq, first, prompts = panel_world(np.random.default_rng(1), 60, 4, 0.4, 1.1, 0.9)
    y = np.clip(y * 0.9 + 0.05, 0, 1)  # fractional outcomes are fitted too
    found = fit_preference(y, dq, first, prompts)
    design = np.column_stack([np.ones_like(y), dq, np.where(first, 0.5, -0.5)])
    theirs = sm.GLM(y, design, family=sm.families.Binomial()).fit(cov_type="cluster", cov_kwds={"groups": prompts})
    ours = (found.beta_self, found.discriminability, found.position)
    np.testing.assert_allclose([c.estimate for c in ours], theirs.params, rtol=1e-6)
    np.testing.assert_allclose([c.error for c in ours], theirs.bse, rtol=0.1)  # theirs is CR1, ours the jackknife


def test_the_error_is_that_of_leaving_out_one_prompt_after_another():
    y, dq, first, prompts = panel_world(np.random.default_rng(2), 40, 4, 0.3, 1.0, 0.5)
    found = fit_preference(y, dq, first, prompts)
    left = []
    for prompt in range(40):
        kept = prompts != prompt
        without = fit_preference(y[kept], dq[kept], first[kept], prompts[kept])
        left.append([without.beta_self.estimate, without.discriminability.estimate, without.position.estimate])
    spread = np.asarray(left) - np.mean(left, axis=0)
    exact = np.sqrt(39 / 40 * (spread**2).sum(axis=0))
    ours = [found.beta_self.error, found.discriminability.error, found.position.error]
    np.testing.assert_allclose(ours, exact, rtol=0.05)


@pytest.mark.parametrize(("prompts", "others", "beta"), [(40, 5, 0.0), (40, 5, 0.6), (20, 5, -0.5)])
def test_coverage_of_known_coefficients(prompts, others, beta):
    rng = np.random.default_rng(3)
    hits, fits = np.zeros(3), 0
    for _ in range(600):
        found = fit_preference(*panel_world(rng, prompts, others, beta, 1.2, 0.8))
        assert not found.reason
        fits += 1
        for k, (coefficient, truth) in enumerate(
            ((found.beta_self, beta), (found.discriminability, 1.2), (found.position, 0.8))
        ):
            hits[k] += coefficient.interval[0] <= truth <= coefficient.interval[1]
    assert np.all(hits / fits >= 0.925) and np.all(hits / fits <= 0.985)


def test_a_position_habit_is_no_self_preference():
    rng = np.random.default_rng(4)
    estimates = [fit_preference(*panel_world(rng, 80, 5, 0.0, 1.0, 3.0)).beta_self.estimate for _ in range(40)]
    assert abs(np.mean(estimates)) < 0.05


def test_a_judge_without_positions_has_no_position_coefficient():
    y, dq, _, prompts = panel_world(np.random.default_rng(5), 40, 4, 0.3, 1.0, 0.0)
    found = fit_preference(y, dq, None, prompts)
    assert found.position is None and found.beta_self.interval[0] < found.beta_self.interval[1]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda y, dq, first, p: (np.ones_like(y), dq, first, p), "without exception"),
        (lambda y, dq, first, p: ((dq > 0).astype(float), dq, first, p), "without exception"),
        (lambda y, dq, first, p: (y, np.zeros_like(dq), first, p), "quality difference is the same"),
        (lambda y, dq, first, p: (y, dq, np.ones_like(first), p), "position is the same"),
        (lambda y, dq, first, p: (y, dq, first, np.where(p < 20, 0, 1)), "too few"),
    ],
)
def test_what_cannot_be_estimated_is_said(change, reason):
    found = fit_preference(*change(*panel_world(np.random.default_rng(6), 40, 4, 0.3, 1.0, 0.5)))
    assert found.beta_self is None and reason in found.reason


def test_missing_judgments_are_left_out_and_lengths_must_agree():
    y, dq, first, prompts = panel_world(np.random.default_rng(7), 40, 4, 0.3, 1.0, 0.5)
    whole = fit_preference(y[3:], dq[3:], first[3:], prompts[3:])
    y[:2], dq[2] = np.nan, np.nan
    assert fit_preference(y, dq, first, prompts) == whole
    with pytest.raises(DataError, match="different lengths"):
        fit_preference(y[:3], dq, first, prompts)
