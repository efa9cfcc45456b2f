"""Models to train: from a folder, from the hub or from a GGUF file; with adapters or whole."""

import re
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, TaskType
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    GgufConfig,
)
from transformers.utils.logging import get_verbosity, set_verbosity, set_verbosity_error

from ..core.errors import ConfigError
from .needs import need_extra
from .settings import LoraSettings

_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")
ADAPTER = "adapter_config.json"


def local_folder(reference: str, converted: Path) -> str:
    """What transformers can load: a folder or hub name as it is; a GGUF file is converted into `converted` once.

    Raises ConfigError.
    """
    path = Path(reference).expanduser()
    if path.suffix == ".gguf":
        if not path.is_file():
            raise ConfigError(f"model: {reference!r} is no file here")
        return str(_from_gguf(path, converted))
    if path.is_dir():
        if not any((path / name).is_file() for name in ("config.json", ADAPTER)):
            raise ConfigError(f"model: {reference!r} holds no config.json; give a model's own folder")
        return str(path)
    if not _HUB_ID.fullmatch(reference) or reference.startswith("."):
        raise ConfigError(f"model: {reference!r} is no folder here and no hub name; write owner/name or a path")
    return reference


def load_tokenizer(folder: str) -> Any:
    """The tokenizer, with a padding token."""
    tokenizer = _loaded(AutoTokenizer, folder)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    return tokenizer


def load_writer(folder: str, precision: str) -> Any:
    """A model that writes, in training mode. An adapter's folder is loaded and merged into its base."""
    dtype = _dtype(precision)
    if (Path(folder) / ADAPTER).is_file():
        return merged(folder, dtype)
    return _loaded(AutoModelForCausalLM, folder, dtype=dtype)


def load_scorer(folder: str, precision: str, pad_token_id: int) -> Any:
    """A model that gives one number for a text; its head is new where the folder holds a model that writes."""
    found = _loaded(AutoModelForSequenceClassification, folder, dtype=_dtype(precision), num_labels=1)
    found.config.pad_token_id = pad_token_id
    return found


def merged(folder: str, dtype: torch.dtype = torch.float32) -> Any:
    """A model that writes from an adapter's folder, the adapter merged into its base."""
    config = LoraConfig.from_pretrained(folder)
    base = _loaded(AutoModelForCausalLM, str(config.base_model_name_or_path), dtype=dtype)
    return PeftModel.from_pretrained(base, folder).merge_and_unload()


def adapters(settings: LoraSettings | None, scorer: bool = False) -> LoraConfig | None:
    """PEFT's configuration, or None."""
    if settings is None:
        return None
    return LoraConfig(
        r=settings.r,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=settings.targets if isinstance(settings.targets, str) else list(settings.targets),
        task_type=TaskType.SEQ_CLS if scorer else TaskType.CAUSAL_LM,
        modules_to_save=["score"] if scorer else None,
    )


def bf16_here(precision: str, cpu: bool) -> bool:
    """Whether to train in bf16."""
    if precision != "auto":
        return precision == "bf16"
    return not cpu and torch.cuda.is_available() and torch.cuda.is_bf16_supported()


def _dtype(precision: str) -> torch.dtype:
    # Weights stay fp32 in mixed precision; bf16 by name keeps them small where memory is short.
    return torch.bfloat16 if precision == "bf16" else torch.float32


def _loaded(kind: Any, folder: str, **options: Any) -> Any:
    level = get_verbosity()
    set_verbosity_error()  # it reports that a scorer's head is new
    try:
        return kind.from_pretrained(folder, **options)
    except (OSError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ConfigError(f"model: {folder!r} cannot be loaded as a model: {reason}") from None
    finally:
        set_verbosity(level)


def _from_gguf(path: Path, folder: Path) -> Path:
    """Dequantised to fp32: what llama.cpp runs in four bits is trained in full precision."""
    need_extra("gguf")
    done = folder / "converted"
    if done.is_file():
        return folder
    where = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
    tokenizer = AutoTokenizer.from_pretrained(**where)
    model = AutoModelForCausalLM.from_pretrained(
        **where, dtype=torch.float32, quantization_config=GgufConfig(dequantize=True)
    )
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    done.write_text(path.name, encoding="utf-8")
    return folder
