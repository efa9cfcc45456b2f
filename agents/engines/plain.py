"""Requests to things that are no language models: a prompt, and one answer to score or two to compare."""

import math
from typing import Any

from ...core.calls import Completion, Request
from ...core.errors import CallFailed
from .answers import clean

_ROLES = {2: ["user", "assistant"], 3: ["user", "assistant", "assistant"]}


def prompt_and_answers(request: Request, name: str, answers: tuple[int, ...] = (1, 2)) -> tuple[str, tuple[str, ...]]:
    """What is to be judged (see `judges.score` and `judges.compare`). Raises CallFailed for another kind of request."""
    roles, texts = [m.role for m in request.messages], [m.content for m in request.messages]
    if roles != _ROLES.get(len(roles)) or len(roles) - 1 not in answers:
        what = "one answer to a prompt" if answers == (1,) else "one answer to a prompt, or compares two"
        raise CallFailed("bad_request", f"{name} scores {what}, and takes no other request", request_id=request.id)
    return texts[0], tuple(texts[1:])


def plain_completion(
    value: Any, request: Request, *, seconds: float, served_by: str = "", cost: float | None = None
) -> Completion:
    """A number, word or truth value as a completion. Raises CallFailed for anything else."""
    text = None
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, str):
        text = clean(value)
    else:
        try:
            number = float(value)  # also the numbers of numpy and torch
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        text = repr(number) if math.isfinite(number) else None
    if text is None or not text.strip():
        raise CallFailed(
            "malformed", f"the answer is {value!r:.80}, not a finite number or a word", f"{value!r:.2000}", request.id
        )
    return Completion(request_id=request.id, text=text, seconds=seconds, served_by=served_by, cost=cost)
