"""The extra `train`: there, or one line that says how to get it."""

from importlib.util import find_spec

from ..core.errors import ConfigError

_MODULES = ("torch", "transformers", "trl", "peft", "accelerate", "tensorboard")


def need_extra(*modules: str) -> None:
    """ConfigError when one of `modules` (all that training takes, when none is named) is not installed."""
    missing = [name for name in modules or _MODULES if find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"training needs {', '.join(missing)}, which is not installed: pip install 'biasscope[train]'"
        )
