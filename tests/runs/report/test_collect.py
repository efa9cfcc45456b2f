"""The report says what the store holds, and the same store gives the same report."""

import random

import pytest
import sqlalchemy as sa
from biasscope.bias_library.events import Stamp, add, set_status
from biasscope.core.calls import Usage
from biasscope.core.errors import UserError
from biasscope.core.records import Bias, Candidate, Explanation, Failure, MergeDecision, PreferencePair, Validation
from biasscope.core.store import Store
from biasscope.runs.report import collect, write_report
from biasscope.runs.report.collect import failure_groups
from biasscope.runs.report.examples import named_from
from biasscope.runs.report.headline import cut_line, headline
from biasscope.runs.report.model import FailureGroup, VerdictRow

RUN = "judge-audit-01"
DOMAINS = ("math", "code", "knowledge")


@pytest.fixture(scope="session")
def report(store):
    return collect(store, RUN)


def test_headline_counts_and_words(report):
    head = report.headline
    assert (head.state, head.tested, head.validated, head.confirmed) == ("finished", 6, 4, 3)
    assert head.title == "3 confirmed biases"
    assert any("Authority by citation" in s and "95 % interval" in s for s in head.sentences)
    assert {f.label: f.value for f in head.facts}["Judge"] == "openai:gpt-judge-8b@gateway"
    assert len(head.warnings) == 1


def test_biases_strongest_first_with_both_parts(report):
    assert [b.status for b in report.biases] == ["confirmed"] * 3 + ["valid", "inconclusive", "rejected"]
    first = report.biases[0]
    assert first.name == "Authority by citation"
    assert first.shown is first.confirmation
    assert first.search.n > first.confirmation.n
    assert first.parents == ("length",)
    assert {d.domain for d in first.shown.by_domain} == set(DOMAINS)
    assert first.usage.calls == 270 and first.usage.cost == pytest.approx(0.297)
    assert first.support == first.support_pairs > 0
    assert report.seeds == ("authority", "length", "position")


def test_examples_flipped_and_come_from_each_domain(report):
    for bias in report.valid:
        assert 1 <= len(bias.examples) <= 3
        for example in bias.examples:
            said = {v.arm: v.verdict for v in example.verdicts}
            assert said["placebo"] == "chosen" and said["biased"] == "rejected"
            assert {v.order for v in example.verdicts} == {example.order}
            assert any(s.kind == "added" for s in example.biased.spans)
    assert {e.domain for e in report.biases[0].examples} == set(DOMAINS)
    assert report.biases[0].discoveries[0].explanation.spans[0].text.startswith("The citation shows")


def test_error_table_agrees_with_the_verdicts(report, store):
    """The original's error is counted here once more, by hand, for one bias and one domain."""
    overall = report.errors[-1]
    assert [r.domain for r in report.errors] == [*sorted(DOMAINS), "overall"]
    assert overall.difference == pytest.approx(100 * (overall.error_biased - overall.error_original))
    original = next(v for v in report.verdicts if v.arm == "original")
    assert original.judged == original.right + original.wrong + original.ties + original.invalid
    assert original.error == original.wrong / (original.right + original.wrong)
    assert original.both_orders == 90
    assert original.error_rejected_first > original.error_chosen_first


def test_funnel_takes_the_loops_counts_and_fills_the_rest(report):
    first, second, third = report.iterations
    assert (first.misjudgments, first.candidates, first.groups, first.novel) == (12, 9, 4, 2)
    assert (second.misjudgments, second.explained, second.groups) == (8, 7, 2)
    assert third.misjudgments is None
    assert (report.funnel.misjudgments, report.funnel.validated, report.funnel.confirmed) == (20, 4, 3)
    assert [g.cumulative_validated for g in report.growth] == [2, 3, 4]


def test_explanations_that_were_cut_are_counted_and_told(report, store):
    kept = store.select(Explanation, run_id=RUN)
    assert (report.explanations, report.explanations_cut) == (len(kept), 2)
    told = f"2 of {len(kept)} explanations ran into the token limit and were kept to the last whole sentence."
    assert told in report.headline.warnings
    assert cut_line(5, 0) == () and cut_line(5, 1)[0].startswith("1 of 5 explanations ran into the token limit and was")


def test_batches_of_a_stage_are_one_line(tmp_path):
    store = Store(tmp_path / "store.db")
    stages = ("validate@0.0", "validate@0.3", "validate@0.manipulation", "confirm@-1.0")
    store.write_now(
        *(Failure(id=s, run_id=RUN, stage=s, kind="refused", subject="x", reason="no", raw="") for s in stages)
    )
    groups = {group.stage: group.count for group in failure_groups(store, RUN)}
    store.close()
    assert groups == {"validate": 2, "validate, manipulation": 1, "confirm": 1}


def test_failures_and_cost(report):
    assert {(f.stage, f.kind): f.count for f in report.failures} == {
        ("discover", "malformed"): 3, ("judge", "unparsable"): 3, ("perturb", "refused"): 3
    }  # fmt: skip
    assert report.total.calls == sum(u.calls for u in report.usage)


def test_secrets_and_times_stay_out(report):
    said = report.model_dump_json()
    assert "sk-very-secret" not in said and "2031" not in said
    assert "config.judge.model" in said


def test_the_same_rows_in_any_order_give_the_same_bytes(store, fill_store, tmp_path):
    other = Store(tmp_path / "other.db")
    fill_store(other, shuffle=random.Random(1).randint(1, 99))
    first, second = write_report(store, RUN, tmp_path / "a"), write_report(other, RUN, tmp_path / "b")
    other.close()
    assert first.keys() == second.keys()
    assert [k for k in first if first[k].read_bytes() != second[k].read_bytes()] == []


def test_unknown_run_is_one_clear_line(store):
    with pytest.raises(UserError, match=f"run 'nothing' is not in this store; runs here: '{RUN}'"):
        collect(store, "nothing")


@pytest.fixture
def small(tmp_path):
    """A run with one validated bias and no notes, judgments or confirmation."""
    store = Store(tmp_path / "small.db")
    store.write_pairs("small", "search", [PreferencePair(id="p", prompt="q", chosen="a", rejected="b")])
    store.write_now(
        Bias(id="b", name="Tone", definition="d", origin="discovered"),
        Validation(
            id="v", run_id="small", bias_id="b", iteration=0, judge="SmolLM2-135M", pair_set="search", rule="r", n=1,
            harms=1, repairs=0, error_reference=0, error_bias=1, effect=100, interval=(-5, 100),
            interval_method="exact", p_value=1.0, decision="valid",
        ),
        add(Stamp("small", 0, "loop"), Bias(id="b", name="Tone", definition="d", origin="discovered")),
        set_status(Stamp("small", 1, "loop"), "b", "valid", ["v"]),
    )  # fmt: skip
    yield store
    store.close()


def test_a_run_that_has_barely_begun(small):
    small.write_now(PreferencePair(id="q", prompt="q", chosen="a", rejected="b"))
    report = collect(small, "small")
    assert report.headline.state == "running"
    assert report.headline.title == "1 validated bias so far"
    assert report.headline.confirmed is None
    assert any("No confirmation part" in w for w in report.headline.warnings)
    assert report.biases[0].examples == ()
    assert report.verdicts == ()


def test_budget_reads_as_inconclusive_and_resumable(small):
    small.write_note("small", "outcome", {"state": "budget", "reason": "500 of 500 calls", "iterations": 1})
    small.write_note("small", "manifest", {"models": {"judge": "local:SmolLM2-135M-Instruct"}})
    head = collect(small, "small").headline
    assert head.state == "inconclusive"
    assert any("can be resumed" in s and "500 of 500 calls" in s for s in head.sentences)
    assert any("135M" in w for w in head.warnings)


def test_warnings_name_weak_judges_lost_verdicts_and_failures():
    row = VerdictRow(
        arm="original", judged=100, right=44, wrong=40, ties=0, invalid=16, error=40 / 84, error_chosen_first=None,
        error_rejected_first=None, both_orders=0, consistent=None, repeated=0, repeated_same=None,
    )  # fmt: skip
    failed = FailureGroup(stage="perturb", kind="refused", count=30, examples=())
    used = Usage(
        role="teacher", stage="perturb", calls=100, cached_calls=0, prompt_tokens=0, completion_tokens=0, cost=None
    )
    said = headline([], [row], [failed], [used], [], {"state": "finished"}, 0).warnings
    assert [w.split(":")[0].split(" of ")[0] for w in said] == ["Weak judge", "16 %", "30 %"]
    assert "no better than guessing" in said[0]
    fine = row.model_copy(update={"error": 0.2, "invalid": 1})
    assert headline([], [fine], [], [used], [], {"state": "finished"}, 0).warnings == ()


def test_merges_and_candidates_are_read_as_often_for_many_biases_as_for_one(store, report):
    asked = []

    def note(_connection, _cursor, statement, *_rest):
        asked.append(statement)

    sa.event.listen(store._engine, "before_cursor_execute", note)
    try:
        again = collect(store, RUN)
    finally:
        sa.event.remove(store._engine, "before_cursor_execute", note)
    assert again == report
    assert sum(b.accepted for b in report.biases) > 2
    reads = [s for s in asked if "FROM merges" in s]
    assert 0 < len(reads) <= 3


def test_a_bias_is_shown_with_what_it_was_named_from(store, report):
    named = named_from(store, RUN)
    merges = sorted(store.select(MergeDecision, run_id=RUN), key=lambda m: (m.iteration, m.id))
    assert set(named) == {m.into for m in merges}
    for bias in report.biases:
        ids = [c for m in merges if m.into == bias.id for c in m.candidate_ids]
        assert named.get(bias.id, []) == ids
        if bias.accepted:
            assert [d.named for d in bias.discoveries] == [c.name for c in store.get_many(Candidate, ids[:2])]
