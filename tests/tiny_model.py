"""A tiny model of random weights, built here without a hub."""

NUMBERS = ["one", "two", "three", "four", "five", "six"]
WORDS = [
    *("the", "answer", "is", "right", "wrong", "because", "experts", "say", "so", "sum", "of", "and"),
    *("which", "better", "bad", "A", "B", *NUMBERS),
]
TEMPLATE = (
    "{% for m in messages %}<{{ m['role'] }}> {{ m['content'] }} <end> {% endfor %}"
    "{% if add_generation_prompt %}<assistant> {% endif %}"
)


def make_tiny(folder, seed=0):
    """Two layers and some forty words; returns the folder."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    special = ["<pad>", "<unk>", "<end>", "<user>", "<system>", "<assistant>", "[[A]]", "[[B]]"]
    vocabulary = {word: k for k, word in enumerate(dict.fromkeys(special + WORDS))}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", unk_token="<unk>", eos_token="<end>", chat_template=TEMPLATE
    )
    torch.manual_seed(seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(vocabulary),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=2048,
            pad_token_id=0,
            eos_token_id=2,
            bos_token_id=None,
            tie_word_embeddings=False,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
