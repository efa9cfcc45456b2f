"""Models in Hugging Face format, asked like any other."""

import math

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

import torch
from biasscope.agents.engines.opening import open_engine
from biasscope.agents.judges.pairwise import PairwiseJudge
from biasscope.core.calls import Message, Request
from biasscope.core.errors import CallFailed, ConfigError
from biasscope.core.records import PreferencePair
from biasscope.training.models import load_tokenizer, load_writer
from tiny_model import make_tiny


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny(tmp_path_factory.mktemp("tiny"))


def ask(engine, text="which is better", **more):
    values = {"model": engine.name, "messages": (Message(role="user", content=text),), "max_tokens": 5}
    return Request(**(values | more))


async def test_greedy_answers_are_those_of_transformers(folder):
    engine = open_engine(f"hf:{folder}")
    request = ask(engine, top_logprobs=3)
    completion = await engine.complete(request)
    model, tokenizer = load_writer(str(folder), "fp32").eval(), load_tokenizer(str(folder))
    ids = tokenizer.apply_chat_template(
        [{"role": "user", "content": "which is better"}],
        add_generation_prompt=True,
        return_tensors="pt",
        return_dict=True,
    )["input_ids"]
    asked = ids.shape[1]
    for k in range(completion.completion_tokens):
        logits = model(ids).logits[0, -1].detach()
        best = logits.log_softmax(-1).topk(3)
        words = [tokenizer.decode([i]) for i in best.indices]
        assert list(completion.token_logprobs[k]) == words
        assert list(completion.token_logprobs[k].values()) == pytest.approx(best.values.tolist(), abs=1e-4)
        ids = torch.cat([ids, best.indices[:1].view(1, 1)], dim=1)
    assert completion.text == tokenizer.decode(ids[0, asked:], skip_special_tokens=True)
    assert completion.prompt_tokens == asked
    assert completion.finish_reason in ("stop", "length")
    assert (await engine.complete(request)).text == completion.text
    await engine.aclose()


async def test_sampling_follows_the_seed(folder):
    engine = open_engine(f"hf:{folder}")
    texts = [(await engine.complete(ask(engine, temperature=1.0, seed=seed))).text for seed in (1, 1, 2, 3)]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 1
    await engine.aclose()


async def test_a_judge_on_it_has_probabilities(folder):
    engine = open_engine(f"hf:{folder}")
    judge = PairwiseJudge(engine, "r", mode="verdict", top_logprobs=40)
    pair = PreferencePair(id="p", prompt="which is better", chosen="right", rejected="wrong")
    found = await judge.judge(pair, arm="original", rejected_text="wrong", order="chosen_first", stage="judge")
    assert 0 < found.p_rejected < 1
    assert found.verdict in ("chosen", "rejected", "tie")
    assert math.isfinite(found.tie_mass)
    await engine.aclose()


async def test_what_does_not_fit_is_said(folder):
    engine = open_engine(f"hf:{folder}")
    with pytest.raises(CallFailed, match="more than fit") as raised:
        await engine.complete(ask(engine, "one " * 2100))
    assert raised.value.kind == "too_long"
    await engine.aclose()


def test_names_change_with_the_weights(folder, tmp_path):
    other = make_tiny(tmp_path / "other", seed=1)
    names = {open_engine(f"hf:{path}").name.partition("#")[2] for path in (folder, other)}
    assert len(names) == 2


def test_no_model(tmp_path):
    with pytest.raises(ConfigError, match="is no folder with a model"):
        open_engine(f"hf:{tmp_path}")
