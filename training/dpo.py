"""Direct preference optimisation (Rafailov et al. 2023) on biased pairs, with TRL."""

from typing import Any

from trl import DPOConfig, DPOTrainer

from .fit import Materials, Tell, Trained, config_of, fit
from .models import adapters, load_writer
from .settings import DpoSettings

FILES = ("train.jsonl", "validation.jsonl")


def train_dpo(settings: DpoSettings, tell: Tell | None = None) -> Trained:
    """Train on rows with prompt, chosen and rejected as lists of messages. Raises ConfigError and DataError."""

    def make(materials: Materials) -> Any:
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
            train_dataset=materials.split.train,
            eval_dataset=materials.split.validation,
            processing_class=materials.tokenizer,
            peft_config=adapters(settings.lora),
        )

    return fit(settings, FILES, ("prompt", "chosen", "rejected"), make, tell)
