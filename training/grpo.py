"""Group relative policy optimisation (Shao et al. 2024) of a judge that reasons, with TRL (METHOD section 7)."""

from collections.abc import Callable
from typing import Any

from trl import GRPOConfig, GRPOTrainer

from .fit import Materials, Tell, Trained, config_of, fit
from .models import adapters, load_writer
from .settings import GrpoSettings

FILES = ("judging.jsonl", "judging_validation.jsonl")

Grade = Callable[[str, str, tuple[str, str]], bool]
"""Of a judge's text, the right letter and the two answers shown: whether it passes."""


def train_grpo(settings: GrpoSettings, right: Grade, well_formed: Grade, tell: Tell | None = None) -> Trained:
    """Train on rows with prompt (messages), right (A or B), answer_a and answer_b. Raises ConfigError and DataError.

    `right` and `well_formed` grade a sampled text; their weights are in the settings.
    """

    def make(materials: Materials) -> Any:
        arguments = config_of(
            GRPOConfig,
            materials.arguments,
            beta=settings.beta,
            num_generations=settings.group,
            max_completion_length=settings.max_answer,
            temperature=settings.temperature,
            reward_weights=[settings.verdict_weight, settings.format_weight],
        )
        return GRPOTrainer(
            model=load_writer(materials.model, settings.precision),
            reward_funcs=[_graded(right, "right_verdict"), _graded(well_formed, "format")],
            args=arguments,
            train_dataset=materials.split.train,
            eval_dataset=materials.split.validation,
            processing_class=materials.tokenizer,
            peft_config=adapters(settings.lora),
        )

    return fit(settings, FILES, ("prompt", "right", "answer_a", "answer_b"), make, tell)


def _graded(grade: Grade, name: str) -> Callable[..., list[float]]:
    def rewards(
        completions: list[list[dict[str, str]]],
        right: list[str],
        answer_a: list[str],
        answer_b: list[str],
        **_: Any,
    ) -> list[float]:
        texts = [messages[-1]["content"] for messages in completions]
        rows = zip(texts, right, zip(answer_a, answer_b, strict=True), strict=True)
        return [float(grade(text, letter, answers)) for text, letter, answers in rows]

    rewards.__name__ = name
    return rewards
