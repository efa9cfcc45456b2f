import math

import pytest
from biasscope.core.records import PLACEBO, Judgment, Validation, bias_arm
from biasscope.runs.analyses.arms import read_arms
from biasscope.simulation.server import WorldServer
from biasscope.simulation.world import World, load_world
from biasscope.validators.contrasts import combine_orders


def rebuilt(made, validation):
    """The contrast of a validation from stored judgments."""
    arms = read_arms(made.store, made.folder.run_id)
    biased, base = arms.of(bias_arm(validation.bias_id)), arms.of(PLACEBO)
    return [biased[i] - base[i] for i in biased if i in base and not math.isnan(biased[i] - base[i])]


def check_rebuilt(made):
    validations = made.store.select(Validation, run_id=made.folder.run_id)
    assert len(validations) >= 7
    for validation in validations:
        d = rebuilt(made, validation)
        assert validation.n == len(d)
        if d:
            assert validation.effect == pytest.approx(100 * sum(d) / len(d))
    return validations


def test_all_biases_share_one_pool_for_each_control(drawn):
    late = [s for s in drawn.stages if s.startswith("validate@") and not s.split(".")[-1].isdigit()]
    assert "validate@0.manipulation" in late
    assert set(late) <= {"validate@0.manipulation", "validate@0.truncated", "validate@0.retest"}


def test_controls_are_in_validation_and_report(drawn):
    validations = check_rebuilt(drawn)
    for validation in validations:
        controls = validation.controls
        assert controls["manipulation_n"] == 5 and 0 <= controls["manipulation_share"] <= 1
        assert controls["judge_noise"]["n"] == 4 and "answers_changed" in controls
    text = (drawn.folder.path / "report.html").read_text()
    for words in ("the bias was found in", "judge noise", "answers changed"):
        assert words in text


def test_both_orders_with_probabilities(with_probabilities):
    validations = check_rebuilt(with_probabilities)
    run_id = with_probabilities.folder.run_id
    arms = read_arms(with_probabilities.store, run_id)
    p = {}
    for judgment in with_probabilities.store.iterate(Judgment, run_id=run_id, arm=PLACEBO):
        if not judgment.draw:
            assert judgment.p_rejected is not None
            p.setdefault(judgment.pair_id, {})[judgment.order] = judgment.p_rejected
    assert len(p) == 12
    for pair_id, by_order in p.items():
        assert len(by_order) == 2
        expected = combine_orders([by_order["chosen_first"]], [by_order["rejected_first"]])[0]
        assert arms.of(PLACEBO)[pair_id] == pytest.approx(expected)
    assert all(v.controls["position"]["n"] == v.n for v in validations)
    assert "position" in (with_probabilities.folder.path / "report.html").read_text()


def test_both_orders_with_unreadable_verdicts(start):
    easy = load_world("easy")
    rates = easy.spec.rates.model_copy(update={"malformed": 0.35})
    with WorldServer(World(easy.spec.model_copy(update={"rates": rates}))) as server:
        made = start(
            "both-invalid", "orders=both", "validation.max_pairs=12", "validation.manipulation_checks=0",
            "validation.truncation_control=false",
            "discovery.deeper_explain=false", judge={"model": f"openai:bad@{server.url}", "max_concurrency": 16},
        )  # fmt: skip
    run_id = made.folder.run_id
    verdicts: dict = {}
    for judgment in made.store.iterate(Judgment, run_id=run_id, arm=PLACEBO):
        if not judgment.draw:
            verdicts.setdefault(judgment.pair_id, []).append(judgment.verdict)
    half = {i for i, both in verdicts.items() if len(both) == 2 and both.count("invalid") == 1}
    assert half
    arms = read_arms(made.store, run_id)
    assert all(math.isnan(arms.of(PLACEBO)[i]) for i in half)
    for validation in check_rebuilt(made):
        assert validation.missing >= len(half) and validation.n + validation.missing == 12
