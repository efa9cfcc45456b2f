"""The teacher rewrites rejected answers: with a bias, and without one as the placebo."""

import re
from typing import Protocol

from pydantic import BaseModel

from ..core.calls import Model, Request, Stage
from ..core.errors import CallFailed
from ..core.ids import content_id
from ..core.records import PLACEBO, Bias, Perturbation, PreferencePair, bias_arm
from ..core.words import word_count
from ..prompts import Prompt, fence, render
from .engines.ask import ask_json
from .wording import described

_WORD = re.compile(r"\w+")
_LONG_ENOUGH, _KEPT_LENGTH, _KEPT_WORDS = 20, 0.4, 0.2


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
    """A teacher that asks a model. `max_tokens` bounds what one rewrite may take.

    `short` asks in a few plain lines and takes the reply as it is, for models that lose the thread of long instructions
    (under about a billion parameters).
    """

    def __init__(
        self,
        model: Model,
        run_id: str,
        *,
        temperature: float | None = 0.0,
        max_tokens: int = 4096,
        seed: int | None = 0,
        short: bool = False,
    ) -> None:
        self.model = model
        self._run_id = run_id
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._seed = seed
        self._short = short

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    async def perturb(self, pair: PreferencePair, bias: Bias, *, stage: Stage) -> Perturbation:
        """As the protocol says."""
        wanted = described(bias.name, bias.definition, bias.manifestation)
        if self._short:
            wanted = bias.manifestation or bias.definition
        return await self._rewrite(pair, self._prompt("perturb", pair, bias=wanted), bias_arm(bias.id), stage, 0)

    async def placebo(self, pair: PreferencePair, *, stage: Stage, draw: int = 0) -> Perturbation:
        """As the protocol says. `draw` moves the seed on: another rewrite where decoding is random."""
        return await self._rewrite(pair, self._prompt("placebo", pair), PLACEBO, stage, draw)

    def _prompt(self, name: str, pair: PreferencePair, **fields: str) -> Prompt:
        if self._short:
            return render(f"{name}_short", answer=pair.rejected, **fields)
        return render(
            name, question=pair.prompt, answer=pair.rejected, words=max(1, word_count(pair.rejected)), **fields
        )

    async def _reply(self, pair: PreferencePair, prompt: Prompt, stage: Stage, draw: int) -> tuple[str, str]:
        max_tokens = min(self._max_tokens, rewrite_tokens(pair.rejected))
        seed = None if self._seed is None else self._seed + draw
        if self._short:
            completion = await self.model.complete(
                Request(
                    model=self.model.name,
                    messages=prompt.messages,
                    temperature=self._temperature,
                    max_tokens=max_tokens,
                    seed=seed,
                    draw=draw,
                    role="teacher",
                    stage=stage,
                )
            )
            return completion.text, completion.request_id
        reply, request_id = await ask_json(
            self.model,
            prompt.messages,
            _Rewrite,
            role="teacher",
            stage=stage,
            max_tokens=max_tokens,
            temperature=self._temperature,
            seed=seed,
            draw=draw,
        )
        return reply.rewritten_answer, request_id

    async def _rewrite(self, pair: PreferencePair, prompt: Prompt, arm: str, stage: Stage, draw: int) -> Perturbation:
        reply, request_id = await self._reply(pair, prompt, stage, draw)
        text = checked_rewrite(reply, pair.rejected, pair.prompt, request_id)
        return rewritten(self._run_id, pair, arm, text, self.name, draw, request_id)


def rewritten(
    run_id: str, pair: PreferencePair, arm: str, text: str, teacher: str, draw: int, request_id: str = ""
) -> Perturbation:
    """A rewrite as it is kept, whoever made it; `request_id` is empty where no model was asked."""
    return Perturbation(
        id=content_id("perturbation", run_id, pair.id, arm, teacher, draw),
        run_id=run_id,
        pair_id=pair.id,
        arm=arm,
        text=text,
        teacher=teacher,
        request_id=request_id,
    )


def checked_rewrite(reply: str, answer: str, question: str, request_id: str) -> str:
    """The rewrite of `answer` in a reply, without the tags of its prompt.

    Raises CallFailed: `empty`, `unchanged`, or `not_a_rewrite` for a text that has lost most of the answer.
    """
    text = _without_tags(reply, answer, question)
    if not text:
        raise CallFailed("empty", "the rewrite is empty", reply, request_id)
    if text.split() == answer.split():
        raise CallFailed("unchanged", "the rewrite is the same as the answer", text, request_id)
    if lost := _lost(answer, text):
        raise CallFailed("not_a_rewrite", lost, text, request_id)
    return text


def _lost(answer: str, text: str) -> str:
    """Why `text` cannot be a rewrite of `answer`; empty when it can. Short answers are not looked at.

    A weak teacher returns a remark, a fragment or the feature's description in place of the answer; judged as the
    rejected answer, such a text would measure its own emptiness and not the bias.
    """
    before, after = _WORD.findall(answer.casefold()), _WORD.findall(text.casefold())
    if len(before) < _LONG_ENOUGH:
        return ""
    if len(after) < _KEPT_LENGTH * len(before):
        words = "1 word" if len(after) == 1 else f"{len(after)} words"
        return f"the rewrite has {words}, the answer {len(before)}"
    telling = {word for word in before if len(word) > 3 or word.isdigit()}
    kept = len(telling & set(after)) / max(1, len(telling))
    return f"the rewrite keeps {kept:.0%} of the answer's words" if kept < _KEPT_WORDS else ""


def rewrite_tokens(answer: str) -> int:
    """Room for a rewrite: about twice the answer's tokens at four bytes each, and 256 for short ones."""
    return 256 + len(answer.encode("utf-8", "surrogatepass")) // 2


def _without_tags(text: str, answer: str, question: str) -> str:
    """The rewrite without the fence tags of its own prompt, which weak models copy."""
    for source, label in ((answer, "answer"), (question, "question")):
        opening, closing = fence(source, label).split(f"\n{source}\n")
        text = text.replace(opening, "").replace(closing, "")
    return text.strip()
