"""Train a scorer of answers: the chosen one against the original and the biased rejected ones (METHOD section 7)."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch
from peft import get_peft_model
from transformers import Trainer, TrainingArguments

from ..core.errors import DataError
from .fit import Materials, Tell, Trained, config_of, fit
from .losses import bradley_terry, infonce
from .models import adapters, load_scorer
from .settings import RewardSettings
from .texts import Encoded, scored

FILES = ("negatives.jsonl", "negatives_validation.jsonl")


def train_reward(settings: RewardSettings, tell: Tell | None = None) -> Trained:
    """Train on rows with prompt, chosen, rejected (list) and biases (list; empty for the original rejected answer).

    Raises ConfigError and DataError.
    """

    def make(materials: Materials) -> Any:
        tokenizer = materials.tokenizer
        model = load_scorer(materials.model, settings.precision, tokenizer.pad_token_id)
        if (lora := adapters(settings.lora, scorer=True)) is not None:
            model = get_peft_model(model, lora)

        def usable(row: dict[str, Any]) -> bool:
            return bool(kept_negatives(row["rejected"], row["biases"], settings))

        train, validation = (s and s.filter(usable) for s in materials.split[:2])
        if not len(train):
            raise DataError(f"{settings.data}: no row has a rejected answer of the kind {settings.negatives!r}")
        return _ContrastTrainer(
            settings,
            model=model,
            args=config_of(TrainingArguments, materials.arguments, remove_unused_columns=False, label_names=["there"]),
            train_dataset=train,
            eval_dataset=validation,
            processing_class=tokenizer,
            data_collator=_Collator(tokenizer, settings),
        )

    return fit(settings, FILES, ("prompt", "chosen", "rejected", "biases"), make, tell)


def kept_negatives(rejected: Sequence[str], biases: Sequence[str], settings: RewardSettings) -> list[str]:
    """The rejected answers of a row that are trained on, the original one first."""
    ordered = sorted(zip(biases, rejected, strict=True), key=lambda one: one[0] != "")
    kept = [
        text
        for bias, text in ordered
        if settings.negatives == "all" or (settings.negatives == "original") != bool(bias)
    ]
    return kept[: settings.max_negatives]


class _Collator:
    """Rows to one padded batch of texts (chosen, then its rejected ones, row by row) and who belongs to whom."""

    def __init__(self, tokenizer: Any, settings: RewardSettings) -> None:
        self._tokenizer = tokenizer
        self._settings = settings

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        texts: list[Encoded] = []
        negatives = [kept_negatives(row["rejected"], row["biases"], self._settings) for row in rows]
        for row, others in zip(rows, negatives, strict=True):
            for answer in (row["chosen"], *others):
                texts.append(scored(self._tokenizer, row["prompt"], answer, self._settings.max_length))
        batch = self._tokenizer.pad(texts, padding_side="right", return_tensors="pt")
        there = torch.zeros((len(rows), max(map(len, negatives))), dtype=torch.bool)
        for k, others in enumerate(negatives):
            there[k, : len(others)] = True
        return {**batch, "there": there}


class _ContrastTrainer(Trainer):
    def __init__(self, settings: RewardSettings, **options: Any) -> None:
        super().__init__(**options)
        self._settings = settings
        self._seen: dict[str, list[float]] = defaultdict(list)
        self.model_accepts_loss_kwargs = False  # the loss is a mean over rows already

    def compute_loss(
        self, model: Any, inputs: dict[str, torch.Tensor], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        there = inputs["there"]
        read = {name: values for name, values in inputs.items() if name != "there"}
        scores = model(**read).logits[:, 0].float()
        whole = torch.cat([torch.ones_like(there[:, :1]), there], dim=1)
        table = torch.zeros(whole.shape, device=scores.device).masked_scatter(whole, scores)
        chosen, rejected = table[:, 0], table[:, 1:]
        if self._settings.objective == "infonce":
            loss = infonce(chosen, rejected, there, self._settings.temperature)
        else:
            loss = bradley_terry(chosen, rejected, there)
        with torch.no_grad():
            worst = rejected.masked_fill(~there, -torch.inf).amax(dim=1)
            rows = there.any(dim=1)
            margins = self.accelerator.gather_for_metrics((chosen - worst)[rows])
            prefix = "" if model.training else "eval_"
            self._seen[f"{prefix}accuracy"] += (margins > 0).float().tolist()
            self._seen[f"{prefix}margin"] += margins.tolist()
        return (loss, {"scores": table}) if return_outputs else loss

    def log(self, logs: dict[str, float], *arguments: Any, **options: Any) -> None:
        prefix = "eval_" if any(name.startswith("eval_") for name in logs) else ""
        for name in (f"{prefix}accuracy", f"{prefix}margin"):
            if values := self._seen.pop(name, None):
                logs[name] = sum(values) / len(values)
        super().log(logs, *arguments, **options)

    def prediction_step(self, model: Any, inputs: Any, *_: Any, **__: Any) -> tuple[torch.Tensor, None, None]:
        with torch.no_grad():
            return self.compute_loss(model, self._prepare_inputs(inputs)).detach(), None, None
