"""Direct preference optimisation (Rafailov et al. 2023) on biased pairs, with TRL."""

from typing import Any

from trl import DPOConfig, DPOTrainer

from .files import fitting
from .fit import Materials, Tell, Trained, config_of, fit
from .models import adapters, load_writer
from .settings import DpoSettings

FILES = ("train.jsonl", "validation.jsonl")


def train_dpo(settings: DpoSettings, tell: Tell | None = None) -> Trained:
    """Train on rows with prompt, chosen and rejected as lists of messages. Raises ConfigError and DataError."""

    def make(materials: Materials) -> Any:
        train, validation = (
            fitting(rows, materials.tokenizer, ("chosen", "rejected"), settings.max_length)
            for rows in (materials.split.train, materials.split.validation)
        )
        arguments = config_of(
            DPOConfig,
            materials.arguments,
            beta=settings.beta,
            loss_type=list(settings.loss),
            max_length=settings.max_length,
        )
        return DPOTrainer(
            model=load_writer(materials.model, settings.precision),
            args=arguments,
            train_dataset=train,
            eval_dataset=validation,
            processing_class=materials.tokenizer,
            peft_config=adapters(settings.lora),
        )

    return fit(settings, FILES, ("prompt", "chosen", "rejected"), make, tell)
