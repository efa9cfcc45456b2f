"""Read a chat completion's JSON into a Completion, and say whether it can be used."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...core.calls import Completion, Request
from ...core.errors import CallFailed, FailureKind
from .reference import ModelSpec

_FINISH = {
    "max_tokens": "length",
    "model_length": "length",
    "end_turn": "stop",
    "eos": "stop",
    "safety": "content_filter",
}
_OPENED = re.compile(r"\s*<think(?:ing)?>")
_CLOSED = re.compile(r"</think(?:ing)?>\s*")
FEW_TOKENS = 16


def clean(text: str) -> str:
    """The text without lone surrogates, which neither JSON nor a database can carry; `?` stands for each."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def read_completion(answer: Any, spec: ModelSpec, request_id: str, seconds: float, fallback: str) -> Completion:
    """The first choice of a chat completion. Raises ValueError for anything that is none."""
    try:
        choice = answer["choices"][0]
        message = choice["message"]
    except (KeyError, IndexError, TypeError):
        raise ValueError(f"no choices in {str(answer)[:200]!r}") from None
    content = _text(message.get("content"))
    thought, text = split_thinking(content, spec.reasoning)
    refusal = _text(message.get("refusal"))
    reason = str(choice.get("finish_reason") or "stop")
    usage = answer.get("usage") or {}
    prompt, cached = _count(usage, "prompt_tokens"), _count(usage.get("prompt_tokens_details") or {}, "cached_tokens")
    completion = _count(usage, "completion_tokens")
    return Completion(
        request_id=request_id,
        text=clean(text or refusal),
        reasoning=clean(_text(message.get("reasoning_content") or message.get("reasoning")) or thought),
        finish_reason="refusal" if refusal else _FINISH.get(reason, reason),
        token_logprobs=_logprobs(choice.get("logprobs"), len(content) - len(text) if thought else 0),
        prompt_tokens=prompt,
        cached_prompt_tokens=cached,
        completion_tokens=completion,
        cost=_cost(spec, prompt, completion, usage),
        seconds=seconds,
        served_by=clean(str(answer.get("model") or "")),
        fallback=fallback,
    )


def failure_of(completion: Completion, request: Request) -> tuple[FailureKind, str] | None:
    """Why a completion cannot be used: refused, truncated or empty; None when it can.

    A request for log-probabilities of at most 16 tokens is answered by them, though its text is cut off.
    """
    if completion.finish_reason in ("refusal", "content_filter"):
        return "refused", "the model declined to answer"
    if completion.token_logprobs and request.top_logprobs > 0 and request.max_tokens <= FEW_TOKENS:
        return None
    if completion.finish_reason == "length":
        used = completion.completion_tokens or request.max_tokens
        return "truncated", f"the answer was cut off after {used} tokens; raise max_tokens"
    if not completion.text.strip():
        return "empty", "the answer has no text"
    return None


def check(completion: Completion, request: Request) -> Completion:
    """The completion, or CallFailed with its kind and raw text."""
    if (failure := failure_of(completion, request)) is not None:
        kind, reason = failure
        raise CallFailed(kind, reason, raw=completion.text or completion.reasoning, request_id=completion.request_id)
    return completion


def split_thinking(text: str, reasoning: bool) -> tuple[str, str]:
    """Thinking and answer. Only a block that opens the text counts; a thinking model may have it opened beforehand."""
    opened = _OPENED.match(text)
    if not opened and not reasoning:
        return "", text
    start = opened.end() if opened else 0
    if (closed := _CLOSED.search(text, start)) is not None:
        return text[start : closed.start()].strip(), text[closed.end() :]
    return (text[start:].strip(), "") if opened else ("", text)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "".join(str(p.get("text") or "") for p in content if isinstance(p, Mapping))
    return ""


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return int(value) if isinstance(value, int | float) and value > 0 else 0


def _cost(spec: ModelSpec, prompt: int, completion: int, usage: Mapping[str, Any]) -> float | None:
    if spec.price_input is not None or spec.price_output is not None:
        return (prompt * (spec.price_input or 0.0) + completion * (spec.price_output or 0.0)) / 1e6
    told = usage.get("cost")  # some gateways say it
    if isinstance(told, int | float) and not isinstance(told, bool):
        return float(told)
    return 0.0 if spec.scheme == "local" else None


def _logprobs(given: Any, skip_chars: int) -> tuple[dict[str, float], ...]:
    """Alternatives per token, without the tokens that cover the first `skip_chars` characters (thinking)."""
    entries = (given.get("content") if isinstance(given, Mapping) else None) or ()
    tokens: list[dict[str, float]] = []
    for entry in entries:
        if skip_chars > 0:
            skip_chars -= len(entry.get("token", ""))
            continue
        alternatives: dict[str, float] = {}
        for option in (entry, *(entry.get("top_logprobs") or ())):
            value = option.get("logprob")
            if isinstance(value, int | float) and math.isfinite(value):
                token = clean(str(option.get("token", "")))
                alternatives[token] = max(float(value), alternatives.get(token, -math.inf))
        tokens.append(alternatives)
    return tuple(tokens)
