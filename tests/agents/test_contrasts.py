"""The contrast discoverer on judges whose weights are known."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from biasscope.agents.contrasts import Profiles, Seen, as_candidate, between, find, response_kind, within
from biasscope.agents.rules_teacher import RulesTeacher
from biasscope.bias_library.features import feature_bias, load_features, nearest_feature, user_features
from biasscope.bias_library.seeds import seed_biases
from biasscope.core.errors import LibraryError
from biasscope.core.ids import content_id
from biasscope.core.records import Judgment, PreferencePair, mixed_arm
from biasscope.data.builtin import builtin_pairs
from biasscope.data.order import draw_order
from biasscope.graph.sampling import assign_features

FEATURES = load_features()
PAIRS = builtin_pairs(240)
TEACHER = RulesTeacher("run")


@pytest.fixture(scope="module")
def mixed():
    """Every rejected answer with three features written into it."""
    assigned = assign_features([p.id for p in PAIRS], list(FEATURES), 3, seed=0, iteration=0)
    return {p.id: TEACHER._mixed(p, assigned[p.id]) for p in PAIRS}


class Simulated:
    """A judge that scores an answer by weights on log(1 + measure), with noise by text; quality favours the chosen."""

    def __init__(self, weights, *, noise=0.3, quality=1.0, position=0.0, features=FEATURES):
        self.weights, self.noise, self.quality, self.position = weights, noise, quality, position
        self.features = features

    def score(self, text, question):
        rng = random.Random(text + question)
        pull = sum(w * math.log1p(self.features[n].measure(text, question)) for n, w in self.weights.items())
        return pull + rng.gauss(0, self.noise)

    def judgment(self, pair, text, kind, order=None):
        order = order or draw_order(pair.id)
        lean = self.score(text, pair.prompt) - self.score(pair.chosen, pair.prompt) - self.quality
        lean += self.position * (1 if order == "rejected_first" else -1)
        more = {}
        if kind == "score":
            more = {"score_chosen": 0.0, "score_rejected": lean}
        if kind == "log-odds":
            more = {"p_rejected": 1 / (1 + math.exp(-lean))}
        verdict = "rejected" if lean > 0 else "chosen"
        return Judgment(
            id=content_id(pair.id, text, order),
            run_id="run",
            pair_id=pair.id,
            arm=mixed_arm(0),
            order=order,
            verdict=verdict,
            judge="simulated",
            **more,
        )


def screened(judge, mixed, kind="score", features=FEATURES, **more):
    profiles = Profiles(features)
    originals = {p.id: Seen(p, p.rejected, (judge.judgment(p, p.rejected, kind),)) for p in PAIRS}
    rewrites = [Seen(p, mixed[p.id], (judge.judgment(p, mixed[p.id], kind),)) for p in PAIRS]
    assert response_kind([*originals.values(), *rewrites]) == kind
    rows = within(rewrites, originals, profiles, kind)
    return find([rows], features, np.random.default_rng(1), response=kind, **more), rows


def named(findings):
    return {f.feature.name: f.evidence.direction for f in findings.found}


@pytest.mark.parametrize("kind", ["score", "log-odds"])
def test_weights_are_found_with_their_direction(mixed, kind):
    findings, rows = screened(Simulated({"praise": 1.0, "headings": 1.0, "emoji": -1.0}), mixed, kind)
    assert named(findings) == {"praise": "more", "headings": "more", "emoji": "less"}
    for finding in findings.found:
        evidence = finding.evidence
        assert evidence.frequency >= 0.75 and evidence.rows == len(rows) == 240
        assert (evidence.weight > 0) == (evidence.direction == "more")
        assert evidence.features <= 88 and 0 < evidence.false_bound <= 1.0
    praised = next(f for f in findings.found if f.feature.name == "praise")
    place = list(FEATURES).index("praise")
    supporting = [r for r in rows if r.misled is not None and r.delta[place] > 0]
    assert (praised.evidence.support, praised.evidence.support_pairs) == (len(supporting), len(supporting))
    assert len(supporting) >= 3 and praised.telling in supporting
    assert praised.telling.delta[place] == max(r.delta[place] for r in supporting)


def test_verdicts_alone_show_a_strong_preference(mixed):
    findings, _ = screened(Simulated({"praise": 2.0}, quality=0.5), mixed, "verdict")
    assert "praise" in named(findings) and len(findings.found) <= 2


def test_a_judge_without_preferences_gets_none(mixed):
    findings, _ = screened(Simulated({}), mixed)
    assert findings.found == () and findings.stability.false_bound > 0


def test_what_was_found_before_is_taken_out(mixed):
    judge = Simulated({"praise": 2.0, "headings": 1.0})
    findings, _ = screened(judge, mixed, known=["praise"])
    assert set(named(findings)) == {"headings"} and "praise" not in findings.names


def test_pairs_as_they_are_tell_what_the_answers_differ_in():
    """Without rewrites: answers with or without headings, and a position habit that is not taken for a feature."""
    rng = random.Random(0)
    pairs, seen = [], []
    judge = Simulated({"headings": 1.5}, position=1.0)
    for pair in PAIRS:
        texts = [
            FEATURES["headings"].write(text, rng) if rng.random() < 0.5 else text
            for text in (pair.chosen, pair.rejected)
        ]
        pairs.append(pair.model_copy(update={"chosen": texts[0], "rejected": texts[1]}))
    for pair in pairs:
        seen.append(Seen(pair, pair.rejected, (judge.judgment(pair, pair.rejected, "verdict"),)))
    profiles = Profiles(FEATURES)
    findings = find([between(seen, profiles, "verdict")], FEATURES, np.random.default_rng(0), response="verdict")
    assert named(findings) == {"headings": "more"}
    # Both orders of a pair make one row without a position.
    orders = ("chosen_first", "rejected_first")
    both = [Seen(p, p.rejected, tuple(judge.judgment(p, p.rejected, "verdict", o) for o in orders)) for p in pairs]
    rows = between(both, profiles, "verdict")
    assert {row.position for row in rows} == {0.0} and len(rows) == len(pairs)
    assert {row.response for row in rows} == {0.0, 0.5, 1.0}


def test_missing_verdicts_leave_and_the_original_must_have_been_judged():
    judge = Simulated({})
    pair, other = PAIRS[:2]
    invalid = judge.judgment(pair, pair.rejected, "verdict").model_copy(update={"verdict": "invalid"})
    tie = invalid.model_copy(update={"verdict": "tie"})
    profiles = Profiles(FEATURES)
    [row] = between([Seen(pair, pair.rejected, (invalid,))], profiles, "verdict")
    assert math.isnan(row.response) and row.misled is None
    [row] = between([Seen(pair, pair.rejected, (tie,))], profiles, "verdict")
    assert row.response == 0.5
    originals = {pair.id: Seen(pair, "z", (tie,))}
    [row] = within([Seen(pair, "x", (tie,)), Seen(other, "y", (tie,))], originals, profiles, "verdict")
    assert row.pair == pair


def test_a_candidate_speaks_in_the_words_of_a_known_bias(mixed):
    judge = Simulated({"institutions": 1.5, "praise": 1.0, "emoji": -1.0})
    findings, _ = screened(judge, mixed)
    made = {
        f.feature.name: as_candidate(f, seed_biases(), FEATURES, run_id="run", iteration=2, source="2")
        for f in findings.found
    }
    authority = next(b for b in seed_biases() if b.name == "Authority bias")
    assert (made["institutions"].name, made["institutions"].definition) == (authority.name, authority.definition)
    assert made["praise"].name == FEATURES["praise"].title and made["praise"].contrast.feature == "praise"
    assert made["emoji"].name == "Aversion to emoji" and made["emoji"].contrast.direction == "less"
    # No edit takes a feature out of an answer, so rules leave an aversion to a model.
    assert TEACHER.recipe(feature_bias(FEATURES["emoji"], "less")) is None
    assert all(
        nearest_feature(b.name, b.definition, FEATURES) is None
        for b in (feature_bias(f, "less") for f in FEATURES.values())
    )
    assert {(c.run_id, c.iteration, c.source_bias) for c in made.values()} == {("run", 2, "")}
    assert len({c.id for c in made.values()}) == len(made)


def test_features_of_the_users_own_count(tmp_path):
    (tmp_path / "own.yaml").write_text(
        "- name: nautical\n  title: Nautical imagery\n  dimension: style\n"
        "  definition: Favouring an answer because it speaks of ships and the sea.\n"
        "  phrases: [harbour, sail*, at sea]\n"
        "  write:\n    templates: [The matter sails into harbour., From here it is at sea.]\n"
    )
    features = FEATURES | user_features(tmp_path / "own.yaml")
    teacher = RulesTeacher("run", features)
    assigned = assign_features([p.id for p in PAIRS], list(features), 3, seed=0, iteration=0)
    texts = {p.id: teacher._mixed(p, assigned[p.id]) for p in PAIRS}
    findings, _ = screened(Simulated({"nautical": 1.5}, features=features), texts, features=features)
    assert named(findings) == {"nautical": "more"}


def test_a_feature_without_a_number_is_named():
    broken = replace(FEATURES["praise"], name="odd", measured_by=lambda text, question: math.nan, source="mine.py")
    with pytest.raises(LibraryError, match=r"mine\.py: feature 'odd' measures nan"):
        Profiles({"odd": broken}).of("text", "question")


def test_nothing_judged_finds_nothing():
    findings = find([[], []], FEATURES, np.random.default_rng(0), response="verdict")
    assert findings.found == () and findings.stability.n == 0


def test_profiles_are_on_a_log_scale():
    pair = PreferencePair(id="p", prompt="q", chosen="one two three", rejected="one")
    profile = Profiles({"length": FEATURES["length"]}).of(pair.chosen, pair.prompt)
    assert profile == pytest.approx([math.log(4)])
