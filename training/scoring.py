"""Scores of a trained scorer, for comparison before and after."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch

from .models import ADAPTER, load_scorer, load_tokenizer
from .texts import Encoded, scored


class Scorer:
    """A scorer from a folder (a whole model or an adapter), or from `model` and `tokenizer` at hand."""

    def __init__(self, folder: str, *, max_length: int = 1024, batch: int = 16) -> None:
        self._tokenizer = load_tokenizer(folder)
        self._max_length, self._batch = max_length, batch
        self._model = _load(folder, self._tokenizer.pad_token_id).eval()

    def scores(self, pairs: Iterable[tuple[str, str]]) -> Iterator[float]:
        """The score of each (prompt, answer)."""
        chunk: list[Encoded] = []
        for prompt, answer in pairs:
            chunk.append(scored(self._tokenizer, prompt, answer, self._max_length))
            if len(chunk) == self._batch:
                yield from self._scored(chunk)
                chunk = []
        if chunk:
            yield from self._scored(chunk)

    def _scored(self, chunk: list[Encoded]) -> list[float]:
        batch = self._tokenizer.pad(chunk, padding_side="right", return_tensors="pt")
        with torch.inference_mode():
            found: list[float] = self._model(**batch.to(self._model.device)).logits[:, 0].float().tolist()
        return found


def _load(folder: str, pad_token_id: int) -> Any:
    if not (Path(folder) / ADAPTER).is_file():
        return load_scorer(folder, "fp32", pad_token_id)
    from peft import AutoPeftModelForSequenceClassification

    model = AutoPeftModelForSequenceClassification.from_pretrained(folder, num_labels=1)
    model.config.pad_token_id = pad_token_id
    return model
