"""The pairwise LLM judge: reasoning and then a verdict, or a verdict only, read from token probabilities."""

from typing import Literal

from ...core.calls import Completion, Message, Model
from ...core.ids import content_id
from ...core.records import Judgment, Order, PreferencePair
from ...prompts import render
from ..verdicts import parse_verdict, read_letter_logprobs
from .prompting import Prompted
from .protocol import Ruling, RulingJudge, Said, Shown, letter_of, shown_answers, verdict_of
from .voice import Voice

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


def planted_id(planted: str | None) -> str:
    """What a planted instruction adds to a judge's name."""
    return f"+planted-{content_id(planted)[:8]}" if planted else ""


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
        self._voice = Voice(
            model,
            max_tokens or (1024 if mode == "reasoning" else 1),
            top_logprobs if mode == "verdict" else 0,
            temperature,
            seed,
        )
        self.gives_reasons = mode == "reasoning"
        self.gives_probabilities = self._voice.top_logprobs > 0

    @property
    def name(self) -> str:
        """Model, mode and, if any, the planted instruction's hash."""
        return f"{self.model.name}#{self.mode}{planted_id(self.planted)}"

    async def rule(self, shown: Shown) -> Ruling:
        """One verdict; `invalid` when it stays unreadable after one reminder, with the text as `reasoning`.

        Raises CallFailed from the model.
        """
        messages = self._messages(shown)
        completion = await self._voice.ask(messages, shown.stage, shown.draw)
        reasoning = self._voice.reasons(completion)
        ruling = self._read(completion, shown)
        if ruling.verdict == "invalid":
            unreadable = Message(role="assistant", content=completion.text[-_REPLAYED:])
            reminder = render("format_reminder", mode=self.mode).messages
            completion = await self._voice.ask((*messages, unreadable, *reminder), shown.stage, shown.draw)
            reasoning = f"{reasoning}\n\n{completion.text}"
            ruling = self._read(completion, shown)
        return ruling._replace(reasoning=reasoning, request_id=completion.request_id)

    async def said(self, shown: Shown, judgment: Judgment) -> Said:
        """The comparison and its verdict."""
        reply = judgment.reasoning if self.mode == "reasoning" else letter_of(judgment.verdict, judgment.order)
        return Said(self.model, (*self._messages(shown), Message(role="assistant", content=reply)))

    def _messages(self, shown: Shown) -> tuple[Message, ...]:
        return conversation(shown.pair, shown.rejected_text, shown.order, mode=self.mode, planted=self.planted)

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


class OwnPairwiseJudge(RulingJudge):
    """An LLM that sees both answers in a prompt of its user's, or in a preset's.

    It is audited as it is: what cannot be read is invalid, without a reminder that it does not get elsewhere.
    """

    def __init__(self, model: Model, run_id: str, prompt: Prompted) -> None:
        super().__init__(run_id)
        self.model = model
        self._prompt = prompt
        self._voice = Voice(model, prompt.max_tokens, prompt.top_logprobs)
        self.gives_reasons = not self._voice.brief
        self.gives_probabilities = prompt.top_logprobs > 0
        self.gives_scores = prompt.spec.preset == "judgelm"

    @property
    def name(self) -> str:
        """Model, prompt and the way it is read."""
        return f"{self.model.name}#pairwise+{self._prompt.name}"

    async def rule(self, shown: Shown) -> Ruling:
        """One verdict. Raises CallFailed from the model."""
        completion = await self._ask(shown)
        read = self._prompt.reader(completion, shown.answers)
        value = read.value if read.value in ("first", "second", "tie") else None
        ruling = Ruling(
            verdict_of(value, shown.order),  # type: ignore[arg-type]
            reasoning=self._voice.reasons(completion),
            request_id=completion.request_id,
            unread=read.reason,
        )
        chosen_first = shown.order == "chosen_first"
        if read.masses:
            first, second = (read.masses.get(side, 0.0) for side in ("first", "second"))
            if first + second > 0:
                rejected = second if chosen_first else first
                ruling = ruling._replace(p_rejected=rejected / (first + second))
            ruling = ruling._replace(tie_mass=min(read.masses.get("tie", 0.0), 1.0))
        if read.scores:
            chosen, rejected = read.scores if chosen_first else read.scores[::-1]
            ruling = ruling._replace(score_chosen=chosen, score_rejected=rejected)
        return ruling

    async def said(self, shown: Shown, judgment: Judgment) -> Said:
        """The comparison and its reply."""
        completion = await self._ask(shown)
        reply = Message(role="assistant", content=completion.text)
        return Said(self.model, (*self._prompt.messages(shown.pair, *shown.answers), reply))

    async def _ask(self, shown: Shown) -> Completion:
        return await self._voice.ask(self._prompt.messages(shown.pair, *shown.answers), shown.stage, shown.draw)
