import math

import pytest

pytest.importorskip("torch", reason="the extra `train` is not installed")

import torch
from biasscope.training.losses import bradley_terry, infonce


def test_infonce_by_hand():
    # e^(1/0.5) / (e^2 + e^0 + e^-2) = 7.38906 / 8.52439; -log of it = 0.142932
    loss = infonce(torch.tensor([1.0]), torch.tensor([[0.0, -1.0]]), torch.tensor([[True, True]]), 0.5)
    assert loss.item() == pytest.approx(0.142932, abs=1e-6)


def test_infonce_of_one_negative_at_temperature_one_is_bradley_terry():
    chosen, rejected = torch.tensor([0.3, -1.2]), torch.tensor([[1.0], [0.5]])
    there = torch.ones_like(rejected, dtype=torch.bool)
    expected = sum(math.log(1 + math.exp(r - c)) for c, r in ((0.3, 1.0), (-1.2, 0.5))) / 2
    assert infonce(chosen, rejected, there, 1.0).item() == pytest.approx(expected, abs=1e-6)
    assert bradley_terry(chosen, rejected, there).item() == pytest.approx(expected, abs=1e-6)


def test_bradley_terry_by_hand():
    # first row: mean of log(1 + e^-1) = 0.313262 and log(1 + e^-2) = 0.126928; second: log(1 + e^2) = 2.126928
    loss = bradley_terry(
        torch.tensor([1.0, 0.0]),
        torch.tensor([[0.0, -1.0], [2.0, 9.0]]),
        torch.tensor([[True, True], [True, False]]),
    )
    assert loss.item() == pytest.approx(((0.313262 + 0.126928) / 2 + 2.126928) / 2, abs=1e-6)


def test_what_is_not_there_counts_for_nothing():
    chosen, rejected = torch.tensor([0.5, 0.5]), torch.tensor([[0.1, 0.0], [0.1, 5.0]])
    there = torch.tensor([[True, False], [True, False]])
    both = infonce(chosen, rejected, there, 1.0)
    alone = infonce(chosen[:1], rejected[:1, :1], there[:1, :1], 1.0)
    assert both.item() == pytest.approx(alone.item(), abs=1e-6)
    empty = torch.zeros((2, 2), dtype=torch.bool)
    assert infonce(chosen, rejected, empty, 1.0).item() == 0.0
    assert bradley_terry(chosen, rejected, empty).item() == 0.0


def test_gradient_pushes_the_hardest_negative_hardest():
    rejected = torch.tensor([[0.9, -2.0]], requires_grad=True)
    infonce(torch.tensor([1.0]), rejected, torch.tensor([[True, True]]), 1.0).backward()
    assert rejected.grad[0, 0] > rejected.grad[0, 1] > 0
