"""The teacher rewrites rejected answers: with a bias, and without one as the placebo."""

from typing import Protocol

from pydantic import BaseModel

from ..core.calls import Model, Stage
from ..core.errors import CallFailed
from ..core.ids import content_id
from ..core.records import PLACEBO, Bias, Perturbation, PreferencePair, bias_arm
from ..prompts import Prompt, fence, render
from .engines.ask import ask_json
from .wording import described


class Teacher(Protocol):
    """Anything that can rewrite a rejected answer."""

    @property
    def name(self) -> str:
        """Identity in perturbations."""
        ...

    async def perturb(self, pair: PreferencePair, bias: Bias, *, stage: Stage) -> Perturbation:
        """The rejected answer rewritten so that it shows `bias`.

        Raises CallFailed, among others of kind `unchanged` or `empty`.
        """
        ...

    async def placebo(self, pair: PreferencePair, *, stage: Stage, draw: int = 0) -> Perturbation:
        """The rejected answer rewritten under the same constraints with no bias; the same for all biases."""
        ...


class _Rewrite(BaseModel):
    rewritten_answer: str


class LLMTeacher:
    """A teacher that asks a model. `max_tokens` bounds what one rewrite may take."""

    def __init__(
        self,
        model: Model,
        run_id: str,
        *,
        temperature: float | None = 0.0,
        max_tokens: int = 4096,
        seed: int | None = 0,
    ) -> None:
        self.model = model
        self._run_id = run_id
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._seed = seed

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    async def perturb(self, pair: PreferencePair, bias: Bias, *, stage: Stage) -> Perturbation:
        """As the protocol says."""
        wanted = described(bias.name, bias.definition, bias.manifestation)
        prompt = render("perturb", question=pair.prompt, answer=pair.rejected, words=_words(pair.rejected), bias=wanted)
        return await self._rewrite(pair, prompt, bias_arm(bias.id), stage, 0)

    async def placebo(self, pair: PreferencePair, *, stage: Stage, draw: int = 0) -> Perturbation:
        """As the protocol says. `draw` moves the seed on: another rewrite where decoding is random."""
        prompt = render("placebo", question=pair.prompt, answer=pair.rejected, words=_words(pair.rejected))
        return await self._rewrite(pair, prompt, PLACEBO, stage, draw)

    async def _rewrite(self, pair: PreferencePair, prompt: Prompt, arm: str, stage: Stage, draw: int) -> Perturbation:
        reply, request_id = await ask_json(
            self.model,
            prompt.messages,
            _Rewrite,
            role="teacher",
            stage=stage,
            max_tokens=min(self._max_tokens, rewrite_tokens(pair.rejected)),
            temperature=self._temperature,
            seed=None if self._seed is None else self._seed + draw,
            draw=draw,
        )
        text = _without_tags(reply.rewritten_answer, pair)
        if not text:
            raise CallFailed("empty", "the rewrite is empty", reply.rewritten_answer, request_id)
        if text.split() == pair.rejected.split():
            raise CallFailed("unchanged", "the rewrite is the same as the answer", text, request_id)
        return Perturbation(
            id=content_id("perturbation", self._run_id, pair.id, arm, self.name, draw),
            run_id=self._run_id,
            pair_id=pair.id,
            arm=arm,
            text=text,
            teacher=self.name,
            request_id=request_id,
        )


def rewrite_tokens(answer: str) -> int:
    """Room for a rewrite: about twice the answer's tokens at four bytes each, and 256 for short ones."""
    return 256 + len(answer.encode("utf-8", "surrogatepass")) // 2


def _words(answer: str) -> int:
    return max(1, len(answer.split()))


def _without_tags(text: str, pair: PreferencePair) -> str:
    """The rewrite without the fence tags of its own prompt, which weak models copy."""
    for source, label in ((pair.rejected, "answer"), (pair.prompt, "question")):
        opening, closing = fence(source, label).split(f"\n{source}\n")
        text = text.replace(opening, "").replace(closing, "")
    return text.strip()
