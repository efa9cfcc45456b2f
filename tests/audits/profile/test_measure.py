"""Hand-worked profiles: what a scripted judge says is known, so every figure is."""

import math

import pytest
from biasscope.audits.profile.asking import STAGE, ask
from biasscope.audits.profile.measure import (
    accuracy,
    confidence,
    domains,
    failed_share,
    failure_kinds,
    orders,
    people,
    retest,
    right,
    spending,
    verdict_share,
)
from biasscope.audits.profile.people import Labels
from biasscope.core.calls import Completion
from biasscope.core.errors import BrokenMachine, CallFailed, EndpointError
from biasscope.core.job import Job
from biasscope.core.progress import Progress
from biasscope.core.records import Failure, Judgment, PreferencePair
from biasscope.core.store import Store
from biasscope.data.order import draw_order
from biasscope.validators.proportions import wilson
from frozen_worlds import ScriptedJudge

# What the judge says of pair k: with the chosen answer first, then with the rejected one first.
SAID = (
    ("chosen", "chosen"),
    ("chosen", "chosen"),
    ("chosen", "rejected"),  # first place twice
    ("rejected", "chosen"),  # second place twice
    ("rejected", "rejected"),
    ("tie", "tie"),
    ("tie", "chosen"),
    ("invalid", "chosen"),
    ("chosen", "truncated"),
    ("timeout", "timeout"),
)
PAIRS = [
    PreferencePair(id=f"p{k}", prompt=f"q{k}", chosen="good", rejected="bad", domain="math" if k < 5 else "code")
    for k in range(len(SAID))
]


def said(pair, arm, order, draw):
    word = SAID[int(pair.id[1:])][order == "rejected_first"]
    if word in ("truncated", "timeout"):
        raise CallFailed(word, "no answer")
    return word


@pytest.fixture
def job(tmp_path):
    store = Store(tmp_path / "store.db")
    yield Job("job", store, 0, Progress(store, "job"), 3)
    store.close()


@pytest.fixture
async def answers(job):
    return await ask(job, ScriptedJudge(said), PAIRS, retest=0)


def test_right_wrong_ties_and_lost_verdicts(answers):
    # Means over pairs: 1, 1, 1/2, 1/2, 0, -, 1, 1, 1, -.
    found = accuracy(answers, PAIRS)
    assert (found.value, found.pairs, found.n) == (pytest.approx(6 / 8), 8, 5 * 2 + 3)
    assert found.method == "t over pairs"
    # Of all: 1, 1, 1/2, 1/2, 0, 0, 1/2, 1/2, 1/2, 0.
    assert right(answers).value == pytest.approx(4.5 / 10)
    assert verdict_share(answers, "tie").value == pytest.approx(1.5 / 10)
    assert verdict_share(answers, "invalid").value == pytest.approx(0.5 / 10)
    assert failed_share(answers).value == pytest.approx(1.5 / 10)
    assert failed_share(answers, "truncated").value == pytest.approx(0.5 / 10)
    assert failure_kinds(answers) == {"timeout": 2, "truncated": 1}
    shares = [
        right(answers),
        *(verdict_share(answers, v) for v in ("rejected", "tie", "invalid")),
        failed_share(answers),
    ]
    assert sum(s.value for s in shares) == pytest.approx(1)


def test_position(answers):
    found = orders(answers)
    # Readable in both: pairs 0 to 6; the same verdict: 0, 1, 4, 5.
    assert (found.consistency.value, found.consistency.pairs) == (pytest.approx(4 / 7), 7)
    assert (found.consistency.low, found.consistency.high) == pytest.approx(wilson(4, 7))
    assert (found.right_twice.value, found.right_twice.pairs) == (pytest.approx(2 / 10), 10)
    assert (found.first_kept, found.second_kept) == (1, 1)
    # First place by pair: 1/2, 1/2, 1, 0, 1/2, -, 0 (chosen, stood second), 0, 1, -.
    assert found.first.value == pytest.approx(3.5 / 8)
    [code, math_] = domains(answers)
    assert (math_.domain, math_.pairs, math_.accuracy.value) == ("math", 5, pytest.approx(3 / 5))
    assert (code.consistency.value, code.consistency.pairs) == (pytest.approx(1 / 2), 2)


async def test_asked_again(job):
    changed = {"p0", "p1"}

    def verdict(pair, arm, order, draw):
        return "rejected" if draw and pair.id in changed else "tie" if pair.id == "p9" else "chosen"

    judge = ScriptedJudge(verdict)
    found = retest(await ask(job, judge, PAIRS, retest=99))
    assert (found.agreement.value, found.agreement.pairs) == (pytest.approx(8 / 10), 10)
    assert len(judge.asked) == 30 == len(set(judge.asked))
    assert found.kappa_low <= found.kappa <= found.kappa_high
    some = ScriptedJudge(verdict)
    await ask(job, some, PAIRS, retest=4)
    again = {pair_id for pair_id, *_, draw, _ in some.asked if draw}
    assert len(again) == 4 == len(some.asked) - 20
    assert {pair.domain for pair in PAIRS if pair.id in again} == {"math", "code"}
    assert all(order == draw_order(i) for i, _, order, draw, _ in some.asked if draw)
    assert retest(await ask(job, some, PAIRS, retest=0)) is None


async def test_people(answers):
    # Settled by both orders: chosen, chosen, tie, tie, rejected, tie, tie, and three that are not there.
    labels = Labels({
        "p0": ("chosen",), "p1": ("chosen", "rejected", "chosen"), "p2": ("chosen",), "p4": ("rejected",),
        "p5": ("tie", "tie"), "p6": ("chosen", "rejected"), "p7": ("chosen",),
    }, 3)  # fmt: skip
    found = people(answers, labels)
    assert (found.pairs, found.split, found.annotators) == (5, 1, 3)
    assert found.agreement.value == pytest.approx(4 / 5)
    assert found.between_people == pytest.approx(2 / 5)  # p1: 1 of 3, p5: 1 of 1, p6: 0 of 1
    assert found.kappa is not None and 0 < found.kappa < 1


async def test_a_judge_without_position_is_asked_once(job):
    judge = ScriptedJudge(lambda *_: "chosen")
    judge.has_position = False
    answers = await ask(job, judge, PAIRS, retest=0)
    assert len(judge.asked) == 10
    assert orders(answers) is None
    assert [d.consistency for d in domains(answers)] == [None, None]
    assert accuracy(answers, PAIRS).method == "Wilson"
    assert people(answers, Labels({"p0": ("chosen",)}, 1)).pairs == 1


class Probable(ScriptedJudge):
    """Says the probability that a function gives for the rejected answer."""

    async def judge(self, pair, **kind):
        made: Judgment = await super().judge(pair, **kind)
        p = self.probability(pair)
        return made.model_copy(update={"p_rejected": p, "verdict": "rejected" if p > 0.5 else "chosen"})


async def test_confidence(job):
    judge = Probable(lambda *_: "chosen")
    judge.probability = lambda pair: 0.2 if int(pair.id[1:]) < 6 else 0.9
    found = confidence(await ask(job, judge, PAIRS, retest=0))
    assert (found.n, found.mean, found.right) == (10, pytest.approx(0.6 * 0.8 + 0.4 * 0.9), pytest.approx(0.6))
    assert found.brier == pytest.approx(0.6 * 0.2**2 + 0.4 * 0.9**2)
    assert [(b.n, b.confidence, b.right) for b in found.bins] == [
        (6, pytest.approx(0.8), 1.0),
        (4, pytest.approx(0.9), 0.0),
    ]
    assert found.ece == pytest.approx(0.6 * 0.2 + 0.4 * 0.9)
    assert confidence(await ask(job, judge, PAIRS[:3], retest=0)) is None
    assert confidence(await ask(job, ScriptedJudge(said), PAIRS, retest=0)) is None


def test_spending():
    calls = [
        Completion(request_id=str(k), text="A", prompt_tokens=100, completion_tokens=k, cost=0.5, seconds=float(k))
        for k in range(5)
    ]
    found = spending(calls, 4)
    assert (found.calls, found.calls_per_judgment) == (5, 1.25)
    assert (found.prompt_tokens, found.completion_tokens, found.cost) == (125, 2.5, 0.625)
    assert (found.seconds_median, found.seconds_p95) == (2.0, pytest.approx(3.8))
    assert spending([*calls, Completion(request_id="x", text="A")], 4).cost is None
    nothing = spending([], 0)
    assert (nothing.calls, nothing.cost, nothing.seconds_median) == (0, None, None)


async def test_nothing_to_count(job):
    def never(*_):
        raise CallFailed("empty", "nothing")

    answers = await ask(job, ScriptedJudge(never), PAIRS[:2], retest=1)
    assert (accuracy(answers, PAIRS[:2]).value, right(answers).value) == (None, 0.0)
    assert orders(answers).consistency.value is None
    found = retest(answers)
    assert (found.agreement.value, found.kappa) == (None, None)
    assert not math.isnan(found.kappa_low)
    assert job.store.count(Failure, run_id="job", stage=STAGE) == 5


async def test_a_broken_machine_stops_it(job):
    def broken(*_):
        raise EndpointError("gone")

    with pytest.raises(BrokenMachine, match="gone"):
        await ask(job, ScriptedJudge(broken), PAIRS, retest=0)
