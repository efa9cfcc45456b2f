"""The teacher sorts a group of candidates into biases, and says whether a candidate is a bias already known."""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from ..bias_library.merging import Summary
from ..core.calls import Model
from ..core.errors import CallFailed
from ..prompts import render
from .engines.ask import ask_json
from .wording import clean_wording, described


class _Sorted(BaseModel):
    members: list[int] = Field(description="numbers of the descriptions that mean this bias")
    name: str = Field(description="two to five words")
    definition: str = Field(description="one sentence")
    manifestation: str = Field(description="one sentence")


class _Summaries(BaseModel):
    biases: list[_Sorted] = Field(description="one entry for each different bias")


class _Comparison(BaseModel):
    same_as: int = Field(description="number of the known bias that is the same, 0 for none")


async def summarise(
    teacher: Model,
    items: Sequence[tuple[str, str, str]],
    *,
    temperature: float | None = 0.0,
    max_tokens: int = 1536,
    seed: int | None = 0,
) -> list[Summary]:
    """(name, definition, manifestation) wordings sorted into biases, each with one wording of its own.

    A description that the teacher puts nowhere is in no summary. Raises CallFailed, `malformed` for numbers that name
    no description.
    """
    prompt = render("merge_summary", candidates=[described(*item) for item in items])
    reply, request_id = await ask_json(
        teacher,
        prompt.messages,
        _Summaries,
        role="teacher",
        stage="merge",
        max_tokens=max_tokens,
        temperature=temperature,
        seed=seed,
    )
    summaries = []
    for part in reply.biases:
        members = tuple(sorted({number - 1 for number in part.members}))
        if not members:
            continue
        if members[0] < 0 or members[-1] >= len(items):
            reason = f"members {part.members} name descriptions other than 1 to {len(items)}"
            raise CallFailed("malformed", reason, repr(part.members), request_id)
        wording = clean_wording(part.name, part.definition, part.manifestation, request_id)
        summaries.append(Summary(*wording, members))
    return summaries


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
