"""The rubric judge: each answer is scored by several criteria at once, and the weighted means are compared."""

import asyncio
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, create_model

from ...core.calls import Message, Model
from ...core.ids import content_id
from ...core.records import Judgment, PreferencePair
from ...prompts import render
from ..engines.ask import ask_json
from .pairwise import planted_id
from .presets import Scale
from .protocol import Ruling, RulingJudge, Said, Shown, letter_of
from .score import compare_scores


class Criterion(BaseModel):
    """One line of a rubric."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=60, pattern=r"^[A-Za-z][A-Za-z0-9_ -]*$")
    """A few words: letters, digits, spaces, - and _."""
    about: str = ""
    """What is asked for, in a sentence or a few."""
    weight: float = Field(1.0, gt=0)
    """Its part in the mean."""

    @property
    def field(self) -> str:
        """The name in the judge's reply."""
        return self.name.strip().lower().replace(" ", "_").replace("-", "_")


class _Scored(NamedTuple):
    value: float
    text: str
    request_id: str


class RubricJudge(RulingJudge):
    """An LLM that gives a score for each criterion, alone for each answer, in JSON; so there is no position."""

    gives_reasons = True
    gives_scores = True
    has_position = False

    def __init__(
        self,
        model: Model,
        run_id: str,
        criteria: tuple[Criterion, ...],
        *,
        scale: Scale = (1, 5),
        tie_within: float = 0.0,
        planted: str | None = None,
    ) -> None:
        super().__init__(run_id)
        self.model = model
        self._criteria, self._scale, self._tie_within, self._planted = criteria, scale, tie_within, planted
        self._total = sum(c.weight for c in criteria)

    @property
    def name(self) -> str:
        """Model and a hash of criteria, weights and scale."""
        told = content_id([c.model_dump() for c in self._criteria], self._scale)[:8]
        tie = f"+tie-{self._tie_within:g}" if self._tie_within else ""
        return f"{self.model.name}#rubric-{told}{tie}{planted_id(self._planted)}"

    async def rule(self, shown: Shown) -> Ruling:
        """The comparison of both means. Raises CallFailed from the model, `malformed` for scores that do not fit."""
        chosen, rejected = await asyncio.gather(
            self._score(shown, shown.pair.chosen), self._score(shown, shown.rejected_text)
        )
        texts = {letter_of("chosen", shown.order): chosen.text, letter_of("rejected", shown.order): rejected.text}
        return compare_scores(chosen.value, rejected.value, self._tie_within)._replace(
            reasoning="\n\n".join(f"On answer {letter}:\n{texts[letter]}" for letter in ("A", "B")),
            request_id=rejected.request_id,
        )

    async def said(self, shown: Shown, judgment: Judgment) -> Said:
        """Its scores of the rejected answer."""
        scored = await self._score(shown, shown.rejected_text)
        reply = Message(role="assistant", content=scored.text)
        return Said(self.model, (*self.messages(shown.pair, shown.rejected_text), reply), "explain_score")

    def messages(self, pair: PreferencePair, answer: str) -> tuple[Message, ...]:
        """What is asked about one answer."""
        return render(
            "judge_rubric",
            question=pair.prompt,
            answer=answer,
            reference=pair.meta.get("reference", ""),
            criteria=[f"{c.field}: {c.about or c.name}" for c in self._criteria],
            planted=self._planted or "",
            low=f"{self._scale[0]:g}",
            high=f"{self._scale[1]:g}",
        ).messages

    async def _score(self, shown: Shown, answer: str) -> _Scored:
        reply, request_id = await ask_json(
            self.model,
            self.messages(shown.pair, answer),
            form(tuple(c.field for c in self._criteria), self._scale),
            role="judge",
            stage=shown.stage,
            draw=shown.draw,
        )
        given = reply.model_dump()
        mean = sum(c.weight * given[c.field]["score"] for c in self._criteria) / self._total
        lines = [f"{c.name}: {given[c.field]['score']:g}. {given[c.field]['reason']}" for c in self._criteria]
        return _Scored(mean, "\n".join(lines), request_id)


@cache
def form(fields: tuple[str, ...], scale: Scale) -> type[BaseModel]:
    """What the judge fills in: for each criterion a reason and a score on the scale."""
    line = create_model("Line", reason=(str, ...), score=(float, Field(ge=scale[0], le=scale[1])))
    parts: dict[str, Any] = dict.fromkeys(fields, (line, ...))
    return create_model("Scores", **parts)
