"""Losses of scorers that compare one chosen answer with several rejected ones (METHOD section 7)."""

import torch
from torch.nn.functional import logsigmoid


def infonce(chosen: torch.Tensor, rejected: torch.Tensor, there: torch.Tensor, temperature: float) -> torch.Tensor:
    """InfoNCE (van den Oord et al. 2018; JudgeBiasBench, section 5.3), mean over rows.

    `chosen`: (rows,) scores; `rejected`: (rows, k) scores; `there`: (rows, k), False where a row has fewer than k.
    A row without any rejected answer is 0.
    L = -log( e^(c/t) / (e^(c/t) + sum_k e^(r_k/t)) ).
    """
    others = rejected.masked_fill(~there, -torch.inf)
    logits = torch.cat([chosen.unsqueeze(1), others], dim=1) / temperature
    return (torch.logsumexp(logits, dim=1) - logits[:, 0]).mean()


def bradley_terry(chosen: torch.Tensor, rejected: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    """-log sigmoid(c - r_k), mean over the rejected answers of a row and then over rows; shapes as in `infonce`."""
    each = -logsigmoid(chosen.unsqueeze(1) - rejected).masked_fill(~there, 0.0)
    return (each.sum(dim=1) / there.sum(dim=1).clamp(min=1)).mean()
