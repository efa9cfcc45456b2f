"""Write the pages of settings and commands from the code: `python docs/make_settings.py`."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

from biasscope.apps.cli.main import app
from biasscope.runs.audits.gate import GateConfig
from biasscope.runs.audits.profile import ProfileConfig
from biasscope.runs.audits.self_preference import SelfPreferenceConfig
from biasscope.runs.audits.taxonomy import TaxonomyConfig
from biasscope.runs.audits.transfer import TransferConfig
from biasscope.runs.benchmark import BenchmarkConfig
from biasscope.runs.benchmark_evaluation import EvaluationConfig
from biasscope.runs.config import BudgetSettings, JobConfig, RunConfig
from biasscope.runs.preferences import AugmentConfig, DpoConfig
from biasscope.runs.treatments import TreatmentConfig
from biasscope.training.settings import (
    DpoSettings,
    GrpoSettings,
    LoraSettings,
    RewardSettings,
    SftSettings,
    TrainingSettings,
)
from pydantic import BaseModel
from typer.main import get_command

HERE = Path(__file__).parent
JOBS: tuple[tuple[str, type[JobConfig]], ...] = (
    ("A run", RunConfig),
    ("A benchmark (`biasscope benchmark build`)", BenchmarkConfig),
    ("A taxonomy audit (`biasscope audit taxonomy`)", TaxonomyConfig),
    ("A self-preference audit (`biasscope audit self-preference`)", SelfPreferenceConfig),
    ("An evaluation (`biasscope benchmark evaluate --config`)", EvaluationConfig),
    ("DPO pairs (`biasscope dpo build`)", DpoConfig),
    ("Augmented pairs (`biasscope augment`)", AugmentConfig),
    ("Treatments (`biasscope mitigate`)", TreatmentConfig),
    ("A gate (`biasscope gate`)", GateConfig),
    ("A profile (`biasscope judge profile`)", ProfileConfig),
    ("A transfer (`biasscope transfer`)", TransferConfig),
)
"""Kinds of jobs with the titles of their settings."""
TRAININGS: tuple[tuple[str, type[BaseModel]], ...] = (
    ("lora", LoraSettings),
    ("`biasscope train dpo`", DpoSettings),
    ("`biasscope train sft`", SftSettings),
    ("`biasscope train grpo`", GrpoSettings),
    ("`biasscope train reward`", RewardSettings),
)
"""Kinds of training with their titles."""


def docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The text under each field, of the class and those it comes from."""
    found: dict[str, str] = {}
    for cls in reversed([c for c in model.__mro__ if issubclass(c, BaseModel) and c is not BaseModel]):
        body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0].body  # type: ignore[attr-defined]
        for field, text in pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                found[field.target.id] = " ".join(str(text.value.value).split())  # type: ignore[union-attr]
    return found


def parts(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """The model and every model among its fields, with the dotted name that leads there."""
    yield prefix, model
    for name, field in model.model_fields.items():
        for kind in _within(field.annotation):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from parts(kind, f"{prefix}{name}.")


def _within(annotation: Any) -> Iterator[Any]:
    yield annotation
    for inner in get_args(annotation):
        yield from _within(inner)


def settings() -> str:
    """The page on settings."""
    made = "The keys of a run's YAML file, and of `--set key=value`. Made by `docs/make_settings.py`."
    lines = ["# Settings", "", made]
    seen: dict[type[BaseModel], str] = {}
    for title, job, prefix, model in ((name, kind, *part) for name, kind in JOBS for part in parts(kind)):
        if model is BudgetSettings and job is not RunConfig:
            continue
        if model in seen:
            if seen[model] == prefix.rstrip("."):
                continue
            again = ["", f"## {prefix.rstrip('.')}", "", f"The keys of `{seen[model]}`."]
            lines += again if lines[-4:] != again else []
            continue
        texts = docstrings(model)
        # Kinds of one thing: the first has the whole table, the others what they do not share with it.
        first = next((m for m, place in seen.items() if prefix and place == prefix.rstrip(".")), None)
        shared = {n for n in model.model_fields if first and n in first.model_fields and n != "kind"}
        if model is job is not RunConfig:
            shared = set(JobConfig.model_fields)
        seen[model] = prefix.rstrip(".")
        kind = f", kind: {get_args(model.model_fields['kind'].annotation)[0]}" if "kind" in model.model_fields else ""
        about = " ".join((model.__doc__ or "").split())
        about += f" Also the keys of `{prefix.rstrip('.')}` above, those of the model." if first else ""
        about += " Also name, workspace, store, seed and budget, as of a run." if model is job is not RunConfig else ""
        lines += ["", f"## {prefix.rstrip('.') or title}{kind}", "", about, ""]
        lines += ["| key | default | meaning |", "|---|---|---|"]
        for name, field in model.model_fields.items():
            if name in shared:
                continue
            lines.append(
                f"| `{prefix}{name}` | {_default(field)} | {texts.get(name, '').replace('|', chr(92) + '|')} |"
            )
    return "\n".join(lines) + "\n"


def training_settings() -> str:
    """The page on the settings of trainings."""
    made = "The keys of a training's YAML file, and of `--set key=value`. Made by `docs/make_settings.py`."
    lines = ["# Settings of trainings", "", made]
    every: tuple[tuple[str, type[BaseModel]], ...] = (("All kinds", TrainingSettings), *TRAININGS)
    for title, model in every:
        texts, shared = docstrings(model), TrainingSettings.model_fields if model is not TrainingSettings else {}
        prefix = "lora." if model is LoraSettings else ""
        lines += ["", f"## {title}", "", " ".join((model.__doc__ or "").split()), ""]
        lines += ["| key | default | meaning |", "|---|---|---|"]
        for name, field in model.model_fields.items():
            if name not in shared or field.default != shared[name].default:
                lines.append(f"| `{prefix}{name}` | {_default(field)} | {texts[name]} |")
    return "\n".join(lines) + "\n"


def _default(field: Any) -> str:
    if field.is_required():
        return "needed"
    value = field.get_default(call_default_factory=True, validated_data={})
    return "see below" if isinstance(value, BaseModel) else f"`{str(value) if isinstance(value, Path) else value!r}`"


def commands() -> str:
    """The page on commands."""
    codes = "Exit codes: 0 done, 2 wrong input, 3 something to mend (then resume), 4 budget spent (resume with more)."
    lines = ["# Commands", "", f"Made by `docs/make_settings.py`. {codes}", ""]
    for path, command in leaves(get_command(app), "biasscope"):
        lines += [f"## {path}", "", " ".join((command.help or "").split()), "", "| parameter | meaning |", "|---|---|"]
        for parameter in command.params:
            if parameter.name == "help":
                continue
            shown = (
                ", ".join(f"`{o}`" for o in parameter.opts)
                if parameter.param_type_name == "option"
                else (f"`{parameter.metavar or parameter.name.upper()}`")
            )
            lines.append(f"| {shown} | {(getattr(parameter, 'help', None) or '').replace('|', chr(92) + '|')} |")
        lines.append("")
    return "\n".join(lines)


def leaves(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command with its whole name."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from leaves(inner, f"{path} {name}")
    if not hasattr(command, "commands"):
        yield path, command


if __name__ == "__main__":
    (HERE / "settings.md").write_text(settings(), encoding="utf-8")
    (HERE / "training-settings.md").write_text(training_settings(), encoding="utf-8")
    (HERE / "commands.md").write_text(commands(), encoding="utf-8")
