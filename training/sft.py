"""Supervised fine-tuning on judging prompts and the teacher's reasoning: the cold start before GRPO."""

from typing import Any

from trl import SFTConfig, SFTTrainer

from .fit import Materials, Tell, Trained, config_of, fit
from .models import adapters, load_writer
from .settings import SftSettings

FILES = ("cold_start.jsonl", "cold_start_validation.jsonl")


def train_sft(settings: SftSettings, tell: Tell | None = None) -> Trained:
    """Train on rows with prompt and completion as lists of messages. Raises ConfigError and DataError."""

    def make(materials: Materials) -> Any:
        arguments = config_of(SFTConfig, materials.arguments, max_length=settings.max_length, completion_only_loss=True)
        return SFTTrainer(
            model=load_writer(materials.model, settings.precision),
            args=arguments,
            train_dataset=materials.split.train,
            eval_dataset=materials.split.validation,
            processing_class=materials.tokenizer,
            peft_config=adapters(settings.lora),
        )

    return fit(settings, FILES, ("prompt", "completion"), make, tell)
