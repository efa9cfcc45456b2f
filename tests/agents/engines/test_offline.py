"""vLLM in process: what it is given and how its answers are read. vLLM itself runs where it is installed."""

import json
from types import SimpleNamespace

import pytest
from biasscope.agents.engines.offline import adapter_base, engine_fields, read_output, sampling_fields
from biasscope.agents.engines.opening import open_engine
from biasscope.agents.engines.reference import VllmSettings, parse_reference
from biasscope.core.calls import Message, Request
from biasscope.core.errors import ConfigError


def ask(**more):
    return Request(model="m", messages=(Message(role="user", content="Which is better, A or B?"),), **more)


def output(text="A", finish="stop", logprobs=None, cached=None):
    """As vllm.outputs.RequestOutput and CompletionOutput name their fields."""
    answer = SimpleNamespace(text=text, token_ids=[1, 2], finish_reason=finish, logprobs=logprobs)
    return SimpleNamespace(outputs=[answer], prompt_token_ids=[1] * 7, num_cached_tokens=cached)


def test_a_reference_and_its_settings():
    spec = parse_reference({"model": "vllm:org/name", "vllm": {"tensor_parallel": 2, "sleep": True}, "n_ctx": 4096})
    assert spec.at_once == 256 and spec.timeout == 1800
    fields = engine_fields(spec, spec.vllm, "org/name", "")
    assert fields["model"] == "org/name" and fields["tensor_parallel_size"] == 2 and fields["max_model_len"] == 4096
    assert fields["enable_prefix_caching"] is True and fields["enable_sleep_mode"] is True
    assert "enable_lora" not in fields
    assert engine_fields(spec, VllmSettings(lora_rank=16), "b", "")["max_lora_rank"] == 16
    assert engine_fields(spec, VllmSettings(), "b", "/adapter")["enable_lora"] is True
    with pytest.raises(ConfigError, match="tensor_parallel"):
        parse_reference({"model": "vllm:m", "vllm": {"tensor_parallel": 0}})


def test_greedy_requests_have_no_seed_and_repetitions_differ():
    spec = parse_reference("vllm:m")
    assert sampling_fields(ask(top_logprobs=30, max_tokens=1), spec) == {
        "temperature": 0.0,
        "max_tokens": 1,
        "logprobs": 20,
    }
    seeds = {sampling_fields(ask(temperature=0.7, seed=3, draw=k), spec)["seed"] for k in range(3)}
    assert seeds == {3, 4, 5}
    fixed = parse_reference({"model": "vllm:m", "temperature": 0.5, "max_tokens": 9, "extra_body": {"top_p": 0.9}})
    assert sampling_fields(ask(seed=None), fixed) == {
        "temperature": 0.5,
        "max_tokens": 9,
        "logprobs": None,
        "top_p": 0.9,
    }


def test_an_output_is_read_with_its_log_probabilities_and_its_cache():
    one = SimpleNamespace(logprob=-0.1, decoded_token="A")
    two = SimpleNamespace(logprob=-2.5, decoded_token="B")
    same = SimpleNamespace(logprob=-9.0, decoded_token="A")
    never = SimpleNamespace(logprob=float("-inf"), decoded_token="C")
    step = {11: one, 12: two, 13: same, 14: never}
    spec = parse_reference("vllm:m")
    found = read_output(output(logprobs=[step], cached=5), ask(top_logprobs=4), spec, 0.5)
    assert found.token_logprobs == ({"A": -0.1, "B": -2.5},)
    assert (found.prompt_tokens, found.cached_prompt_tokens, found.completion_tokens) == (7, 5, 2)
    assert (found.cost, found.finish_reason) == (0.0, "stop")
    thinking = read_output(output("<think>hm</think>B", "length"), ask(), spec, 0.5)
    assert (thinking.reasoning, thinking.text, thinking.finish_reason) == ("hm", "B", "length")
    assert read_output(output("\ud800"), ask(), spec, 0.5).text == "?"


def test_an_adapter_names_its_base(tmp_path):
    (tmp_path / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "org/base", "r": 8}))
    assert adapter_base(tmp_path) == "org/base"
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(ConfigError, match="names no base"):
        adapter_base(tmp_path)


def test_without_vllm_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="pip install vllm"):
        open_engine("vllm:org/name")


@pytest.mark.model
async def test_a_real_engine_answers_in_batches_with_schema_and_log_probabilities(tmp_path):
    pytest.importorskip("vllm")
    import os

    folder = os.environ.get("BIASSCOPE_TEST_VLLM")
    if not folder:
        pytest.skip("BIASSCOPE_TEST_VLLM names no model folder")
    model = open_engine({"model": f"vllm:{folder}", "n_ctx": 1024})
    schema = {"type": "object", "properties": {"better": {"enum": ["A", "B"]}}, "required": ["better"]}
    plain = await model.complete(ask(max_tokens=1, top_logprobs=5))
    typed = await model.complete(ask(max_tokens=32, json_schema=schema))
    again = await model.complete(ask(max_tokens=1, top_logprobs=5))
    await model.aclose()
    assert plain.token_logprobs and plain.text == again.text and again.cached_prompt_tokens > 0
    assert json.loads(typed.text)["better"] in ("A", "B")
