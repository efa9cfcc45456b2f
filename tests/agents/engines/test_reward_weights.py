"""Trained scorers as judges: two trainings are two judges, and an adapter is read as what it was trained as."""

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

import torch
from biasscope.agents.engines.opening import open_engine
from biasscope.agents.judges.score import score
from biasscope.core.errors import ConfigError, EndpointError
from biasscope.training.reward import train_reward
from biasscope.training.scoring import Scorer
from biasscope.training.settings import RewardSettings
from tiny_model import make_tiny
from training_files import write_lines

PAIRS = [("sum of one", "the answer is right"), ("sum of two", "the answer is wrong because experts say so")]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return make_tiny(tmp_path_factory.mktemp("tiny"))


def trained(tiny, folder, name, **more):
    row = {"prompt": "sum of one", "chosen": PAIRS[0][1], "rejected": [PAIRS[1][1]], "biases": [""]}
    write_lines(folder / "negatives.jsonl", [row] * 4)
    settings = RewardSettings(
        model=str(tiny), data=folder / "negatives.jsonl", output=folder / name, cpu=True, batch_size=4, accumulate=1,
        epochs=2, learning_rate=1e-2, lora={"r": 2, **more}
    )  # fmt: skip
    return train_reward(settings).folder.model


@pytest.mark.parametrize("merge", [True, False])
async def test_scores_are_those_of_the_training(tiny, tmp_path, merge):
    folder = trained(tiny, tmp_path, "out", merge=merge)
    engine = open_engine(f"reward:{folder}")
    assert engine.name.startswith("reward:out#")
    found = [(await score(engine, *pair, stage="judge"))[0] for pair in PAIRS]
    assert found == pytest.approx(list(Scorer(str(folder)).scores(PAIRS)), abs=1e-3)
    assert found[0] > found[1]
    await engine.aclose()


def test_trainings_that_differ_behind_the_first_megabyte_are_different_judges(tmp_path):
    """As adapters that are merged do: embeddings come first in the file, and they are not touched."""
    from safetensors.torch import save_file

    names = set()
    for number in (1.0, 2.0):
        folder = tmp_path / str(number) / "model"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
        save_file({"a": torch.zeros(1 << 19), "z": torch.full((4,), number)}, folder / "model.safetensors")
        names.add(open_engine(f"reward:{folder}").name.partition("#")[2])
    assert len(names) == 2


async def test_what_is_no_scorer_is_said(tiny, tmp_path):
    with pytest.raises(ConfigError, match=r"holds no config\.json; give a model's folder"):
        open_engine(f"reward:{tmp_path}")
    (tmp_path / "config.json").write_text("{}")
    engine = open_engine(f"reward:{tmp_path}")
    with pytest.raises(EndpointError, match="cannot be loaded"):
        await score(engine, "p", "a", stage="judge")
    await engine.aclose()
