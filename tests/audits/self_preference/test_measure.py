"""Results from judgments that are written down here."""

import math

import pytest
from biasscope.audits.self_preference import SelfPreferenceSettings, measure, plan_contests
from biasscope.audits.self_preference.said import combined, equal_contests, read, share
from biasscope.core.ids import content_id
from biasscope.core.records import Judgment
from biasscope.data.answers import Prompt

SETTINGS = SelfPreferenceSettings(structured=False)
HOW = {
    "own": "me", "judge": "j", "structured": "", "has_position": True, "panel": ["p", "q"],
    "authors": {"me": 6, "a": 6}, "left_out": {},
}  # fmt: skip


def said(pair_id, arm, judge, order, verdict, **more):
    return Judgment(
        id=content_id(pair_id, arm, judge, order), run_id="run", pair_id=pair_id, arm=arm, order=order, judge=judge,
        verdict=verdict, **more,
    )  # fmt: skip


def graded(pair_id, member, own, other):
    return said(pair_id, "panel", member, "chosen_first", "tie", score_chosen=own, score_rejected=other)


@pytest.fixture
def contests():
    prompts = [Prompt(f"q{k}", f"Q{k}?", "d", {"me": f"mine {k}", "a": f"theirs {k}"}) for k in range(6)]
    return plan_contests(prompts, "me", SETTINGS, 0)


def both(pair_id, arm, judge, first, second):
    yield said(pair_id, arm, judge, "chosen_first", first)
    yield said(pair_id, arm, judge, "rejected_first", second)


def test_shares_of_single_judgments():
    one = said("p", "plain", "j", "chosen_first", "chosen", p_rejected=0.3)
    assert share(one) == pytest.approx(0.7)
    assert share(said("p", "plain", "j", "chosen_first", "tie")) == 0.5
    assert math.isnan(share(said("p", "plain", "j", "chosen_first", "invalid")))


def test_both_orders_take_the_position_out():
    # Log-odds of the own answer: 2 + 1 where it stands first, -2 + 1 where it stands second: 1 on average.
    def p_other(log_odds):
        return 1 / (1 + math.exp(log_odds))

    found = {
        "chosen_first": said("p", "plain", "j", "chosen_first", "chosen", p_rejected=p_other(3)),
        "rejected_first": said("p", "plain", "j", "rejected_first", "rejected", p_rejected=p_other(-1)),
    }
    assert combined(found, 2) == pytest.approx(1 / (1 + math.exp(-1)))
    assert combined(found, 2, verdicts=True) == 0.5
    assert math.isnan(combined({"chosen_first": found["chosen_first"]}, 2))
    assert combined({"chosen_first": found["chosen_first"]}, 1) == pytest.approx(1 / (1 + math.exp(-3)))
    assert math.isnan(combined({}, 1))


async def test_propensity_discriminability_and_baseline_by_hand(job, contests):
    ids = [c.pair.id for c in contests]
    rows = []
    for k, pair_id in enumerate(ids):
        # Four of equal quality, one clearly better, one clearly worse.
        own = {4: 9.0, 5: 5.0}.get(k, 7.0)
        rows += [graded(pair_id, "p", own, 7.0), graded(pair_id, "q", own, 7.0)]
    rows += [*both(ids[0], "plain", "j", "chosen", "chosen"), *both(ids[1], "plain", "j", "chosen", "chosen")]
    rows += [*both(ids[2], "plain", "j", "chosen", "rejected"), *both(ids[3], "plain", "j", "tie", "chosen")]
    rows += [*both(ids[4], "plain", "j", "chosen", "chosen"), *both(ids[5], "plain", "j", "chosen", "chosen")]
    for pair_id in ids[:4]:
        rows += [
            *both(pair_id, "baseline", "p#", "chosen", "rejected"),
            *both(pair_id, "baseline", "q#", "chosen", "chosen"),
        ]
    await job.store.write(*rows)
    assert [c.pair.id for c in equal_contests(read(job, contests), 0.25)] == ids[:4]
    result = measure(job, contests, SETTINGS, **HOW)
    side = result.own_side
    assert (side.pairs, side.graded, side.equal, side.unequal) == (6, 6, 4, 2)
    assert side.propensity.value == pytest.approx((0.5 + 0.5 + 0.0 + 0.25) / 4)
    assert side.discriminability.value == pytest.approx(0.5)  # right on the better answer, wrong on the worse
    assert side.baseline.propensity.value == pytest.approx(0.25)
    assert side.baseline.difference.value == pytest.approx(0.3125 - 0.25)
    assert {name: e.value for name, e in side.baseline.members.items()} == {"p#": 0.0, "q#": 0.5}
    assert side.first == pytest.approx((1 + 1 + 1 + 0.5) / 4) and side.second == pytest.approx((1 + 1 + 0 + 1) / 4)
    [against] = side.authors
    assert (against.other, against.n, against.equal) == ("a", 6, 4)
    assert against.quality == pytest.approx(0.0)
    plain = next(s for s in side.spoken if s.arm == "plain")
    assert (plain.judged, plain.own, plain.other, plain.ties, plain.failed) == (12, 10, 1, 1, 0)
    assert result.labels is None and result.mitigation is None and result.family_side is None
    assert [p.estimate.n for p in side.curve if p.delta in (0.25, 2.0)] == [4, 4]  # a majority is no equality


async def test_labels_and_structured_judging_by_hand(job, contests):
    ids = [c.pair.id for c in contests]
    rows = []
    for pair_id in ids:
        rows += [graded(pair_id, "p", 7.0, 7.0)]
        rows += [
            *both(pair_id, "plain", "j", "chosen", "chosen"),
            *both(pair_id, "structured", "s", "chosen", "rejected"),
        ]
        rows += [
            *both(pair_id, "label:own", "j", "chosen", "chosen"),
            *both(pair_id, "label:other", "j", "chosen", "rejected"),
        ]
    await job.store.write(*rows)
    result = measure(job, contests, SelfPreferenceSettings(), **{**HOW, "structured": "s"})
    assert (result.mitigation.before.value, result.mitigation.after.value) == (0.5, 0.0)
    assert result.mitigation.relative.value == pytest.approx(1.0)
    assert result.labels.preference.value == pytest.approx((1.0 - 0.5) / 2)
    assert result.labels.own_labelled_own.value == pytest.approx(0.5)
    assert result.labels.other_labelled_own.value == pytest.approx(0.0)


async def test_nothing_graded_is_nothing_equal(job, contests):
    await job.store.write(*both(contests[0].pair.id, "plain", "j", "chosen", "invalid"))
    side = measure(job, contests, SETTINGS, **HOW).own_side
    assert (side.graded, side.equal, side.unequal) == (0, 0, 0)
    assert side.propensity.value is None and side.baseline is None and side.fit.reason
    plain = next(s for s in side.spoken if s.arm == "plain")
    assert (plain.invalid, plain.failed) == (1, 10)


async def test_a_judge_without_positions_speaks_once(job, contests):
    rows = [graded(c.pair.id, "p", 7.0, 7.0) for c in contests]
    rows += [said(c.pair.id, "plain", "j", "chosen_first", "chosen") for c in contests]
    await job.store.write(*rows)
    side = measure(job, contests, SETTINGS, **{**HOW, "has_position": False}).own_side
    assert side.propensity.value == 0.5 and side.first is None and side.fit.position is None


async def test_the_family_by_hand(job):
    settings = SelfPreferenceSettings(structured=False, families={"me": "us", "kin": "us"})
    prompts = [
        Prompt(f"q{k}", f"Q{k}?", "d", {"me": f"mine {k}", "kin": f"ours {k}", "a": f"theirs {k}"}) for k in range(4)
    ]
    family = [c for c in plan_contests(prompts, "me", settings, 0) if c.role == "family"]
    assert [(c.own, c.other) for c in family] == [("kin", "a")] * 4
    rows = []
    for k, contest in enumerate(family):
        rows += [graded(contest.pair.id, member, 7.0, 7.0) for member in ("p", "q")]
        # For the sibling three times, and once for whoever stands first.
        rows += both(contest.pair.id, "plain", "j", "chosen", "rejected" if k == 3 else "chosen")
    await job.store.write(*rows)
    result = measure(job, plan_contests(prompts, "me", settings, 0), settings, **HOW)
    side = result.family_side
    assert result.family == "us" and (side.pairs, side.graded, side.equal) == (4, 4, 4)
    assert side.propensity.value == pytest.approx((0.5 * 3 + 0.0) / 4)
    assert result.own_side.equal == 0 and [a.other for a in side.authors] == ["a"]
