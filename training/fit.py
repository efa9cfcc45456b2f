"""Drive a trainer: arguments, resuming, logs, the trained model and the outcome, the same for all kinds."""

import math
import warnings
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import torch
from accelerate import PartialState
from accelerate.utils import broadcast_object_list
from transformers import PrinterCallback, TrainerCallback
from transformers.integrations import TensorBoardCallback
from transformers.utils.logging import disable_progress_bar

from ..core.errors import BiasScopeError, ConfigError
from .files import Split, read_split
from .folder import TrainingFolder
from .models import bf16_here, load_tokenizer, local_folder
from .settings import TrainingSettings

Tell = Callable[[dict[str, Any]], None]
_VERSIONS = ("torch", "transformers", "trl", "peft", "accelerate")


class Materials(NamedTuple):
    """What a trainer is made of."""

    model: str
    """Folder or hub name to load from."""
    tokenizer: Any
    split: Split
    arguments: dict[str, Any]
    """For TRL's configuration class: what all kinds share."""


class Trained(NamedTuple):
    """How a training ended."""

    folder: TrainingFolder
    result: dict[str, Any]
    """steps; rows and rows_used (those that fit); resumed_from; first and last values of what was logged (`logged`);
    evaluation `before` and `after`."""
    again: bool
    """It had ended before, and nothing was done."""
    leads: bool
    """Whether this is the process that writes; the others of a distributed training say nothing."""


def fit(
    settings: TrainingSettings,
    names: tuple[str, str],
    needed: Sequence[str],
    make: Callable[[Materials], Any],
    tell: Tell | None = None,
) -> Trained:
    """Train, or go on with a training, to its end. `make` builds the trainer; `tell` hears every line of the log.

    Under `accelerate launch` every process calls this; the first one writes. Raises ConfigError and DataError.
    """
    with warnings.catch_warnings():
        # The libraries' notes to each other on names that will change.
        warnings.filterwarnings("ignore", category=FutureWarning, module=r"(trl|transformers|peft|accelerate)\b")
        torch.set_flush_denormal(True)  # denormal numbers make a CPU crawl
        try:
            return _fit(settings, names, needed, make, tell)
        finally:
            torch.set_flush_denormal(False)  # what else this process computes keeps IEEE arithmetic


def _fit(
    settings: TrainingSettings,
    names: tuple[str, str],
    needed: Sequence[str],
    make: Callable[[Materials], Any],
    tell: Tell | None,
) -> Trained:
    folder = TrainingFolder(settings.output.expanduser().resolve())
    disable_progress_bar()
    state = PartialState(cpu=settings.cpu)
    split = _first(
        state,
        lambda: read_split(settings.data, names, needed, folder.path / "cache", settings.validation, settings.limit),
    )
    _first(state, lambda: folder.check(settings, split.hashes))
    if (known := folder.ended()) is not None:
        return Trained(folder, known, again=True, leads=state.is_main_process)
    source = _first(state, lambda: local_folder(settings.model, folder.base))
    tokenizer = load_tokenizer(source)
    try:
        trainer = make(Materials(source, tokenizer, split, _arguments(settings, folder.path)))
    except ValueError as error:  # TRL and PEFT refuse what does not go together, such as adapters on what is not there
        raise ConfigError(f"the training cannot be set up: {' '.join(str(error).split())[:300]}") from None
    if state.is_main_process:
        folder.begin(settings, split.hashes, _versions())
    trainer.remove_callback(PrinterCallback)
    if state.is_main_process:
        trainer.add_callback(_Teller(tell))
        board = TensorBoardCallback()
        board.logging_dir = str(folder.path / "tensorboard")
        trainer.add_callback(board)
    checkpoint = _first(state, folder.checkpoint)
    evaluate = settings.evaluate and split.validation is not None
    before = folder.before(lambda: _numbers(trainer.evaluate()), state.is_main_process) if evaluate else None
    outcome = trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    result = {
        "steps": outcome.global_step,
        "rows": len(split.train),
        "rows_used": len(trainer.train_dataset),
        "resumed_from": int(checkpoint.name.partition("-")[2]) if checkpoint else 0,
        "logged": _ends(trainer.state.log_history),
        "before": before,
        "after": _numbers(trainer.evaluate()) if evaluate else None,
    }
    _save(settings, folder, trainer, tokenizer, state)
    if state.is_main_process:
        (folder.path / "README.md").unlink(missing_ok=True)  # TRL's model card, which knows neither model nor data
        folder.end(result)
    state.wait_for_everyone()
    return Trained(folder, result, again=False, leads=state.is_main_process)


def _arguments(settings: TrainingSettings, output: Path) -> dict[str, Any]:
    bf16 = bf16_here(settings.precision, settings.cpu)
    evaluate = {"eval_strategy": "steps", "eval_steps": settings.evaluate_every} if settings.evaluate_every else {}
    return {
        "output_dir": str(output),
        "num_train_epochs": settings.epochs,
        "max_steps": settings.max_steps or -1,
        "per_device_train_batch_size": settings.batch_size,
        "per_device_eval_batch_size": settings.batch_size,
        "gradient_accumulation_steps": settings.accumulate,
        "learning_rate": settings.learning_rate,
        "lr_scheduler_type": settings.scheduler,
        "warmup_steps": settings.warmup,
        "bf16": bf16,
        "use_cpu": settings.cpu,
        "activation_checkpointing": settings.activation_checkpointing,
        "save_strategy": "steps",
        "save_steps": settings.save_every,
        "save_total_limit": settings.keep,
        "logging_steps": settings.log_every,
        "logging_first_step": True,
        "seed": settings.seed,
        "data_seed": settings.seed,
        "report_to": [],
        "disable_tqdm": True,
        **evaluate,
        **settings.trainer,
    }


def config_of(kind: Any, arguments: dict[str, Any], **more: Any) -> Any:
    """TRL's configuration object; ConfigError when `trainer` names an argument that it does not know."""
    try:
        return kind(**{**more, **arguments})
    except (TypeError, ValueError) as error:
        raise ConfigError(f"trainer: {' '.join(str(error).split())[:200]}") from None


class _Teller(TrainerCallback):
    def __init__(self, tell: Tell | None) -> None:
        self._tell = tell

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        if self._tell and logs:
            self._tell({"step": state.global_step, "steps": state.max_steps, **_numbers(logs)})


def _save(settings: TrainingSettings, folder: TrainingFolder, trainer: Any, tokenizer: Any, state: Any) -> None:
    if settings.lora is not None and settings.lora.merge:
        if state.is_main_process:
            trainer.accelerator.unwrap_model(trainer.model).merge_and_unload().save_pretrained(folder.model)
    else:
        trainer.save_model(str(folder.model))
    if state.is_main_process:
        tokenizer.save_pretrained(folder.model)


def _first(state: Any, work: Callable[[], Any]) -> Any:
    """`work` by the first process, then by the others: what writes must not race, and all need the result."""
    error: list[BiasScopeError | None] = [None]
    found = None
    if state.is_main_process:
        try:
            found = work()
        except BiasScopeError as raised:
            error = [raised]
    if state.num_processes > 1:
        broadcast_object_list(error)
    if error[0] is not None:
        raise error[0]
    return found if state.is_main_process else work()


def _ends(history: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    """First and last logged value of everything that was logged more than once."""
    seen: dict[str, list[float]] = {}
    for line in history:
        for name, value in _numbers(line).items():
            seen.setdefault(name, []).append(value)
    return {name: [values[0], values[-1]] for name, values in seen.items() if len(values) > 1}


def _numbers(line: dict[str, Any]) -> dict[str, float]:
    return {k: float(v) for k, v in line.items() if isinstance(v, int | float) and math.isfinite(v)}


def _versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in _VERSIONS}
