"""A tiny model of random weights, built here without a hub, on which training is real and takes seconds."""

import importlib.util
import random
import sys
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("training_files", Path(__file__).parent / "training_files.py")
training_files = importlib.util.module_from_spec(_spec)
sys.modules["training_files"] = training_files
_spec.loader.exec_module(training_files)
write_lines = training_files.write_lines

NUMBERS = ["one", "two", "three", "four", "five", "six"]
WORDS = [
    *("the", "answer", "is", "right", "wrong", "because", "experts", "say", "so", "sum", "of", "and"),
    *("which", "better", "bad", "A", "B", *NUMBERS),
]
TEMPLATE = (
    "{% for m in messages %}<{{ m['role'] }}> {{ m['content'] }} <end> {% endfor %}"
    "{% if add_generation_prompt %}<assistant> {% endif %}"
)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    special = ["<pad>", "<unk>", "<end>", "<user>", "<system>", "<assistant>", "[[A]]", "[[B]]"]
    vocabulary = {word: k for k, word in enumerate(dict.fromkeys(special + WORDS))}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", unk_token="<unk>", eos_token="<end>", chat_template=TEMPLATE
    )
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(vocabulary),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=256,
            pad_token_id=0,
            eos_token_id=2,
            bos_token_id=None,
            tie_word_embeddings=False,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


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
