"""`reward:`: a transformers sequence classifier as a scorer, in this process."""

import asyncio
import importlib.util
import time
from pathlib import Path
from typing import Any

from ...core.calls import Completion, Request
from ...core.errors import CallFailed, ConfigError, EndpointError
from ...training.needs import need_extra
from ...training.texts import scored
from .plain import plain_completion, prompt_and_answers
from .reference import ModelSpec
from .weights import ADAPTER, folder_identity, holds_model

BATCH = 16
INSTALL = "pip install 'biasscope[local]'"
_DIGITS = 4
"""Behind the point: more would differ with the texts that happen to share a batch."""


class RewardModel:
    """A scorer: the single logit of the classifier, or for two labels the second one's less the first's.

    Prompt and answer are encoded as in training (training/texts.py). Requests in flight are scored together, BATCH at
    a time. A text longer than the model reads is a failed call, never cut.
    Weights are read from safetensors only, and no code of the model's is run.
    """

    def __init__(self, spec: ModelSpec) -> None:
        for package in ("transformers", "torch"):
            if importlib.util.find_spec(package) is None:
                raise ConfigError(f"model {spec.model!r}: {package} is not installed; run: {INSTALL}")
        if not spec.target:
            raise ConfigError(f"model {spec.model!r} names no model; write reward:/path/to/folder or reward:org/name")
        self._spec = spec
        self._folder = Path(spec.target).expanduser()
        if self._folder.is_absolute() and not holds_model(self._folder):
            raise ConfigError(
                f"model {spec.model!r}: {str(self._folder)!r} holds no config.json; give a model's folder"
            )
        self._name = reward_identity(spec)
        self._waiting: list[tuple[str, str, asyncio.Future[float]]] = []
        self._worker: asyncio.Task[None] | None = None
        self._loaded: tuple[Any, Any] | None = None

    @property
    def name(self) -> str:
        """Folder name and hash, the same on every machine; for a model of the hub its id."""
        return self._name

    async def complete(self, request: Request) -> Completion:
        """The score as a decimal number; the first call loads the model."""
        prompt, (answer,) = prompt_and_answers(request, self.name, (1,))
        future: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._waiting.append((prompt, answer, future))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        started = time.perf_counter()
        try:
            score = await future
        except CallFailed as failed:
            raise CallFailed(failed.kind, failed.reason, failed.raw, request.id) from None
        return plain_completion(score, request, seconds=time.perf_counter() - started, cost=0.0)

    async def aclose(self) -> None:
        """Let go of the model."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)
        self._loaded = None

    async def _work(self) -> None:
        await asyncio.sleep(0)  # let the callers that are ready now join the first batch
        while self._waiting:
            batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
            try:
                scores = await asyncio.to_thread(self._score, [(p, a) for p, a, _ in batch])
            except Exception as error:
                scores = [error] * len(batch)
            for (_, _, future), score in zip(batch, scores, strict=True):
                if future.cancelled():
                    continue
                if isinstance(score, Exception):
                    future.set_exception(score)
                else:
                    future.set_result(score)

    def _score(self, pairs: list[tuple[str, str]]) -> list[float | Exception]:
        import torch

        if self._loaded is None:
            self._loaded = _load(self._spec)
        tokenizer, model = self._loaded
        most = _longest(tokenizer, model)
        encoded = [scored(tokenizer, prompt, answer) for prompt, answer in pairs]
        lengths = [len(e["input_ids"]) for e in encoded]
        results: list[float | Exception] = [
            CallFailed("too_long", f"model {self._spec.model!r}: {n} tokens, and the model reads {most}")
            for n in lengths
        ]
        fits = [k for k, n in enumerate(lengths) if n <= most]
        if fits:
            padded = tokenizer.pad([encoded[k] for k in fits], padding_side="right", return_tensors="pt")
            with torch.inference_mode():
                logits = model(**padded.to(model.device)).logits.float()
            values = logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]
            for k, value in zip(fits, values.tolist(), strict=True):
                results[k] = round(value, _DIGITS)
        return results


def reward_identity(spec: ModelSpec) -> str:
    """`reward:name#hash` of a folder; of a model of the hub its id."""
    folder = Path(spec.target).expanduser()
    return f"reward:{folder_identity(folder)}" if holds_model(folder) else spec.model


def _load(spec: ModelSpec) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    folder = Path(spec.target).expanduser()
    where = str(folder) if holds_model(folder) else spec.target
    kind, more = AutoModelForSequenceClassification, {}
    if (folder / ADAPTER).is_file():
        need_extra("peft")
        from peft import AutoPeftModelForSequenceClassification

        kind, more = AutoPeftModelForSequenceClassification, {"num_labels": 1}
    try:
        tokenizer = AutoTokenizer.from_pretrained(where)
        model = kind.from_pretrained(where, use_safetensors=True, **more)
    except Exception as error:
        cause = " ".join(str(error).split())[:200]
        raise EndpointError(
            f"model {spec.model!r} cannot be loaded ({cause}); is it a sequence classifier with safetensors?"
        ) from None
    if model.config.num_labels not in (1, 2):
        raise EndpointError(
            f"model {spec.model!r} has {model.config.num_labels} labels; a scorer has one, or two of which one is good"
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if model.config.pad_token_id is None:
        model.config.pad_token_id = tokenizer.pad_token_id
    return tokenizer, model.to("cuda" if torch.cuda.is_available() else "cpu").eval()


def _longest(tokenizer: Any, model: Any) -> int:
    told = [tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", None)]
    return min(int(n) for n in told if isinstance(n, int | float) and n > 0)
