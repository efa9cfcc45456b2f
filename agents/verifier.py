"""The verifier checks rewrites: is the final answer still the same, and does the text show the bias."""

import random
from typing import Literal

from pydantic import BaseModel

from ..core.calls import Model, Stage
from ..core.ids import seed_from
from ..core.records import Bias
from ..prompts import render
from .engines.ask import ask_json
from .wording import described

SameAnswer = Literal["same", "different", "unsure"]


class _Sameness(BaseModel):
    verdict: SameAnswer


class _Shown(BaseModel):
    shows_more: Literal[1, 2]


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
