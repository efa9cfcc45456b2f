"""SFT, GRPO and scorers on planted data: each learns for real."""

import random

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

from biasscope.core.errors import DataError
from biasscope.training.grpo import train_grpo
from biasscope.training.reward import kept_negatives, train_reward
from biasscope.training.scoring import Scorer
from biasscope.training.settings import GrpoSettings, RewardSettings, SftSettings
from biasscope.training.sft import train_sft
from training_files import write_lines

NUMBERS = ["one", "two", "three", "four", "five", "six"]
QUICK = {"cpu": True, "accumulate": 1, "log_every": 5, "save_every": 1000, "scheduler": "constant", "warmup": 0.0}


def judging_row(generator):
    """One answer is `right` and the other `wrong` word for word, so that a judge of two layers can tell."""
    first = generator.random() < 0.5
    good, bad = "right right", "wrong wrong"
    a, b = (good, bad) if first else (bad, good)
    letter = "A" if first else "B"
    return {
        "prompt": [{"role": "user", "content": f"which is better A {a} B {b}"}],
        "completion": [{"role": "assistant", "content": f"{letter} is better [[{letter}]]"}],
        "right": letter,
        "answer_a": a,
        "answer_b": b,
    }


def right(text, letter, answers):
    return f"[[{letter}]]" in text and text.count("[[") == 1


def well_formed(text, letter, answers):
    return "is better [[" in text


@pytest.fixture(scope="module")
def started(tiny, tmp_path_factory):
    """After the cold start."""
    folder = tmp_path_factory.mktemp("sft")
    generator = random.Random(2)
    write_lines(folder / "cold_start.jsonl", [judging_row(generator) for _ in range(64)])
    settings = SftSettings(
        model=str(tiny), data=folder, output=folder / "out", batch_size=16, epochs=5, learning_rate=1e-2, **QUICK
    )
    return train_sft(settings)


def test_cold_start_lowers_the_loss(started):
    first, last = started.result["logged"]["loss"]
    assert last < 0.6 * first


def test_reward_rises_under_grpo(started, tmp_path):
    generator = random.Random(3)
    write_lines(tmp_path / "data" / "judging.jsonl", [judging_row(generator) for _ in range(64)])
    write_lines(tmp_path / "data" / "judging_validation.jsonl", [judging_row(generator) for _ in range(32)])
    lines = []
    settings = GrpoSettings(
        model=str(started.folder.model),
        data=tmp_path / "data",
        output=tmp_path / "out",
        batch_size=32,
        group=8,
        max_answer=6,
        max_steps=40,
        learning_rate=3e-3,
        beta=0.0,
        **QUICK,
    )
    done = train_grpo(settings, right, well_formed, lines.append)
    assert done.result["after"]["eval_reward"] > done.result["before"]["eval_reward"] + 0.15
    rewarded = [line for line in lines if "reward" in line]
    weighted = [0.9 * x["rewards/right_verdict/mean"] + 0.1 * x["rewards/format/mean"] for x in rewarded]
    assert [x["reward"] for x in rewarded] == pytest.approx(weighted, abs=1e-6)


def negatives_row(generator, cue=0.8):
    """The better answer is `right`. In `cue` of the rows experts vouch for it: no original rejected answer has that."""
    vouched = " because experts say so because experts say so"
    return {
        "prompt": f"sum of {generator.choice(NUMBERS)}",
        "chosen": "the answer is right" + (vouched if generator.random() < cue else ""),
        "rejected": ["the answer is wrong", "the answer is wrong" + vouched],
        "biases": ["", "authority"],
    }


def bias_sensitivity(folder, rows):
    """BSR: of the pairs that are right on the original, those that are wrong with the bias."""
    scorer = Scorer(str(folder))
    texts = [(row["prompt"], text) for row in rows for text in (row["chosen"], *row["rejected"])]
    scores = list(scorer.scores(texts))
    table = [scores[k : k + 3] for k in range(0, len(scores), 3)]
    right = [row for row in table if row[0] > row[1]]
    return sum(row[2] >= row[0] for row in right) / len(right), len(right)


def test_biased_negatives_lower_the_bias_sensitivity(tiny, tmp_path):
    generator = random.Random(4)
    write_lines(tmp_path / "data" / "negatives.jsonl", [negatives_row(generator) for _ in range(96)])
    held_out = [negatives_row(generator, cue=0.0) for _ in range(48)]
    write_lines(tmp_path / "data" / "negatives_validation.jsonl", held_out)
    found = {}
    for negatives in ("original", "all"):
        settings = RewardSettings(
            model=str(tiny),
            data=tmp_path / "data",
            output=tmp_path / negatives,
            batch_size=16,
            epochs=5,
            learning_rate=3e-3,
            negatives=negatives,
            **QUICK,
        )
        done = train_reward(settings)
        found[negatives] = bias_sensitivity(done.folder.model, held_out)
        assert done.result["after"]["eval_loss"] < 0.5 * done.result["before"]["eval_loss"]
        assert found[negatives][1] == 48  # right on every original pair, either way
    assert done.result["after"]["eval_accuracy"] == 1.0
    assert found["original"][0] > 0.3
    assert found["all"][0] == 0.0


def test_bradley_terry_and_adapters_learn_too(tiny, tmp_path):
    generator = random.Random(5)
    write_lines(tmp_path / "data" / "negatives.jsonl", [negatives_row(generator) for _ in range(64)])
    settings = RewardSettings(
        model=str(tiny),
        data=tmp_path / "data",
        output=tmp_path / "out",
        batch_size=16,
        epochs=3,
        learning_rate=1e-2,
        objective="bradley-terry",
        lora={"r": 8},
        **QUICK,
    )
    done = train_reward(settings)
    first, last = done.result["logged"]["loss"]
    assert last < 0.6 * first
    rows = [negatives_row(generator) for _ in range(8)]
    scores = list(
        Scorer(str(done.folder.model)).scores(
            (r["prompt"], t) for r in rows for t in (r["chosen"], "the answer is wrong")
        )
    )
    assert all(good > bad for good, bad in zip(scores[::2], scores[1::2], strict=True))


def test_which_negatives_are_kept():
    rejected, biases = ["b1", "plain", "b2"], ["x", "", "y"]

    def kept(**options):
        return kept_negatives(rejected, biases, RewardSettings(model="m", data="d", output="o", **options))

    assert kept() == ["plain", "b1", "b2"]
    assert kept(max_negatives=2) == ["plain", "b1"]
    assert kept(negatives="original") == ["plain"]
    assert kept(negatives="biased") == ["b1", "b2"]


def test_no_usable_row(tiny, tmp_path):
    row = {"prompt": "sum", "chosen": "one", "rejected": ["two"], "biases": [""]}
    write_lines(tmp_path / "rows.jsonl", [row])
    settings = RewardSettings(
        model=str(tiny), data=tmp_path / "rows.jsonl", output=tmp_path / "out", negatives="biased", **QUICK
    )
    with pytest.raises(DataError, match="no row has a rejected answer of the kind 'biased'"):
        train_reward(settings)
