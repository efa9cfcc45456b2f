"""`biasscope train`: train judges and scorers on what `dpo build` and `augment` made."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...runs.config import load_config
from ...training.needs import need_extra
from ...training.settings import DpoSettings, GrpoSettings, RewardSettings, SftSettings, TrainingSettings
from .options import Settings

if TYPE_CHECKING:
    from ...training.fit import Trained

app = typer.Typer(help="Train judges and scorers (extra `train`).", no_args_is_help=True)
S = TypeVar("S", bound=TrainingSettings)

Config = Annotated[Path, typer.Argument(metavar="CONFIG.yaml", help="Settings of the training.")]
_SHOWN = ("loss", "accuracy", "rewards/accuracies", "reward", "eval_loss", "eval_accuracy", "eval_reward")


@app.command("dpo")
def dpo(config: Config, set_: Settings = None) -> None:
    """Direct preference optimisation on biased pairs. The same command again goes on where it stopped."""
    settings = _settings(config, set_, DpoSettings)
    from ...training.dpo import train_dpo

    _show(train_dpo(settings, _tell))


@app.command("sft")
def sft(config: Config, set_: Settings = None) -> None:
    """Supervised fine-tuning on the teacher's reasoning: the cold start before GRPO."""
    settings = _settings(config, set_, SftSettings)
    from ...training.sft import train_sft

    _show(train_sft(settings, _tell))


@app.command("grpo")
def grpo(config: Config, set_: Settings = None) -> None:
    """Group relative policy optimisation: rewarded are the right verdict and reasons before it."""
    settings = _settings(config, set_, GrpoSettings)
    from ...agents.grading import right_verdict, well_formed
    from ...training.grpo import train_grpo

    _show(train_grpo(settings, right_verdict, well_formed, _tell))


@app.command("reward")
def reward(config: Config, set_: Settings = None) -> None:
    """A scorer of answers: InfoNCE or Bradley-Terry on original and biased rejected answers."""
    settings = _settings(config, set_, RewardSettings)
    from ...training.reward import train_reward

    _show(train_reward(settings, _tell))


def _settings(config: Path, set_: list[str] | None, kind: type[S]) -> S:
    settings = load_config(config, set_ or (), kind=kind)
    need_extra()
    return settings


def _tell(line: dict[str, Any]) -> None:
    shown = [f"{name} {line[name]:.4g}" for name in _SHOWN if name in line]
    if shown:
        where = f"step {line['step']}/{line['steps']}" if line["steps"] else "before"
        _print(f"{where}  " + "  ".join(shown))


def _show(trained: "Trained") -> None:
    if not trained.leads:
        return
    result = trained.result
    if trained.again:
        _print("this training had ended already")
    elif result["resumed_from"]:
        _print(f"went on from step {result['resumed_from']}")
    if (left := result["rows"] - result["rows_used"]) > 0:
        _print(f"{left:,} of {result['rows']:,} rows were left out: too long, or without a rejected answer to use")
    table = Table("", "first", "last", title=f"{result['steps']} steps")
    for name, (first, last) in result["logged"].items():
        if name in _SHOWN:
            table.add_row(Text(name), f"{first:.4g}", f"{last:.4g}")
    if result["before"] and result["after"]:
        for name in sorted(result["before"].keys() & result["after"].keys() & set(_SHOWN)):
            table.add_row(
                Text(f"held out: {name.removeprefix('eval_')}"),
                *(f"{result[k][name]:.4g}" for k in ("before", "after")),
            )
    Console().print(table)
    _print(f"model: {trained.folder.model}")


def _print(text: str) -> None:
    Console(file=sys.stdout, highlight=False, markup=False, soft_wrap=True).print(text)
