"""A member of a panel grades one answer on five aspects (self-preference audit, METHOD section 8)."""

import statistics

from pydantic import BaseModel

from ..core.calls import Message, Model, Request, Stage
from ..core.errors import CallFailed
from ..prompts import render
from .engines.ask import ask_json

STEP = 0.25
HIGHEST = 10.0


class Grades(BaseModel):
    """0 to 10 in steps of 0.25."""

    relevance: float
    accuracy: float
    depth: float
    logic: float
    clarity: float

    @property
    def mean(self) -> float:
        """Over the five aspects."""
        return statistics.fmean(self.model_dump().values())


async def grade(
    model: Model,
    question: str,
    answer: str,
    *,
    stage: Stage = "audit",
    temperature: float | None = 0.0,
    max_tokens: int = 128,
    seed: int | None = 0,
) -> tuple[Grades, str]:
    """The grades, off-grid ones moved to the nearest step, and the id of the request.

    Raises CallFailed: `malformed` too for a grade outside the scale, and whatever the model raises.
    """
    prompt = render("score_dimensions", question=question, answer=answer)
    grades, request_id = await ask_json(
        model,
        prompt.messages,
        Grades,
        role="panel",
        stage=stage,
        max_tokens=max_tokens,
        temperature=temperature,
        seed=seed,
    )
    values = grades.model_dump()
    for name, value in values.items():
        if not 0 <= value <= HIGHEST:
            raise CallFailed(
                "malformed", f"{name}: {value!r} is not on the scale from 0 to 10", str(values), request_id
            )
    return Grades(**{name: round(value / STEP) * STEP for name, value in values.items()}), request_id


async def write_answer(
    model: Model, question: str, *, stage: Stage = "audit", max_tokens: int = 1024, temperature: float | None = 0.0
) -> str:
    """An author's answer to a prompt. Raises CallFailed."""
    request = Request(
        model=model.name,
        messages=(Message(role="user", content=question),),
        temperature=temperature,
        max_tokens=max_tokens,
        role="author",
        stage=stage,
    )
    return (await model.complete(request)).text
