"""The pairwise LLM judge: reasoning and then a verdict, or a verdict only, read from token probabilities."""

from typing import Literal, NamedTuple, Protocol

from ..core.calls import Completion, Message, Model, Request, Stage
from ..core.errors import CallFailed
from ..core.ids import content_id
from ..core.records import Judgment, Order, PreferencePair, Verdict
from ..prompts import render
from .verdicts import Outcome, parse_verdict, read_letter_logprobs

Mode = Literal["reasoning", "verdict"]

_REPLAYED = 8000
"""Characters of an unreadable text, from its end, that the reminder shows the judge again."""


class Judge(Protocol):
    """Anything that prefers one of two answers."""

    @property
    def name(self) -> str:
        """Identity in judgments and validations: the model and everything that makes it another judge."""
        ...

    @property
    def gives_reasons(self) -> bool:
        """Whether judgments carry the judge's reasoning."""
        ...

    @property
    def gives_probabilities(self) -> bool:
        """Whether judgments carry `p_rejected` where the endpoint has log-probabilities."""
        ...

    @property
    def has_position(self) -> bool:
        """Whether the order of the answers can matter."""
        ...

    async def judge(
        self,
        pair: PreferencePair,
        *,
        arm: str,
        rejected_text: str,
        order: Order,
        stage: Stage,
        perturbation_id: str = "",
        draw: int = 0,
    ) -> Judgment:
        """Judge the chosen answer against `rejected_text`. Raises CallFailed when there is no text to read."""
        ...


def shown_answers(pair: PreferencePair, rejected_text: str, order: Order) -> tuple[str, str]:
    """Answer A and answer B."""
    return (pair.chosen, rejected_text) if order == "chosen_first" else (rejected_text, pair.chosen)


def letter_of(verdict: Verdict, order: Order) -> str:
    """The letter that stands for a verdict in that order; empty for `invalid`."""
    if verdict in ("tie", "invalid"):
        return "C" if verdict == "tie" else ""
    return "A" if (verdict == "chosen") == (order == "chosen_first") else "B"


def conversation(
    pair: PreferencePair, rejected_text: str, order: Order, *, mode: Mode, planted: str | None = None
) -> tuple[Message, ...]:
    """What the judge is asked. `planted` is an instruction added to its system prompt."""
    answer_a, answer_b = shown_answers(pair, rejected_text, order)
    return render(
        f"judge_{mode}", question=pair.prompt, answer_a=answer_a, answer_b=answer_b, planted=planted or ""
    ).messages


class _Ruling(NamedTuple):
    verdict: Verdict
    p_rejected: float | None = None
    tie_mass: float | None = None


class PairwiseJudge:
    """An LLM that sees both answers.

    `max_tokens` defaults to 1024 for reasoning and 1 for verdict only; `top_logprobs` is how many alternatives the
    verdict is read from (0: only its letter). `planted` makes a judge with a bias known beforehand. With `draw` the
    seed moves on, so that repetitions differ where decoding is random.
    """

    has_position = True

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
        self.model = model
        self.mode: Mode = mode
        self.planted = planted
        self._run_id = run_id
        self._temperature = temperature
        self._max_tokens = max_tokens or (1024 if mode == "reasoning" else 1)
        self._seed = seed
        self._top_logprobs = top_logprobs if mode == "verdict" else 0

    @property
    def name(self) -> str:
        """Model, mode and, if any, the planted instruction's hash."""
        return f"{self.model.name}#{self.mode}" + (f"+planted-{content_id(self.planted)[:8]}" if self.planted else "")

    @property
    def gives_reasons(self) -> bool:
        """In reasoning mode only."""
        return self.mode == "reasoning"

    @property
    def gives_probabilities(self) -> bool:
        """In verdict mode, when log-probabilities are asked for."""
        return self._top_logprobs > 0

    async def judge(
        self,
        pair: PreferencePair,
        *,
        arm: str,
        rejected_text: str,
        order: Order,
        stage: Stage,
        perturbation_id: str = "",
        draw: int = 0,
    ) -> Judgment:
        """One verdict; `invalid` when it stays unreadable after one reminder, with the text as `reasoning`.

        Raises CallFailed from the model.
        """
        messages = conversation(pair, rejected_text, order, mode=self.mode, planted=self.planted)
        answers = shown_answers(pair, rejected_text, order)
        completion = await self._ask(messages, stage, draw)
        reasoning = self._reasons(completion)
        ruling = self._read(completion, order, answers)
        if ruling.verdict == "invalid":
            unreadable = Message(role="assistant", content=completion.text[-_REPLAYED:])
            reminder = render("format_reminder", mode=self.mode).messages
            completion = await self._ask((*messages, unreadable, *reminder), stage, draw)
            reasoning = f"{reasoning}\n\n{completion.text}"
            ruling = self._read(completion, order, answers)
        return Judgment(
            id=content_id("judgment", self._run_id, self.name, pair.id, arm, order, rejected_text, draw),
            run_id=self._run_id,
            pair_id=pair.id,
            arm=arm,
            order=order,
            verdict=ruling.verdict,
            judge=self.name,
            perturbation_id=perturbation_id,
            p_rejected=ruling.p_rejected,
            tie_mass=ruling.tie_mass,
            reasoning=reasoning,
            request_id=completion.request_id,
            draw=draw,
        )

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

    def _read(self, completion: Completion, order: Order, answers: tuple[str, str]) -> _Ruling:
        if self.mode == "reasoning":
            return _Ruling(_verdict(parse_verdict("brackets", completion.text, answers=answers).value, order))
        letters = read_letter_logprobs(completion.token_logprobs)
        if letters is None:
            return _Ruling(_verdict(parse_verdict("letter", completion.text).value, order))
        p_rejected = letters.p_first
        if p_rejected is not None and order == "chosen_first":
            p_rejected = 1 - p_rejected
        return _Ruling(_verdict(letters.outcome, order), p_rejected, letters.tie_mass)

    def _reasons(self, completion: Completion) -> str:
        """The text; with the model's thinking before it when the text is little more than a marker."""
        brief = self.mode == "reasoning" and len(completion.text) < 40 and completion.reasoning
        return f"{completion.reasoning}\n\n{completion.text}" if brief else completion.text


def _verdict(value: Outcome | float | None, order: Order) -> Verdict:
    if value == "tie":
        return "tie"
    if value not in ("first", "second"):
        return "invalid"
    return "chosen" if (value == "first") == (order == "chosen_first") else "rejected"
