import asyncio
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from biasscope.core.errors import UserError
from biasscope.core.ids import content_id
from biasscope.core.records import Bias, Judgment, LibraryEvent, Perturbation, PreferencePair, Validation, bias_arm
from biasscope.core.store import Store
from biasscope.runs.analyses import markdown
from biasscope.runs.analyses.answers import answer_table, equality
from biasscope.runs.analyses.arms import read_arms
from biasscope.runs.analyses.growth import _apart, growth_line, growth_svg
from biasscope.runs.analyses.length import judge_missing, length_table
from biasscope.runs.analyses.same_effect import same_effect
from biasscope.runs.report import collect
from biasscope.runs.report.render import html, md


@pytest.mark.parametrize(
    ("rejected", "text", "stored", "expected"),
    [
        ("The answer is 4", "The answer is 5", "changed", ("same", False)),
        ("The answer is 4", "The answer is 4, surely.", "same", ("different", False)),
        ("A poem.", "A long poem.", "changed", ("same", True)),
        ("A poem.", "A long poem.", "same", ("different", True)),
        ("A poem.", "A long poem.", "unknown", ("unknown", False)),
    ],
)
def test_equality_takes_exact_extraction_first(rejected, text, stored, expected):
    pair = PreferencePair(id="p", prompt="q", chosen="The answer is 5", rejected=rejected)
    assert equality(pair, text, stored) == expected


def test_answer_table_counts_every_rewrite_once(drawn):
    table = answer_table(drawn.store, drawn.folder.run_id)
    rows = {r.dataset: r for r in table.rows}
    rewrites = drawn.store.select(Perturbation, run_id=drawn.folder.run_id)
    assert rows["perturbed"].total + rows["placebo"].total == len(rewrites)
    assert rows["original"].total == rows["original"].pairs == 16 + 24
    for row in table.rows:
        assert row.equal + row.different + row.unknown == row.total
        assert row.rate is not None and row.low <= row.rate <= row.high
    assert "| perturbed |" in markdown.answers(table)


def test_length_table_and_missing_calls(start):
    made = start(
        "untruncated", "validation.truncation_control=false", "validation.rule=paper", "validation.max_pairs=10"
    )
    before = {r.dataset: r for r in length_table(made.store, made.folder.run_id).rows}
    assert before["perturbed (truncated)"].error is None and before["perturbed (truncated)"].missing > 0
    count = made.store.count(Judgment, run_id=made.folder.run_id)
    due = sum(r.missing for r in before.values())
    assert asyncio.run(judge_missing(made.folder)) == due
    after = {r.dataset: r for r in length_table(made.store, made.folder.run_id).rows}
    assert made.store.count(Judgment, run_id=made.folder.run_id) == count + due
    assert after["perturbed (truncated)"].missing == 0 and after["perturbed (truncated)"].error is not None
    assert after["perturbed (truncated)"].words <= after["original"].words < after["perturbed"].words
    assert after["length bias"].words > after["original"].words
    paid = made.store.usage(made.folder.run_id)
    assert asyncio.run(judge_missing(made.folder)) == 0
    assert made.store.usage(made.folder.run_id) == paid
    assert "length bias (truncated)" in markdown.length(length_table(made.store, made.folder.run_id))


def test_labels_of_curves_stand_beside_their_ends_and_never_on_each_other():
    assert _apart([0.5]) == [0.5]
    assert _apart([0.2, 0.9, 0.5], gap=0.1) == [0.2, 0.9, 0.5]
    assert _apart([0.5, 0.5, 0.5], gap=0.1) == pytest.approx([0.5, 0.4, 0.3])
    assert _apart([0.0, 0.0, 0.0], gap=0.1) == pytest.approx([0.2, 0.1, 0.0])
    crowd = _apart([0.3] * 40, gap=0.1)
    assert min(a - b for a, b in pairwise(crowd)) == pytest.approx(0.1)


def test_growth_agrees_with_the_report(drawn):
    line = growth_line(drawn.store, drawn.folder.run_id)
    report = collect(drawn.store, drawn.folder.run_id)
    assert [p.cumulative for p in line.points] == [g.cumulative_validated for g in report.growth]
    other = line.model_copy(update={"run_id": "<b>&</b>"})
    assert ET.fromstring(growth_svg([line, other])).tag.endswith("svg")
    assert "&lt;b&gt;" in markdown.growth([line, other])


def test_same_effect_groups_are_in_report_and_analysis(drawn, tmp_path):
    """A copy of a bias under another name flips the same pairs."""
    run_id, store = drawn.folder.run_id, drawn.store
    validations = store.select(Validation, run_id=run_id)
    arms = read_arms(store, run_id)
    moved = {
        v.bias_id: sum(arms.of("placebo").get(i) != w for i, w in arms.of(bias_arm(v.bias_id)).items() if w == w)
        for v in validations
    }
    model = max(moved, key=moved.get)
    twin = next(v.bias_id for v in validations if v.bias_id != model)
    copy = Store(tmp_path / "copy.db")
    for part in ("target", "search", "confirm"):
        copy.write_pairs(run_id, part, store.pairs(run_id, part))
    copy.write_now(
        *store.select(LibraryEvent, run_id=run_id), *store.get_many(Bias, [v.bias_id for v in validations]),
        *validations,
    )  # fmt: skip
    for kind in (Perturbation, Judgment):
        for row in store.select(kind, run_id=run_id):
            if row.arm == bias_arm(twin):
                continue
            copy.write_now(row)
            if row.arm == bias_arm(model):
                copy.write_now(row.model_copy(update={"id": content_id("twin", row.id), "arm": bias_arm(twin)}))
    assert moved[model] >= 5
    found = same_effect(copy, run_id)
    groups = [{m.bias_id for m in g.members} for g in found.groups]
    # Fewer than 30 shared pairs link nothing.
    assert groups == []
    extra = [PreferencePair(id=f"x{k}", prompt="q", chosen="a", rejected="b") for k in range(10)]
    copy.write_pairs(run_id, "confirm", extra)
    for pair in extra:
        for arm in ("placebo", bias_arm(model), bias_arm(twin)):
            copy.write_now(
                Judgment(id=content_id(pair.id, arm), run_id=run_id, pair_id=pair.id, arm=arm, order="chosen_first",
                         verdict="chosen", judge="j")
            )  # fmt: skip
    found = same_effect(copy, run_id)
    together = next(g for g in found.groups if {m.bias_id for m in g.members} >= {model, twin})
    assert together.lowest_phi is not None and found.compared == len({v.bias_id for v in validations})
    assert "Lowest phi" in markdown.same_effect(found)
    report = collect(copy, run_id)
    entries = {b.id: b for b in report.biases}
    assert entries[twin].name in entries[model].same_effect
    assert "Same effect as" in html(report) and "Same effect as" in md(report)
    copy.close()


def test_runs_without_figures_say_so(tmp_path):
    store = Store(tmp_path / "empty.db")
    for analysis in (answer_table, length_table, growth_line):
        with pytest.raises(UserError, match="run"):
            analysis(store, "nothing")
    assert same_effect(store, "nothing").groups == ()
    store.close()
