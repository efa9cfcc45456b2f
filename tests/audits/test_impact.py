import numpy as np
import pytest
from biasscope.audits.impact import Arms, Impact, impact
from biasscope.data.leaderboard import Leaderboard
from scipy.special import expit, logit

# Strengths two log-odds steps of about 0.4 and 1.1 apart.
WINS = np.array([[0, 60, 80], [40, 0, 75], [20, 25, 0]], dtype=float)
BOARD = Leaderboard(("top", "middle", "last"), WINS, 300)


def arms(before, after, name="bias", n=400):
    reference, bias = np.zeros(n), np.zeros(n)
    reference[: round(before * n)] = 1
    bias[: round(after * n)] = 1
    return Arms(name, name, reference, bias)


def found(board, *biases, threshold=None, against=None):
    made = impact("run", [("judge", biases)], board, threshold=threshold, against=against)
    assert Impact.model_validate_json(made.model_dump_json()) == made
    return made


def test_ranks_by_hand():
    strong, weak, none = (
        found(BOARD, arms(0.2, 0.2, "none"), arms(0.2, 0.32, "weak"), arms(0.2, 0.7, "strong")).judges[0].biases
    )  # the largest shift first
    assert [b.name for b in (strong, weak, none)] == ["strong", "weak", "none"]
    assert strong.shift == pytest.approx(logit(280.5 / 401) - logit(80.5 / 401))
    assert strong.effect == pytest.approx(50)
    # 2.2 log-odds lift the last over both, 0.63 only the middle over the top, 0 nobody.
    assert (strong.overtakes.value, strong.gainers.value, strong.leaders.value) == (3, 2, 2)
    assert (weak.overtakes.value, weak.gainers.value, weak.leaders.value) == (1, 1, 1)
    assert (none.overtakes.value, none.overtakes.high, none.gainers.value) == (0, 0, 0)
    assert strong.overtakes.low <= strong.overtakes.value <= strong.overtakes.high
    assert strong.opened is None and strong.passes_from is None


def test_decisions_by_hand():
    made = found(BOARD, arms(0.2, 0.7), threshold=50, against="middle")
    assert [r.model for r in made.ranks] == ["top", "middle", "last"]
    assert made.ranks[1].rate is None and made.ranks[0].rate > 50 > made.ranks[2].rate
    (bias,) = made.judges[0].biases
    assert (bias.opened.value, bias.closed.value) == (1, 1)
    assert bias.passes_from.value == pytest.approx(100 * expit(-bias.shift))
    assert bias.passes_from.high < bias.passes_from.value < bias.passes_from.low  # a larger shift passes from lower


def test_a_threshold_alone_and_no_pairs():
    made = found(None, arms(0.5, 0.4), arms(0, 0, "empty", n=0), threshold=60)
    less, empty = made.judges[0].biases
    assert (made.models, made.ranks, less.overtakes) == (0, (), None)
    assert less.passes_from.value == pytest.approx(60)  # a bias that harms opens nothing
    assert (empty.n, empty.effect, empty.shift, empty.interval, empty.passes_from) == (0, None, None, None, None)
