"""A prompt and an answer as a scorer reads them: one way for training, evaluation and audits."""

from typing import Any

Encoded = dict[str, list[int]]
_QUIET: dict[str, Any] = {"verbose": False}
"""Who asks sees to texts that are too long."""


def scored(tokenizer: Any, prompt: str, answer: str, max_length: int | None = None) -> Encoded:
    """Token ids of the conversation (and token types of a pair of texts), `max_length` at most.

    By the tokenizer's chat template where it has one; else as a pair of texts where it has a mark that parts them
    (BERT and its kin); else as one text that ends in the end mark. The end is kept, since the answer stands there, and
    with a pair of texts the first token too: such a scorer reads its number from that one, others from the last.
    """
    paired = False
    if tokenizer.chat_template:
        turns = [{"role": "user", "content": prompt}, {"role": "assistant", "content": answer}]
        found = tokenizer.apply_chat_template(turns, tokenize=True, return_dict=True, tokenizer_kwargs=_QUIET)
    elif paired := tokenizer.sep_token is not None:
        found = tokenizer(prompt, answer, **_QUIET)
    else:
        found = tokenizer(f"{prompt}\n\n{answer}{tokenizer.eos_token or ''}", **_QUIET)
    names = ("input_ids", "token_type_ids") if paired else ("input_ids",)
    encoded = {name: [int(i) for i in found[name]] for name in names if name in found}
    if max_length is None:
        return encoded
    kept = 1 if paired and len(encoded["input_ids"]) > max_length else 0
    return {name: ids[:kept] + ids[kept:][kept - max_length :] for name, ids in encoded.items()}
