"""How the model behind a judge is asked."""

from dataclasses import dataclass

from ...core.calls import Completion, Message, Model, Request, Stage
from ...core.errors import CallFailed
from ..engines.answers import FEW_TOKENS


@dataclass(frozen=True)
class Voice:
    """A model and its sampling. With a repetition the seed moves on, so that they differ where decoding is random."""

    model: Model
    max_tokens: int = 1024
    top_logprobs: int = 0
    temperature: float | None = 0.0
    seed: int | None = 0

    @property
    def brief(self) -> bool:
        """Whether the reply is a token or a few, and no reasons."""
        return self.max_tokens <= FEW_TOKENS

    async def ask(self, messages: tuple[Message, ...], stage: Stage, draw: int = 0) -> Completion:
        """The reply. Raises CallFailed from the model."""
        request = Request(
            model=self.model.name,
            messages=messages,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            seed=None if self.seed is None else self.seed + draw,
            top_logprobs=self.top_logprobs,
            draw=draw,
            role="judge",
            stage=stage,
        )
        try:
            return await self.model.complete(request)
        except CallFailed as failure:
            # A verdict of one token is cut off by its own limit where the endpoint has no log-probabilities to give.
            if self.brief and failure.kind == "truncated" and failure.raw:
                return Completion(request_id=request.id, text=failure.raw, finish_reason="length")
            raise

    def reasons(self, completion: Completion) -> str:
        """The text; with the model's thinking before it when the text is little more than a marker."""
        short = not self.brief and len(completion.text) < 40 and completion.reasoning
        return f"{completion.reasoning}\n\n{completion.text}" if short else completion.text
