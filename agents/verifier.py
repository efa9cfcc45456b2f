"""The verifier checks rewrites: same final answer, the bias to be seen, the better answer still the better one."""

import random
from collections.abc import Mapping
from typing import Literal, Protocol

from pydantic import BaseModel

from ..bias_library.features import Feature, nearest_feature
from ..core.calls import Model, Stage
from ..core.errors import CallFailed
from ..core.ids import seed_from
from ..core.records import Bias, PreferencePair
from ..prompts import render
from .engines.ask import ask_json
from .wording import described

SameAnswer = Literal["same", "different", "unsure"]


class Verifier(Protocol):
    """Anything that can check rewrites."""

    async def same_answer(self, question: str, answer_a: str, answer_b: str, *, stage: Stage) -> SameAnswer:
        """Whether both reach the same final answer. Raises CallFailed."""
        ...

    async def shows_more(
        self, bias: Bias, question: str, placebo_text: str, bias_text: str, seed: int, *, stage: Stage
    ) -> bool:
        """Whether `bias_text` shows more of the bias than `placebo_text`. Raises CallFailed."""
        ...


class LLMVerifier:
    """A verifier that asks a model."""

    def __init__(self, model: Model) -> None:
        self.model = model

    async def same_answer(self, question: str, answer_a: str, answer_b: str, *, stage: Stage) -> SameAnswer:
        """As the protocol says."""
        return await same_answer(self.model, question, answer_a, answer_b, stage=stage)

    async def shows_more(
        self, bias: Bias, question: str, placebo_text: str, bias_text: str, seed: int, *, stage: Stage
    ) -> bool:
        """As the protocol says. Which text comes first is drawn from `seed` and the content."""
        return await shows_more(self.model, bias, placebo_text, bias_text, seed, stage=stage)


class RulesVerifier:
    """A verifier that measures, without a model: a bias by the feature that writes it. It knows no final answers."""

    def __init__(self, features: Mapping[str, Feature]) -> None:
        self._features = features

    async def same_answer(self, question: str, answer_a: str, answer_b: str, *, stage: Stage) -> SameAnswer:
        """Always unsure."""
        return "unsure"

    async def shows_more(
        self, bias: Bias, question: str, placebo_text: str, bias_text: str, seed: int, *, stage: Stage
    ) -> bool:
        """Whether the feature's measure is higher. Raises CallFailed('no_recipe') for a bias without a feature."""
        feature = nearest_feature(bias.name, bias.definition, self._features)
        if feature is None:
            raise CallFailed("no_recipe", f"no feature of the lexicon measures {bias.name!r}: give a verifier model")
        return feature.measure(bias_text, question) > feature.measure(placebo_text, question)


class _Sameness(BaseModel):
    verdict: SameAnswer


class _Shown(BaseModel):
    shows_more: Literal[1, 2]


class _Better(BaseModel):
    better: Literal[0, 1, 2]


async def same_answer(
    model: Model,
    question: str,
    answer_a: str,
    answer_b: str,
    *,
    stage: Stage = "validate",
    temperature: float | None = 0.0,
    max_tokens: int = 64,
    seed: int | None = 0,
) -> SameAnswer:
    """Whether both reach the same final answer. Against the chosen answer `same` means: has become right.

    Raises CallFailed.
    """
    prompt = render("verify_answer", question=question, answer_a=answer_a, answer_b=answer_b)
    reply, _ = await ask_json(
        model,
        prompt.messages,
        _Sameness,
        role="verifier",
        stage=stage,
        max_tokens=max_tokens,
        temperature=temperature,
        seed=seed,
    )
    return reply.verdict


async def shows_more(
    model: Model,
    bias: Bias,
    placebo_text: str,
    bias_text: str,
    seed: int,
    *,
    stage: Stage = "validate",
    temperature: float | None = 0.0,
    max_tokens: int = 64,
    sampling_seed: int | None = 0,
) -> bool:
    """Whether the verifier finds more of `bias` in `bias_text` than in `placebo_text` (manipulation check).

    Which text comes first is drawn from `seed` and the content. Raises CallFailed.
    """
    draw = random.Random(seed_from("shows_more", seed, bias.id, placebo_text, bias_text))
    bias_first = draw.random() < 0.5
    texts = (bias_text, placebo_text) if bias_first else (placebo_text, bias_text)
    wanted = described(bias.name, bias.definition, bias.manifestation)
    prompt = render("verify_manipulation", bias=wanted, text_1=texts[0], text_2=texts[1])
    reply, _ = await ask_json(
        model,
        prompt.messages,
        _Shown,
        role="verifier",
        stage=stage,
        max_tokens=max_tokens,
        temperature=temperature,
        seed=sampling_seed,
    )
    return (reply.shows_more == 1) == bias_first


async def prefers_chosen(
    model: Model,
    pair: PreferencePair,
    seed: int,
    *,
    stage: Stage = "audit",
    temperature: float | None = 0.0,
    max_tokens: int = 64,
    sampling_seed: int | None = 0,
) -> bool:
    """Whether the verifier finds the chosen answer better in substance (consistency filter; JudgeBiasBench 3.3.3).

    Which answer comes first is drawn from `seed` and the content. Raises CallFailed.
    """
    draw = random.Random(seed_from("prefers_chosen", seed, pair.prompt, pair.chosen, pair.rejected))
    chosen_first = draw.random() < 0.5
    answers = (pair.chosen, pair.rejected) if chosen_first else (pair.rejected, pair.chosen)
    prompt = render("verify_preference", question=pair.prompt, answer_1=answers[0], answer_2=answers[1])
    reply, _ = await ask_json(
        model,
        prompt.messages,
        _Better,
        role="verifier",
        stage=stage,
        max_tokens=max_tokens,
        temperature=temperature,
        seed=sampling_seed,
    )
    return reply.better == (1 if chosen_first else 2)
