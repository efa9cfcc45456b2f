"""`hf:FOLDER`: a model or an adapter in Hugging Face format, run in this process by transformers.

One request at a time, so that temperature 0 gives the same answer whatever else is asked. For auditing what
`biasscope train` made without a server; where there is a GPU and much to ask, vLLM is the engine.
"""

import asyncio
import threading
from pathlib import Path
from typing import Any

from ...core.calls import Completion, Request
from ...core.errors import CallFailed, ConfigError
from ...training.needs import need_extra
from .reference import ModelSpec
from .structured import with_schema
from .weights import folder_identity, holds_model


class Pretrained:
    """The Model protocol over a folder. The model is loaded with the first call."""

    def __init__(self, spec: ModelSpec) -> None:
        need_extra("torch", "transformers", "peft")
        self.spec = spec
        self._folder = Path(spec.target).expanduser()
        if not holds_model(self._folder):
            raise ConfigError(f"model {spec.model!r}: is no folder with a model in Hugging Face format")
        suffix = f"#{spec.settings_id}" if spec.settings_id else ""
        self._name = f"{folder_identity(self._folder)}{suffix}"
        self._busy = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    @property
    def name(self) -> str:
        """Folder name and hash of the weights."""
        return self._name

    async def complete(self, request: Request) -> Completion:
        """Answer one request; others wait."""
        return await asyncio.to_thread(self._answered, request)

    async def aclose(self) -> None:
        """Let go of the model."""
        self._loaded = None

    def _answered(self, request: Request) -> Completion:
        with self._busy:
            return self._answer(request)

    def _answer(self, request: Request) -> Completion:
        import torch

        model, tokenizer = self._model()
        messages = with_schema(request.messages, request.json_schema) if request.json_schema else request.messages
        try:
            ids = tokenizer.apply_chat_template(
                [{"role": m.role, "content": m.content} for m in messages],
                add_generation_prompt=True,
                return_tensors="pt",
                return_dict=True,
            ).to(model.device)
        except Exception as error:  # a template may refuse in any way, for example a system message
            raise CallFailed("bad_request", f"the chat template: {error}", request_id=request.id) from None
        asked = int(ids["input_ids"].shape[1])
        most = self.spec.max_tokens or request.max_tokens
        room = int(getattr(model.config, "max_position_embeddings", 0) or self.spec.n_ctx) - asked
        if room < 1:
            raise CallFailed("too_long", f"the request has {asked} tokens, more than fit", request_id=request.id)
        temperature = self.spec.temperature if self.spec.temperature is not None else request.temperature
        torch.manual_seed((request.seed or 0) + request.draw)
        options: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        if temperature:
            options = {"do_sample": True, "temperature": temperature, "top_p": 1.0, "top_k": 0}
        with torch.inference_mode():
            made = model.generate(
                **ids,
                max_new_tokens=min(most, room),
                pad_token_id=tokenizer.pad_token_id,
                return_dict_in_generate=True,
                output_logits=request.top_logprobs > 0,
                **options,
            )
        answer = made.sequences[0, asked:]
        ended = int(answer[-1]) in _ends(model)
        return Completion(
            request_id=request.id,
            text=tokenizer.decode(answer, skip_special_tokens=True),
            finish_reason="stop" if ended else "length",
            token_logprobs=_alternatives(made.logits, tokenizer, request.top_logprobs) if request.top_logprobs else (),
            prompt_tokens=asked,
            completion_tokens=len(answer),
            cost=0.0,
            served_by=self._name,
        )

    def _model(self) -> tuple[Any, Any]:
        if self._loaded is None:
            import torch

            from ...training.models import load_tokenizer, load_writer

            folder = str(self._folder)
            model = load_writer(folder, "bf16" if torch.cuda.is_available() else "fp32").eval()
            self._loaded = model.to("cuda" if torch.cuda.is_available() else "cpu"), load_tokenizer(folder)
        return self._loaded


def _alternatives(logits: Any, tokenizer: Any, most: int) -> tuple[dict[str, float], ...]:
    """For each token the most likely ones with their log-probabilities; spellings of one text keep the likeliest."""
    found = []
    for step in logits:
        top = step[0].float().log_softmax(-1).topk(min(most, step.shape[-1]))
        alternatives: dict[str, float] = {}
        for value, token in zip(top.values.tolist(), top.indices.tolist(), strict=True):
            alternatives.setdefault(tokenizer.decode([token]), value)
        found.append(alternatives)
    return tuple(found)


def _ends(model: Any) -> set[int]:
    given = model.generation_config.eos_token_id
    return set(given) if isinstance(given, list) else {given}
