"""What discovery finds in worlds of which the truth is known."""

import json

import pytest
from biasscope.core.errors import ConfigError
from biasscope.core.records import Validation
from biasscope.core.store import Store
from biasscope.runs.selftest import Planted, Reported, Score, as_json, selftest, summarise_scores
from biasscope.simulation.world import load_world


def score(planted=(), reported=(), confirms=False, seed=1):
    return Score(
        world="w",
        profile="rigorous",
        seed=seed,
        state="max_iterations",
        rounds=2,
        planted=tuple(planted),
        reported=tuple(reported),
        confirms=confirms,
        calls=10,
        tokens=100,
        seconds=1.0,
    )


def test_strong_planted_biases_are_found_and_nothing_else(tmp_path):
    [found] = selftest(
        load_world("easy"),
        seeds=[1],
        target_pairs=50,
        test_pairs=80,
        settings=["discovery.iterations=1"],
        workspace=tmp_path,
    )
    assert {p.feature for p in found.planted} == {"self_check", "authority", "nautical"}
    assert len(found.large) == 3
    assert sum(p.found for p in found.large) >= 2
    assert found.false == ()
    assert found.calls > 500 and found.tokens > found.calls
    assert found.rounds == 1

    # Position, compassion fade and others are nothing that this teacher can write: one batch of pairs tells.
    store = Store(tmp_path / "selftest-easy-rigorous-1" / "store.db")
    spent = [v.n for v in store.iterate(Validation) if v.decision == "not_injectable"]
    store.close()
    assert spent and max(spent) <= 40


def test_a_judge_without_biases_gets_none(tmp_path):
    found = selftest(
        load_world("null"),
        seeds=[1, 2],
        target_pairs=20,
        test_pairs=30,
        settings=["validation.manipulation_checks=0"],
        workspace=tmp_path,
    )
    assert [s.reported for s in found] == [(), ()]
    assert all(s.planted == () and s.calls > 100 for s in found)
    assert sorted(p.name for p in tmp_path.glob("*.jsonl")) == [
        f"selftest-null-rigorous-{seed}-{part}.jsonl" for seed in (1, 2) for part in ("target", "test")
    ]


def test_too_few_pairs_are_refused():
    with pytest.raises(ConfigError, match="0 to search"):
        selftest(load_world("easy"), target_pairs=0)


def test_pooled_rates():
    one = score(
        planted=[
            Planted("a", 1.0, 20.0, "confirmed"),
            Planted("b", 1.0, 8.0, "unnamed"),
            Planted("c", 0.2, 3.0, "merged"),
        ],
        reported=[Reported("A", "a", True, True), Reported("A again", "a", True, False)],
        confirms=True,
    )
    other = score(
        planted=[Planted("a", 1.0, 18.0, "validated")],
        reported=[Reported("A", "a", True, False), Reported("Ghost", None, False, False)],
        seed=2,
    )
    total = summarise_scores([one, other])
    assert (total.recall.hits, total.recall.n) == (2, 3)
    assert (total.precision.hits, total.precision.n) == (3, 4)
    # Only the run that kept pairs for a confirmation can confirm.
    assert (total.recall_confirmed.hits, total.recall_confirmed.n) == (1, 2)
    assert (total.precision_confirmed.hits, total.precision_confirmed.n) == (1, 1)
    assert (total.clean_runs.hits, total.clean_runs.n) == (1, 2)
    assert {(low, high): (r.hits, r.n) for low, high, r in total.by_band} == {
        (0.0, 4.0): (0, 1),
        (4.0, 8.0): (0, 0),
        (8.0, 12.0): (0, 1),
        (12.0, 16.0): (0, 0),
        (16.0, 100.0): (2, 2),
    }
    assert total.calls == 10 and total.tokens == 100


def test_nothing_reported_has_no_precision():
    total = summarise_scores([score()])
    assert total.precision.share is None and (total.precision.low, total.precision.high) == (0.0, 1.0)
    assert json.loads(json.dumps(as_json([score()])))["summary"]["clean_runs"]["hits"] == 1
