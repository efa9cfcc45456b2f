"""The teacher words a group of candidates as one bias, and says whether a candidate is a bias already known."""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from ..core.calls import Model
from ..core.errors import CallFailed
from ..prompts import render
from .engines.ask import ask_json
from .wording import Wording, clean_wording, described

MAX_SHOWN = 12
"""Candidates of a group that are shown for its summary: more add length, not meaning."""


class _Summary(BaseModel):
    name: str = Field(description="two to five words")
    definition: str = Field(description="one sentence")
    manifestation: str = Field(description="one sentence")


class _Comparison(BaseModel):
    same_as: int = Field(description="number of the known bias that is the same, 0 for none")


async def summarise(
    teacher: Model,
    items: Sequence[tuple[str, str, str]],
    *,
    temperature: float | None = 0.0,
    max_tokens: int = 512,
    seed: int | None = 0,
) -> Wording:
    """One wording for a group of (name, definition, manifestation); a single one is given back without a call.

    Of a large group the first MAX_SHOWN distinct ones are shown. Raises CallFailed.
    """
    distinct = list(dict.fromkeys(tuple(item) for item in items))[:MAX_SHOWN]
    if len(distinct) == 1:
        return Wording(*distinct[0])
    prompt = render("merge_summary", candidates=[described(*item) for item in distinct])
    summary, request_id = await ask_json(
        teacher,
        prompt.messages,
        _Summary,
        role="teacher",
        stage="merge",
        max_tokens=max_tokens,
        temperature=temperature,
        seed=seed,
    )
    return clean_wording(summary.name, summary.definition, summary.manifestation, request_id)


async def same_as(
    teacher: Model,
    candidate: tuple[str, str, str],
    nearest: Sequence[tuple[str, str, str]],
    *,
    temperature: float | None = 0.0,
    max_tokens: int = 64,
    seed: int | None = 0,
) -> int | None:
    """Index in `nearest` of the bias that the candidate repeats, or None. Raises CallFailed."""
    if not nearest:
        return None
    prompt = render("merge_compare", candidate=described(*candidate), biases=[described(*known) for known in nearest])
    comparison, request_id = await ask_json(
        teacher,
        prompt.messages,
        _Comparison,
        role="teacher",
        stage="merge",
        max_tokens=max_tokens,
        temperature=temperature,
        seed=seed,
    )
    number = comparison.same_as
    if not 0 <= number <= len(nearest):
        reason = f"same_as is {number}, not a number from 0 to {len(nearest)}"
        raise CallFailed("malformed", reason, str(number), request_id)
    return number - 1 if number else None
