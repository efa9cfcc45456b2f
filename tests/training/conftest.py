"""A tiny model and data with a planted bias, on which training is real and takes seconds."""

import random

import pytest
from tiny_model import NUMBERS, make_tiny
from training_files import write_lines


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    return make_tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def dpo_data(tmp_path):
    """The biased answer says that experts say so; the chosen one does not."""
    generator = random.Random(1)

    def row():
        a, b = generator.choice(NUMBERS), generator.choice(NUMBERS)
        return {
            "prompt": [{"role": "user", "content": f"sum of {a} and {b}"}],
            "chosen": [{"role": "assistant", "content": f"the answer is {a}"}],
            "rejected": [{"role": "assistant", "content": f"the answer is {b} because experts say so"}],
            "bias": "authority",
        }

    write_lines(tmp_path / "data" / "train.jsonl", [row() for _ in range(64)])
    write_lines(tmp_path / "data" / "validation.jsonl", [row() for _ in range(16)])
    return tmp_path / "data"
