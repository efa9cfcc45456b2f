"""Write a bias of the taxonomy into both answers of a pair: out of the chosen one, into the rejected one.

By edits of the feature lexicon, without a model, or by a model that is told in words what to change (JudgeBiasBench,
section 3.3.2). Context, position and identity are no rewriting: see audits.
"""

import random
from typing import NamedTuple, Protocol

from pydantic import BaseModel

from ..bias_library.features import weaken
from ..bias_library.taxonomy import TaxonomyBias
from ..core.calls import Model, Stage
from ..core.errors import CallFailed
from ..core.ids import seed_from
from ..core.records import PreferencePair
from ..core.words import word_count
from ..prompts import render
from .engines.ask import ask_json
from .rules_teacher import RulesTeacher
from .teacher import LLMTeacher, checked_rewrite, rewrite_tokens


class Injected(NamedTuple):
    """Both answers after an injection. The chosen one is as it was where it had nothing of the feature."""

    chosen: str
    rejected: str


class Injector(Protocol):
    """Anything that writes biases of the taxonomy into pairs."""

    @property
    def name(self) -> str:
        """Who writes."""
        ...

    async def inject(self, pair: PreferencePair, bias: TaxonomyBias, *, stage: Stage) -> Injected:
        """Both answers rewritten. Raises CallFailed, of kind `unchanged` when the rejected answer shows it already."""
        ...

    async def control(self, pair: PreferencePair, *, stage: Stage) -> Injected:
        """The rejected answer rewritten in the same way with no bias asked for. Raises CallFailed."""
        ...


class RulesInjector:
    """Edits: the same pair, bias and seed always give the same texts."""

    def __init__(self, run_id: str, *, seed: int = 0) -> None:
        self._teacher = RulesTeacher(run_id, seed=seed)
        self._seed = seed

    @property
    def name(self) -> str:
        """Always `rules`."""
        return self._teacher.name

    async def inject(self, pair: PreferencePair, bias: TaxonomyBias, *, stage: Stage) -> Injected:
        """As the protocol says."""
        rejected = await self._teacher.perturb(pair, bias.bias, stage=stage)
        rng = random.Random(seed_from("weaken", self._seed, pair.id, bias.name))
        chosen = weaken(bias.name, pair.chosen, rng, pair.prompt)
        return Injected(chosen if chosen.strip() else pair.chosen, rejected.text)

    async def control(self, pair: PreferencePair, *, stage: Stage) -> Injected:
        """As the protocol says: neutral sentences."""
        return Injected(pair.chosen, (await self._teacher.placebo(pair, stage=stage)).text)


class _Rewrite(BaseModel):
    rewritten_answer: str


class ModelInjector:
    """A model that rewrites each answer by the taxonomy's words for its side."""

    def __init__(self, model: Model, run_id: str, *, temperature: float | None = 0.0, seed: int | None = 0) -> None:
        self._model = model
        self._teacher = LLMTeacher(model, run_id, temperature=temperature, seed=seed)
        self._temperature = temperature
        self._seed = seed

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    async def inject(self, pair: PreferencePair, bias: TaxonomyBias, *, stage: Stage) -> Injected:
        """As the protocol says."""
        rejected = await self._rewrite(pair.prompt, pair.rejected, bias.rejected, bias, stage)
        try:
            chosen = await self._rewrite(pair.prompt, pair.chosen, bias.chosen, bias, stage)
        except CallFailed as failed:
            if failed.kind != "unchanged":
                raise
            chosen = pair.chosen
        return Injected(chosen, rejected)

    async def control(self, pair: PreferencePair, *, stage: Stage) -> Injected:
        """As the protocol says: a rewording."""
        return Injected(pair.chosen, (await self._teacher.placebo(pair, stage=stage)).text)

    async def _rewrite(self, question: str, answer: str, change: str, bias: TaxonomyBias, stage: Stage) -> str:
        about_length = bias.ratio is None
        prompt = render(
            "inject",
            question=question,
            answer=answer,
            words=max(1, word_count(answer)),
            change=change,
            keep_length=not about_length,
        )
        reply, request_id = await ask_json(
            self._model,
            prompt.messages,
            _Rewrite,
            role="teacher",
            stage=stage,
            max_tokens=rewrite_tokens(answer) * (2 if about_length else 1),
            temperature=self._temperature,
            seed=self._seed,
        )
        return checked_rewrite(reply.rewritten_answer, answer, question, request_id)
