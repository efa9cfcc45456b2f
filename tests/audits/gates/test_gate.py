"""What a gate makes of two replays; the decision itself is tested in validators."""

import math

import numpy as np
import pytest
from biasscope.audits.gate import drift, gate_report
from biasscope.audits.replay import Replay
from biasscope.core.records import ORIGINAL, PLACEBO, bias_arm
from biasscope.validators.gating import GateLimits
from biasscope.validators.mcnemar import mcnemar_exact, mcnemar_p
from frozen_worlds import frozen_world

N = 40


@pytest.fixture(scope="module")
def frozen(easy):
    return frozen_world(easy, N, ("authority", "nautical"))


def made(frozen, original, placebo, *biased, again="", **more):
    """A replay from a letter for each pair."""
    arms = dict(zip(frozen.arms, (original, placebo, *biased), strict=True))
    values = {"c": 0.0, "r": 1.0}
    return Replay(
        frozen=frozen.digest,
        judge=more.get("judge", "now"),
        prompts=more.get("prompts", "p"),
        both_orders=False,
        wrong={arm: tuple(values.get(x) for x in letters) for arm, letters in arms.items()},
        verdicts={arm: tuple(letters) for arm, letters in arms.items()},
        again=tuple(again),
    )


def test_a_report_from_letters(frozen):
    quiet = "c" * N
    now = made(frozen, "r" * 10 + "c" * 30, quiet, "r" * 20 + "c" * 20, "f" * 6 + "t" * 2 + "i" * 1 + "c" * 31)
    report = gate_report(frozen, now, None, GateLimits(max_effect=0.05))
    loud, silent = report.biases
    assert (report.standing, loud.standing, silent.standing) == ("worse", "worse", "inconclusive")
    assert loud.effect.value == 50.0
    assert (silent.effect.n, silent.missing) == (31, 7)
    assert "18% of the pairs have no verdict" in silent.reason
    assert report.accuracy == 0.75
    assert report.drift is None
    assert report.counts[bias_arm(silent.id)].model_dump() == {"asked": 40, "ties": 2, "invalid": 1, "failed": 6}
    assert report.limits.max_effect == 5.0


def test_a_change_is_paired(frozen):
    before = made(frozen, "c" * N, "c" * N, "r" * 20 + "c" * 20, "c" * N, judge="before")
    now = made(frozen, "c" * N, "c" * N, "r" * 34 + "c" * 6, "c" * N)
    report = gate_report(frozen, now, before, GateLimits(max_change=0.05))
    assert report.standing == "worse"
    grown = report.biases[0].change
    assert grown is not None
    assert grown.value == pytest.approx(35.0)
    assert report.biases[1].change.value == 0.0


def test_drift_by_hand(frozen):
    before = made(frozen, "c" * 30 + "r" * 10, "c" * N, "c" * N, "c" * N, again="c" * 28 + "r" * 12, judge="before")
    now = made(frozen, "c" * 20 + "r" * 18 + "i" + "f", "c" * N, "c" * N, "c" * N, prompts="other")
    found = drift(now, before)
    assert (found.n, found.changed) == (38, 10)
    assert (found.noise, found.noise_n) == (2, 38)
    # Ten changed now; of the two that changed at the baseline, both are among them.
    assert found.p_changed == mcnemar_exact(8, 0, "greater")
    assert (found.accuracy_before, found.accuracy_now) == (0.75, pytest.approx(20 / 38))
    assert found.p_accuracy == mcnemar_p([-1.0] * 10)
    assert found.accuracy_change.value == pytest.approx(-100 * 10 / 38)
    assert found.shown
    assert (found.judge_before, found.prompts_changed) == ("before", True)
    once = drift(now, before.model_copy(update={"again": ()}))
    assert (once.noise, once.p_changed) == (None, None)


def test_no_verdict_at_all(frozen):
    silent = made(frozen, *("f" * N for _ in frozen.arms))
    report = gate_report(frozen, silent, silent, GateLimits(max_effect=0.05))
    assert report.standing == "inconclusive"
    assert report.accuracy is None
    assert report.drift is not None
    assert (report.drift.n, report.drift.shown, report.drift.accuracy_change.value) == (0, False, None)
    assert report.biases[0].effect.value is None


@pytest.mark.parametrize("flips", [0.05, 0.2])
def test_a_noisy_judge_does_not_drift(frozen, flips):
    """600 judges that draw a share of their verdicts anew each time they are asked."""
    rng = np.random.default_rng(3)
    shown = 0
    for _ in range(600):
        true = rng.random(N) < 0.3

        def read(true=true):
            return np.where(rng.random(N) < flips, rng.random(N) < 0.3, true)

        letters = ["".join("r" if w else "c" for w in read()) for _ in range(3)]
        rest = ("c" * N,) * 3
        before, now = made(frozen, letters[0], *rest, again=letters[1]), made(frozen, letters[2], *rest)
        shown += drift(now, before).shown
    assert shown / 600 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 600)


def test_arms_of_a_frozen_set(frozen):
    assert frozen.arms[:2] == (ORIGINAL, PLACEBO)
