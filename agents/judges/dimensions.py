"""A pairwise judge that decides on five aspects first and on the whole after them.

Structured judging against self-preference (Quantifying and Mitigating Self-Preference Bias of LLM Judges, the
multi-dimensional strategy): each aspect is a small question that leaves less room for a habit.
"""

from typing import Literal

from pydantic import BaseModel, Field

from ...core.calls import Model
from ...core.errors import CallFailed
from ...core.ids import content_id
from ...prompts import render
from ..engines.ask import ask_json
from .protocol import Ruling, RulingJudge, Shown, verdict_of

DIMENSIONS = ("relevance", "accuracy", "depth", "logic", "clarity")
Letter = Literal["A", "B", "C"]
_SIDES: dict[Letter, Literal["first", "second", "tie"]] = {"A": "first", "B": "second", "C": "tie"}


class _Choices(BaseModel):
    relevance: Letter
    accuracy: Letter
    depth: Letter
    logic: Letter
    clarity: Letter
    overall: Letter = Field(description="the better answer, all aspects taken together")


class DimensionsJudge(RulingJudge):
    """An LLM that sees both answers; its reasoning is its choice on each aspect."""

    gives_reasons = True

    def __init__(
        self,
        model: Model,
        run_id: str,
        *,
        planted: str | None = None,
        temperature: float | None = 0.0,
        max_tokens: int = 128,
        seed: int | None = 0,
    ) -> None:
        super().__init__(run_id)
        self.model = model
        self.planted = planted
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._seed = seed

    @property
    def name(self) -> str:
        """Model and, if any, the planted instruction's hash."""
        return f"{self.model.name}#dimensions" + (f"+planted-{content_id(self.planted)[:8]}" if self.planted else "")

    async def rule(self, shown: Shown) -> Ruling:
        """The overall choice; `invalid` when no choices can be read. Raises CallFailed from the model."""
        answer_a, answer_b = shown.answers
        prompt = render(
            "judge_dimensions",
            question=shown.pair.prompt,
            answer_a=answer_a,
            answer_b=answer_b,
            planted=self.planted or "",
        )
        try:
            choices, request_id = await ask_json(
                self.model,
                prompt.messages,
                _Choices,
                role="judge",
                stage=shown.stage,
                max_tokens=self._max_tokens,
                temperature=self._temperature,
                seed=None if self._seed is None else self._seed + shown.draw,
                draw=shown.draw,
            )
        except CallFailed as failed:
            if failed.kind != "malformed":
                raise
            return Ruling("invalid", reasoning=failed.raw, request_id=failed.request_id or "")
        said = ", ".join(f"{name} {getattr(choices, name)}" for name in DIMENSIONS)
        return Ruling(verdict_of(_SIDES[choices.overall], shown.order), reasoning=said, request_id=request_id)
