"""A prompt and an answer as the tokens that a scorer reads."""

from typing import Any


def scored_tokens(tokenizer: Any, prompt: str, answer: str, max_length: int) -> list[int]:
    """Token ids of the conversation, by the tokenizer's chat template where it has one; the last `max_length`.

    The end is kept: that is where the answer stands, and a scorer reads its number from the last token.
    """
    if tokenizer.chat_template:
        messages = [{"role": "user", "content": prompt}, {"role": "assistant", "content": answer}]
        ids = tokenizer.apply_chat_template(messages, tokenize=True, return_dict=True)["input_ids"]
    else:
        ids = tokenizer(f"{prompt}\n\n{answer}{tokenizer.eos_token or ''}")["input_ids"]
    return [int(i) for i in ids[-max_length:]]
