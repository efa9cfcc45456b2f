"""What can be set when a model is trained: one YAML file for each of DPO, SFT, GRPO and scorers."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class LoraSettings(BaseModel):
    """Low-rank adapters in place of full training."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    r: int = Field(16, ge=1)
    """Rank."""
    alpha: int = Field(32, ge=1)
    """Scale; the adapter's output is multiplied by alpha / r."""
    dropout: float = Field(0.0, ge=0, lt=1)
    """Dropout on the adapter's input."""
    targets: Literal["all-linear"] | tuple[str, ...] = "all-linear"
    """Modules that get an adapter."""
    merge: bool = False
    """Write the whole model at the end instead of the adapter alone."""


class TrainingSettings(BaseModel):
    """What every kind of training can be told."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(min_length=1)
    """A folder in Hugging Face format, a hub name, or a .gguf file."""
    data: Path
    """Folder that `biasscope dpo build` or `biasscope augment` wrote, or a JSON lines file."""
    output: Path
    """Folder for checkpoints, logs and the trained model. A training is resumed by naming it again."""
    validation: Path | None = None
    """JSON lines file to evaluate on; None: the validation file of the data folder, if there is one."""
    limit: int | None = Field(None, ge=1)
    """Train on the first so many rows only."""
    lora: LoraSettings | None = None
    """Train low-rank adapters; None trains all weights."""
    epochs: float = Field(1.0, gt=0)
    """Passes over the data."""
    max_steps: int | None = Field(None, ge=1)
    """Stop after so many optimiser steps, whatever `epochs` says."""
    batch_size: int = Field(2, ge=1)
    """Rows on each device at a time."""
    accumulate: int = Field(8, ge=1)
    """Batches per optimiser step."""
    learning_rate: float = Field(5e-6, gt=0)
    """Peak learning rate."""
    scheduler: Literal["linear", "cosine", "constant", "constant_with_warmup"] = "cosine"
    """How the learning rate falls."""
    warmup: float = Field(0.05, ge=0, lt=1)
    """Share of the steps in which it rises."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """auto: bf16 where the device has it, else fp32."""
    cpu: bool = False
    """Stay on the CPU even where there is a GPU."""
    activation_checkpointing: bool = False
    """Less memory for about a third more time."""
    save_every: int = Field(50, ge=1)
    """Optimiser steps between checkpoints."""
    keep: int = Field(2, ge=1)
    """Checkpoints that are kept."""
    log_every: int = Field(5, ge=1)
    """Optimiser steps between lines of the log."""
    evaluate: bool = True
    """Evaluate before and after on the validation rows, where there are any."""
    evaluate_every: int | None = Field(None, ge=1)
    """Optimiser steps between further evaluations; None: none."""
    seed: int = 0
    """Seed of order, adapters and sampling."""
    trainer: dict[str, Any] = Field(default_factory=dict)
    """Further arguments of TRL's configuration class, such as {"deepspeed": "zero2.json"} or {"use_vllm": true}."""


class DpoSettings(TrainingSettings):
    """Direct preference optimisation on pairs (TRL's DPOTrainer)."""

    kind: Literal["train-dpo"] = "train-dpo"
    """What kind of training this is."""
    beta: float = Field(0.1, gt=0)
    """How strongly the model is held to where it began."""
    loss: tuple[str, ...] = ("sigmoid",)
    """TRL's loss types; several are added up."""
    max_length: int | None = Field(1024, ge=16)
    """Most tokens of prompt and answer; the end is cut off. None: no limit."""


class SftSettings(TrainingSettings):
    """Supervised fine-tuning on the teacher's reasoning: the cold start before GRPO."""

    kind: Literal["train-sft"] = "train-sft"
    """What kind of training this is."""
    learning_rate: float = Field(1e-5, gt=0)
    """Peak learning rate."""
    max_length: int | None = Field(2048, ge=16)
    """Most tokens of prompt and answer; the end is cut off. None: no limit."""


class GrpoSettings(TrainingSettings):
    """Group relative policy optimisation of a judge that reasons (TRL's GRPOTrainer).

    Reward: 0.9 for the right verdict and 0.1 for the format (METHOD section 7).
    """

    kind: Literal["train-grpo"] = "train-grpo"
    """What kind of training this is."""
    learning_rate: float = Field(1e-6, gt=0)
    """Peak learning rate."""
    group: int = Field(8, ge=2)
    """Answers sampled for every prompt; batch_size times devices times accumulate must be a multiple of it."""
    max_answer: int = Field(512, ge=1)
    """Most tokens of a sampled answer."""
    temperature: float = Field(1.0, gt=0)
    """Of sampling."""
    beta: float = Field(0.04, ge=0)
    """Weight of the KL divergence from where the model began; 0 needs no reference model."""
    verdict_weight: float = Field(0.9, ge=0)
    """Reward for the right verdict."""
    format_weight: float = Field(0.1, ge=0)
    """Reward for reasoning first and the verdict alone on the last line."""


class RewardSettings(TrainingSettings):
    """A scorer of single answers, trained on a chosen answer against one or more rejected ones."""

    kind: Literal["train-reward"] = "train-reward"
    """What kind of training this is."""
    objective: Literal["infonce", "bradley-terry"] = "infonce"
    """infonce: the chosen answer against all rejected ones at once; bradley-terry: against each by itself."""
    temperature: float = Field(1.0, gt=0)
    """Scores are divided by it in InfoNCE."""
    negatives: Literal["all", "original", "biased"] = "all"
    """Rejected answers that are trained on; original alone is training that knows nothing of biases."""
    max_negatives: int | None = Field(None, ge=1)
    """At most so many of a row, the original one first."""
    learning_rate: float = Field(1e-5, gt=0)
    """Peak learning rate."""
    max_length: int = Field(1024, ge=16)
    """Most tokens of prompt and answer; the beginning is cut off."""
