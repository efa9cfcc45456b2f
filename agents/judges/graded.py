"""Judges that see one answer at a time: a grade for each, or whether it passes, and then a comparison."""

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

from ...core.calls import Message, Model
from ...core.records import Judgment, PreferencePair
from ...prompts import render
from .pairwise import Mode, planted_id
from .presets import Scale
from .prompting import Prompted
from .protocol import Ruling, RulingJudge, Said, Shown, letter_of
from .reading import Label, Read, Reader
from .voice import Voice


class _Grade(NamedTuple):
    """One answer, graded: what was read, the text, and the request."""

    read: Read
    text: str
    request_id: str


class GradingJudge(RulingJudge):
    """What pointwise and pass/fail judges have in common: each answer is asked about alone, so none has a position.

    The chosen answer is the same in every arm, so that its grade is paid for once.
    """

    has_position = False
    _kind: str
    _judged: str

    def __init__(
        self,
        model: Model,
        run_id: str,
        *,
        mode: Mode = "reasoning",
        prompt: Prompted | None = None,
        criteria: str = "",
        planted: str | None = None,
        scale: Scale = (1, 10),
    ) -> None:
        super().__init__(run_id)
        self.model, self.mode = model, mode
        self._prompt, self._criteria, self._planted = prompt, criteria, planted
        self._scale = (prompt.scale or scale) if prompt else scale
        length = prompt.max_tokens if prompt else 1024 if mode == "reasoning" else 1
        logprobs = prompt.top_logprobs if prompt else 20 if mode == "verdict" else 0
        self._voice = Voice(model, length, logprobs)
        self._reader = prompt.reader if prompt else self._own_reader()
        self.gives_reasons = not self._voice.brief
        self.gives_probabilities = logprobs > 0

    @property
    def name(self) -> str:
        """Model, kind, prompt, and whatever else makes it another judge."""
        return f"{self.model.name}#{self._kind}{self._marks()}{planted_id(self._planted)}"

    async def rule(self, shown: Shown) -> Ruling:
        """The comparison of both; `invalid` when one cannot be read. Raises CallFailed from the model."""
        chosen, rejected = await asyncio.gather(
            self._grade(shown, shown.pair.chosen), self._grade(shown, shown.rejected_text)
        )
        ruling = Ruling("invalid", unread=chosen.read.reason or rejected.read.reason)
        if chosen.read.value is not None and rejected.read.value is not None:
            ruling = self._compare(chosen.read, rejected.read)
        texts = {letter_of("chosen", shown.order): chosen.text, letter_of("rejected", shown.order): rejected.text}
        reasoning = "\n\n".join(f"On answer {letter}: {texts[letter]}" for letter in ("A", "B"))
        return ruling._replace(reasoning=reasoning, request_id=rejected.request_id)

    async def said(self, shown: Shown, judgment: Judgment) -> Said:
        """What it said of the rejected answer."""
        grade = await self._grade(shown, shown.rejected_text)
        reply = Message(role="assistant", content=grade.text)
        return Said(self.model, (*self.messages(shown.pair, shown.rejected_text), reply), "explain_score")

    def messages(self, pair: PreferencePair, answer: str) -> tuple[Message, ...]:
        """What is asked about one answer."""
        if self._prompt:
            return self._prompt.messages(pair, answer)
        return render(
            f"judge_{self._judged}_{self.mode}",
            question=pair.prompt,
            answer=answer,
            reference=pair.meta.get("reference", ""),
            criteria=self._criteria,
            planted=self._planted or "",
            low=f"{self._scale[0]:g}",
            high=f"{self._scale[1]:g}",
        ).messages

    async def _grade(self, shown: Shown, answer: str) -> _Grade:
        completion = await self._voice.ask(self.messages(shown.pair, answer), shown.stage, shown.draw)
        read = self._reader(completion, (answer,))
        return _Grade(read, self._voice.reasons(completion), completion.request_id)

    def _marks(self) -> str:
        if self._prompt:
            return f"+{self._prompt.name}"
        return f"+{self.mode}"

    def _own_reader(self) -> Reader:
        raise NotImplementedError

    def _compare(self, chosen: Read, rejected: Read) -> Ruling:
        raise NotImplementedError


def outcome_masses(
    chosen: Mapping[Label, float], rejected: Mapping[Label, float], wins: Mapping[tuple[Label, Label], str]
) -> tuple[float | None, float]:
    """P(rejected) / (P(chosen) + P(rejected)) and P(tie) when both answers' labels are drawn independently.

    `wins` says who wins for a chosen and a rejected label; what is not in it is a tie. Masses are normalised first.
    """
    total = sum(chosen.values()) * sum(rejected.values())
    won = {"chosen": 0.0, "rejected": 0.0}
    for one, p in chosen.items():
        for other, q in rejected.items():
            if (winner := wins.get((one, other))) is not None:
                won[winner] += p * q / total
    decided = won["chosen"] + won["rejected"]
    return (won["rejected"] / decided if decided > 0 else None), max(1 - decided, 0.0)
