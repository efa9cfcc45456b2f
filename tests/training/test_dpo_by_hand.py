"""One step of DPO whose loss can be worked by hand, through the whole path: files, template, TRL, reference."""

import math

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

import torch
from biasscope.training.dpo import train_dpo
from biasscope.training.models import load_tokenizer
from biasscope.training.settings import DpoSettings
from training_files import write_lines
from transformers import AutoModelForCausalLM


@pytest.fixture
def unigram(tiny, tmp_path):
    """A model that gives every token the same probability whatever came before.

    Attention and feed-forward parts add nothing, every embedding is (1, 1, ...), which the norm leaves so, and the
    output layer is 0. So no gradient reaches anything but the output layer in the first step.
    """
    model = AutoModelForCausalLM.from_pretrained(tiny)
    with torch.no_grad():
        model.model.embed_tokens.weight.fill_(1.0)
        model.lm_head.weight.zero_()
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
    folder = tmp_path / "unigram"
    model.save_pretrained(folder)
    load_tokenizer(str(tiny)).save_pretrained(folder)
    return folder


def test_loss_after_one_step(unigram, tmp_path):
    row = {
        "prompt": [{"role": "user", "content": "which is better"}],
        "chosen": [{"role": "assistant", "content": "right right one"}],
        "rejected": [{"role": "assistant", "content": "wrong experts one"}],
    }
    data = tmp_path / "data"
    write_lines(data / "train.jsonl", [row])
    write_lines(data / "validation.jsonl", [row])
    beta, rate, hidden = 0.5, 0.02, 32
    done = train_dpo(
        DpoSettings(
            model=str(unigram),
            data=data,
            output=tmp_path / "out",
            cpu=True,
            batch_size=1,
            accumulate=1,
            max_steps=1,
            beta=beta,
            learning_rate=rate,
            scheduler="constant",
            warmup=0.0,
            trainer={"optim": "sgd", "max_grad_norm": 1e9},
        )
    )
    # Before the step policy and reference are the same: -log sigmoid(0).
    assert done.result["before"]["eval_loss"] == pytest.approx(math.log(2), abs=1e-6)
    # Both answers have as many tokens, so the normaliser of the softmax cancels, and the log-ratio of the chosen answer
    # less that of the rejected one is m = sum over tokens v of (count in chosen - count in rejected) * logit_v.
    # -log sigmoid(beta m) has the slope -beta / 2 in m at m = 0. With ones as input of the output layer, a step gives
    #   logit_v = hidden * rate * beta / 2 * (count in chosen - count in rejected),
    # and the counts differ by 2 for `right`, -1 for `wrong` and -1 for `experts`: 4 + 1 + 1 = 6.
    m = 6 * hidden * rate * beta / 2
    assert m == pytest.approx(0.96)
    # log(1 + e^-0.48) = log(1.6187834) = 0.4816749
    assert done.result["after"]["eval_loss"] == pytest.approx(0.4816749, abs=1e-4)
    assert math.log1p(math.exp(-beta * m)) == pytest.approx(0.4816749, abs=1e-6)
    assert done.result["after"]["eval_rewards/margins"] == pytest.approx(0.48, abs=1e-4)  # beta m, as TRL counts it
    assert done.result["after"]["eval_rewards/accuracies"] == 1.0
