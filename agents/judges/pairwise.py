"""The pairwise LLM judge: reasoning and then a verdict, or a verdict only, read from token probabilities."""

from typing import Literal

from ...core.calls import Completion, Message, Model, Request, Stage
from ...core.errors import CallFailed
from ...core.ids import content_id
from ...core.records import Order, PreferencePair
from ...prompts import render
from ..verdicts import parse_verdict, read_letter_logprobs
from .protocol import Ruling, RulingJudge, Shown, shown_answers, verdict_of

Mode = Literal["reasoning", "verdict"]

_REPLAYED = 8000
"""Characters of an unreadable text, from its end, that the reminder shows the judge again."""


def conversation(
    pair: PreferencePair, rejected_text: str, order: Order, *, mode: Mode, planted: str | None = None
) -> tuple[Message, ...]:
    """What the judge is asked. `planted` is an instruction added to its system prompt."""
    answer_a, answer_b = shown_answers(pair, rejected_text, order)
    return render(
        f"judge_{mode}", question=pair.prompt, answer_a=answer_a, answer_b=answer_b, planted=planted or ""
    ).messages


class PairwiseJudge(RulingJudge):
    """An LLM that sees both answers.

    `max_tokens` defaults to 1024 for reasoning and 1 for verdict only; `top_logprobs` is how many alternatives the
    verdict is read from (0: only its letter). `planted` makes a judge with a bias known beforehand. With `draw` the
    seed moves on, so that repetitions differ where decoding is random.
    """

    def __init__(
        self,
        model: Model,
        run_id: str,
        *,
        mode: Mode = "reasoning",
        temperature: float | None = 0.0,
        max_tokens: int | None = None,
        planted: str | None = None,
        seed: int | None = 0,
        top_logprobs: int = 20,
    ) -> None:
        super().__init__(run_id)
        self.model = model
        self.mode: Mode = mode
        self.planted = planted
        self._temperature = temperature
        self._max_tokens = max_tokens or (1024 if mode == "reasoning" else 1)
        self._seed = seed
        self._top_logprobs = top_logprobs if mode == "verdict" else 0
        self.gives_reasons = mode == "reasoning"
        self.gives_probabilities = self._top_logprobs > 0

    @property
    def name(self) -> str:
        """Model, mode and, if any, the planted instruction's hash."""
        return f"{self.model.name}#{self.mode}" + (f"+planted-{content_id(self.planted)[:8]}" if self.planted else "")

    async def rule(self, shown: Shown) -> Ruling:
        """One verdict; `invalid` when it stays unreadable after one reminder, with the text as `reasoning`.

        Raises CallFailed from the model.
        """
        messages = conversation(shown.pair, shown.rejected_text, shown.order, mode=self.mode, planted=self.planted)
        completion = await self._ask(messages, shown.stage, shown.draw)
        reasoning = self._reasons(completion)
        ruling = self._read(completion, shown)
        if ruling.verdict == "invalid":
            unreadable = Message(role="assistant", content=completion.text[-_REPLAYED:])
            reminder = render("format_reminder", mode=self.mode).messages
            completion = await self._ask((*messages, unreadable, *reminder), shown.stage, shown.draw)
            reasoning = f"{reasoning}\n\n{completion.text}"
            ruling = self._read(completion, shown)
        return ruling._replace(reasoning=reasoning, request_id=completion.request_id)

    async def _ask(self, messages: tuple[Message, ...], stage: Stage, draw: int) -> Completion:
        request = Request(
            model=self.model.name,
            messages=messages,
            temperature=self._temperature,
            max_tokens=self._max_tokens,
            seed=None if self._seed is None else self._seed + draw,
            top_logprobs=self._top_logprobs,
            draw=draw,
            role="judge",
            stage=stage,
        )
        try:
            return await self.model.complete(request)
        except CallFailed as failure:
            # A verdict of one token is cut off by its own limit where the endpoint has no log-probabilities to give.
            if self.mode == "verdict" and failure.kind == "truncated" and failure.raw:
                return Completion(request_id=request.id, text=failure.raw, finish_reason="length")
            raise

    def _read(self, completion: Completion, shown: Shown) -> Ruling:
        if self.mode == "reasoning":
            value = parse_verdict("brackets", completion.text, answers=shown.answers).value
            return Ruling(verdict_of(value, shown.order))
        letters = read_letter_logprobs(completion.token_logprobs)
        if letters is None:
            return Ruling(verdict_of(parse_verdict("letter", completion.text).value, shown.order))
        p_rejected = letters.p_first
        if p_rejected is not None and shown.order == "chosen_first":
            p_rejected = 1 - p_rejected
        return Ruling(verdict_of(letters.outcome, shown.order), p_rejected, letters.tie_mass)

    def _reasons(self, completion: Completion) -> str:
        """The text; with the model's thinking before it when the text is little more than a marker."""
        brief = self.mode == "reasoning" and len(completion.text) < 40 and completion.reasoning
        return f"{completion.reasoning}\n\n{completion.text}" if brief else completion.text
