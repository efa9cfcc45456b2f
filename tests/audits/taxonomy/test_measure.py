"""Results from judgments that are written down here, so that every figure can be worked by hand."""

import math

import pytest
from biasscope.audits.taxonomy import measure
from biasscope.audits.taxonomy.cues import cue_entry, swap_entry
from biasscope.audits.taxonomy.entries import Entry, injected
from biasscope.audits.taxonomy.examples import harms
from biasscope.audits.taxonomy.suite import Suite, SuiteCount
from biasscope.bias_library.taxonomy import identities, taxonomy
from biasscope.core.ids import content_id
from biasscope.core.records import ORIGINAL, Judgment, PreferencePair
from biasscope.data.order import draw_order
from biasscope.validators.mcnemar import mcnemar_exact, tango
from biasscope.validators.proportions import wilson

BY_NAME = {entry.name: entry for entry in (*taxonomy(), *identities())}
HOW = {"has_position": True, "both_orders": False, "filtered": True, "left_out": {}}


def base(n):
    return PreferencePair(id=f"p{n}", prompt="Q?", chosen=f"good {n}", rejected=f"bad {n}", domain="d")


def said(pair, arm, order, verdict, **more):
    return Judgment(
        id=content_id(pair.id, arm, order), run_id="run", pair_id=pair.id, arm=arm, order=order, verdict=verdict,
        judge="j", **more,
    )  # fmt: skip


def rewritten(n, name="Authority"):
    return Entry(base(n), injected(base(n), BY_NAME[name], f"good {n}", f"bad {n}, as NIST says", {"made_by": "rules"}))


def suite_of(*entries):
    names = dict.fromkeys(entry.bias.name for entry in entries)
    counts = []
    for name in names:
        kept = sum(entry.bias.name == name for entry in entries)
        counts.append(SuiteCount(bias=name, eligible=kept, drawn=kept, kept=kept))
    return Suite(entries, tuple(counts))


def order_of(job, n):
    return draw_order(f"p{n}", job.seed)


async def test_rates_flips_and_tests_by_hand(job):
    # Right then right 3, right then wrong 4, wrong then right 1, wrong then wrong 2; a tie and an unreadable one.
    verdicts = [("chosen", "chosen")] * 3 + [("chosen", "rejected")] * 4 + [("rejected", "chosen")]
    verdicts += [("rejected", "rejected")] * 2 + [("chosen", "tie"), ("invalid", "rejected")]
    entries = [rewritten(n) for n in range(len(verdicts))]
    for n, (entry, (before, after)) in enumerate(zip(entries, verdicts, strict=True)):
        await job.store.write(said(entry.base, ORIGINAL, order_of(job, n), before))
        await job.store.write(said(entry.pair, entry.arm, order_of(job, n), after))
    result = measure(job, suite_of(*entries), **HOW)
    [found] = result.biases
    assert (found.n, found.right_original, found.harms, found.repairs, found.flips) == (10, 7, 4, 1, 5)
    assert found.bsr.value == pytest.approx(4 / 7)
    assert found.bsr.interval == wilson(4, 7)
    assert (found.accuracy_original, found.accuracy_biased) == (0.7, pytest.approx(0.4))
    assert found.drop == pytest.approx(30.0)
    assert found.drop_interval == tuple(100 * x for x in tango(4, 1, 10))
    assert found.p_value == found.p_corrected == mcnemar_exact(4, 1)
    assert (found.original.invalid, found.biased.ties, found.original.failed) == (1, 1, 0)
    assert found.written_by == "rules" and found.core and found.margin is None and found.control is None
    assert result.overall.bsr.value == pytest.approx(4 / 7) and result.overall.pairs == 7
    assert result.accuracy_original.value == pytest.approx(8 / 11)
    assert result.kind == "generative" and [o.name for o in result.dimensions] == ["superficial quality"]


async def test_a_judgment_that_failed_is_counted(job):
    entries = [rewritten(n) for n in range(3)]
    await job.store.write(*(said(e.base, ORIGINAL, order_of(job, n), "chosen") for n, e in enumerate(entries)))
    await job.store.write(said(entries[0].pair, entries[0].arm, order_of(job, 0), "rejected"))
    [found] = measure(job, suite_of(*entries), **HOW).biases
    assert (found.n, found.biased.judged, found.biased.failed) == (1, 1, 2)


async def test_several_biases_are_corrected_together_and_weighted(job):
    entries = [rewritten(n, name) for name in ("Authority", "Beauty") for n in range(8)]
    for n in range(8):
        await job.store.write(said(base(n), ORIGINAL, order_of(job, n), "chosen"))
    for entry in entries:
        n = int(entry.base.id[1:])
        hurt = entry.bias.name == "Authority" and n < 6
        await job.store.write(said(entry.pair, entry.arm, order_of(job, n), "rejected" if hurt else "chosen"))
    result = measure(job, suite_of(*entries), **HOW)
    by_name = {found.name: found for found in result.biases}
    assert by_name["Authority"].p_corrected == pytest.approx(2 * mcnemar_exact(6, 0))
    assert by_name["Beauty"].p_corrected == 1.0
    assert result.overall.bsr.value == pytest.approx((6 / 8 + 0) / 2)
    assert (result.overall.biases, result.overall.pairs) == (2, 8)


async def test_identities_beyond_the_two_are_no_part_of_the_overall_rate(job):
    entries = [cue_entry(base(n), BY_NAME["Age"], n, order_of(job, n), control=True) for n in range(4)]
    for n, entry in enumerate(entries):
        await job.store.write(
            said(entry.base, ORIGINAL, order_of(job, n), "chosen"),
            said(entry.pair, entry.arm, order_of(job, n), "rejected"),
            said(entry.control, entry.control_arm, order_of(job, n), "chosen" if n else "rejected"),
        )
    result = measure(job, suite_of(*entries), **HOW)
    [found] = result.biases
    assert not found.core and result.overall.bsr.value is None and result.dimensions == ()
    assert found.control.effect == pytest.approx(25.0)
    assert found.against_control.effect == pytest.approx(75.0)
    assert [(c.n, c.harms, c.toward, c.away) for c in found.cues] == [(1, 1, 0, 1)] * 4
    assert found.cues[0].against_control.effect == pytest.approx(0.0)
    assert found.cues[1].against_control.effect == pytest.approx(100.0)


async def test_verdicts_that_follow_a_line_beside_either_answer(job):
    bias = BY_NAME["Superficial reflection"]
    entries = [cue_entry(base(n), bias, 0, order_of(job, n), control=False) for n in range(12)]
    assert {entry.side for entry in entries} == {"chosen", "rejected"}
    for n, entry in enumerate(entries):
        # The judge follows the line wherever it stands.
        before = "rejected" if entry.side == "chosen" else "chosen"
        await job.store.write(
            said(entry.base, ORIGINAL, order_of(job, n), before), said(entry.pair, entry.arm, entry.order, entry.side)
        )
    [found] = measure(job, suite_of(*entries), **HOW).biases
    [line] = found.cues
    assert (line.toward, line.away) == (12, 0)
    assert found.harms == sum(entry.side == "rejected" for entry in entries) > 0
    assert found.repairs == 12 - found.harms


async def test_position_is_the_drawn_order_against_the_other(job):
    entries = [swap_entry(base(n), BY_NAME["Position"], order_of(job, n)) for n in range(10)]
    for n, entry in enumerate(entries):
        # A judge that always takes the first answer.
        for pair, arm, order in (
            (entry.base, ORIGINAL, order_of(job, n)),
            (entry.pair, entry.arm, entry.order),
        ):
            await job.store.write(said(pair, arm, order, "chosen" if order == "chosen_first" else "rejected"))
    [found] = measure(job, suite_of(*entries), **HOW).biases
    right = sum(order_of(job, n) == "chosen_first" for n in range(10))
    assert (found.right_original, found.harms, found.repairs) == (right, right, 10 - right)
    assert found.bsr.value == 1.0 and found.written_by == "order"


async def test_both_orders_must_be_right_for_a_pair_to_be_right(job):
    entries = [rewritten(n) for n in range(3)]
    after = [("chosen", "chosen"), ("chosen", "rejected"), ("rejected", "rejected")]
    for entry, verdicts in zip(entries, after, strict=True):
        for order, verdict in zip(("chosen_first", "rejected_first"), verdicts, strict=True):
            await job.store.write(
                said(entry.base, ORIGINAL, order, "chosen"), said(entry.pair, entry.arm, order, verdict)
            )
    [found] = measure(job, suite_of(*entries), **HOW | {"both_orders": True}).biases
    assert (found.n, found.right_original, found.harms) == (3, 3, 2)


async def test_margins_of_a_judge_that_scores(job):
    entries = [rewritten(n) for n in range(4)]
    for n, entry in enumerate(entries):
        await job.store.write(
            said(entry.base, ORIGINAL, order_of(job, n), "chosen", score_chosen=2.0 + n, score_rejected=1.0),
            said(entry.pair, entry.arm, order_of(job, n), "chosen", score_chosen=2.0 + n, score_rejected=1.5),
        )
    result = measure(job, suite_of(*entries), **HOW | {"has_position": False, "both_orders": True})
    margin = result.biases[0].margin
    assert (margin.unit, margin.n, margin.before, margin.after, margin.change) == ("score", 4, 2.5, 2.0, -0.5)
    assert margin.shrunk == 1.0 and margin.interval is None  # no spread in the change
    assert result.kind == "discriminative" and not result.both_orders


async def test_margins_of_probabilities_are_log_odds(job):
    entry = rewritten(0)
    await job.store.write(
        said(entry.base, ORIGINAL, order_of(job, 0), "chosen", p_rejected=0.2),
        said(entry.pair, entry.arm, order_of(job, 0), "rejected", p_rejected=0.6),
    )
    margin = measure(job, suite_of(entry), **HOW).biases[0].margin
    assert margin.unit == "log-odds"
    assert margin.before == pytest.approx(math.log(4)) and margin.after == pytest.approx(math.log(2 / 3))


async def test_examples_are_pairs_that_turned_wrong(job):
    entries = [rewritten(n) for n in range(4)]
    for n, entry in enumerate(entries):
        await job.store.write(
            said(entry.base, ORIGINAL, order_of(job, n), "chosen" if n else "rejected"),
            said(entry.pair, entry.arm, order_of(job, n), "rejected", reasoning="NIST says so"),
        )
    found = harms(job, suite_of(*entries), both_orders=False)["Authority"]
    assert [harm.entry.base.id for harm in found] == ["p1", "p2"]
    assert found[0].after.reasoning == "NIST says so"
