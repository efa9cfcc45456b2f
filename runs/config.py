"""The configuration of a run: one YAML file, or the same keys on the command line."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, overload

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from ..agents.engines.reference import ModelSpec
from ..agents.opening import JudgeSpec, TeacherSpec
from ..core.database import store_url
from ..core.errors import ConfigError
from ..core.mistakes import mistakes, short
from ..core.yaml_text import read_yaml, write_yaml
from ..data.spec import SourceSpec
from ..graph.settings import PAPER, ContrastSettings, LoopSettings
from .folder import default_workspace


def _reference(value: Any) -> Any:
    return {"model": value} if isinstance(value, str) else value


def _source(value: Any) -> Any:
    return {"source": value} if isinstance(value, str) else value


ModelField = Annotated[ModelSpec, BeforeValidator(_reference)]
JudgeField = JudgeSpec
TeacherField = Annotated[TeacherSpec, BeforeValidator(_reference)]
SourceField = Annotated[SourceSpec, BeforeValidator(_source)]


class BudgetSettings(BaseModel):
    """What a run may spend; reaching any of them ends it as inconclusive, to be resumed with more."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    calls: int | None = Field(None, ge=1)
    """Answers that are paid for."""
    tokens: int | None = Field(None, ge=1)
    """Prompt and completion tokens together."""
    cost: float | None = Field(None, gt=0)
    """In the currency of the models' prices."""


class JobConfig(BaseModel):
    """What every kind of job can be told: a discovery run, an audit, the making of a data set."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: str = "discover"
    """What kind of job it is; each kind has a configuration of its own."""
    name: str | None = None
    """Name of the run and of its folder; drawn from date and judge when left out."""
    workspace: Path = Field(default_factory=default_workspace)
    """Folder under which runs lie."""
    store: str | None = None
    """Database URL (sqlite:///file, postgresql://user@host/database), to share a store between runs and people; None:
    store.db in the run's folder. The password comes from PGPASSWORD or ~/.pgpass."""
    seed: int = 0
    """Seed of everything that is drawn."""
    budget: BudgetSettings = BudgetSettings()
    """What the run may spend."""

    @field_validator("store")
    @classmethod
    def _usable(cls, store: str | None) -> str | None:
        if store is not None:
            store_url(store)
        return store


class JudgmentsSpec(BaseModel):
    """Verdicts of the judge that were given elsewhere: a log."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str = Field(min_length=1)
    """A .jsonl, .csv or .parquet file with a verdict a row (docs/contrasts.md)."""
    pairs: SourceField | None = None
    """The preference pairs that were judged, for a log that names them without their texts."""
    judge: str | None = None
    """Only the verdicts of this judge of the log."""


JudgmentsField = Annotated[JudgmentsSpec, BeforeValidator(_source)]

ROLES = ("judge", "teacher", "verifier", "embedder", "check", "after")
"""Settings that are one model, in every kind of job."""
LISTED = ("judges", "panel", "authors", "jury", "members")
"""Settings that are a list of them; `members` is a jury's."""
SOURCES = ("target", "test", "source", "judgments", "pairs", "data", "suite", "answers")
"""Settings that name data, in every kind of job: a text there is the source, and elsewhere the model."""
MAY_CHANGE = (
    "endpoints",
    "batch",
    "max_concurrency",
    "timeout_s",
    "max_retries",
    "keep_alive",
    "slots",
    "threads",
    "api_key_env",
    "headers",
    "price_input",
    "price_output",
)
"""Settings of a model that change how it is reached and paid, not what it answers: a begun run may change them."""
_CHANGEABLE = re.compile(
    rf"budget(?:\..+)?|(?:(?:{'|'.join(ROLES)}|(?:{'|'.join(LISTED)})\.\d+)\.)+(?:{'|'.join(MAY_CHANGE)})"
)

C = TypeVar("C", bound=BaseModel)


class RunConfig(LoopSettings, JobConfig):
    """One discovery run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["discover"] = "discover"
    """Told apart from audits in one workspace."""
    judge: JudgeField
    """The target judge."""
    teacher: TeacherField
    """Rewrites answers, names biases and compares them."""
    verifier: ModelField | None = None
    """Checks rewrites; None: the teacher."""
    embedder: ModelField = ModelSpec(model="local:")
    """Embeds biases for merging."""
    target: SourceField
    """Preference pairs on which biases are searched for."""
    test: SourceField | None = None
    """Preference pairs on which they are validated; None: half of the target pairs, by seed."""
    library: Path | None = None
    """A library file (`biasscope library export`) to start from."""
    features: Path | None = None
    """Text features of your own, a .yaml or .py file (docs/features.md), beside the packaged ones."""

    judgments: JudgmentsField | None = None
    """Verdicts of this judge from elsewhere: what contrasts propose from them is tested from the first round on."""

    @model_validator(mode="after")
    def _somebody_names(self) -> "RunConfig":
        if self.discovery.by in ("llm", "both") and not self.teacher.has_model:
            raise ValueError(
                f"discovery.by: {self.discovery.by} needs a teacher with a model to name biases; write contrasts, or "
                "give teacher.model"
            )
        return self


class ProposalSearch(BaseModel):
    """The part of the discovery settings that a log alone has a use for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    contrasts: ContrastSettings = ContrastSettings()


class ProposalsConfig(BaseModel):
    """What contrasts can be told that only read a log: the settings of a run by the same names, without its models."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    judgments: JudgmentsField
    features: Path | None = None
    discovery: ProposalSearch = ProposalSearch()
    seed: int = 0
    workspace: Path = Field(default_factory=default_workspace)


@overload
def load_config(
    path: Path | None, settings: Sequence[str] = (), given: Mapping[str, Any] | None = None
) -> RunConfig: ...


@overload
def load_config(
    path: Path | None, settings: Sequence[str] = (), given: Mapping[str, Any] | None = None, *, kind: type[C]
) -> C: ...


def load_config(
    path: Path | None,
    settings: Sequence[str] = (),
    given: Mapping[str, Any] | None = None,
    *,
    kind: type[BaseModel] = RunConfig,
) -> BaseModel:
    """A configuration from a YAML file, values given by name (dotted), and `key=value` settings, the last wins.

    `kind` is its class; JobConfig reads of any kind what all have.
    """
    values: dict[str, Any] = _read_yaml(path) if path else {}
    for key, value in (given or {}).items():
        _put(values, key, value)
    _set(values, settings)
    return _checked(values, kind, str(path) if path else "configuration")


def change_config(path: Path, settings: Sequence[str], *, kind: type[JobConfig] = RunConfig) -> str:
    """The text of a begun job's configuration with `key=value` changes; ConfigError for what is fixed by then."""
    for setting in settings:
        if not _CHANGEABLE.fullmatch(key := setting.partition("=")[0]):
            raise ConfigError(
                f"--set {key}: is fixed when a run begins, or results of two settings would be mixed; what may change "
                f"is budget and, of a model ({', '.join(ROLES)}, or one of a list such as judges.0), "
                f"{', '.join(MAY_CHANGE)}. Start a new run for the rest"
            )
    values = _read_yaml(path)
    _set(values, settings)
    _checked(values, kind, str(path))
    return write_yaml(values)


def _set(values: dict[str, Any], settings: Sequence[str]) -> None:
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise ConfigError(f"--set {setting!r}: write it as key=value, for example --set discovery.iterations=2")
        try:
            value = read_yaml(text)
        except ValueError as error:
            said = f"--set {setting!r}: {error} (a text that YAML reads as something else goes in quotes)"
            raise ConfigError(said) from None
        _put(values, key, value)


def _checked(values: dict[str, Any], kind: type[C], where: str) -> C:
    if values.get("profile") == "paper":
        values = _over(PAPER, values)
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{where}: {'; '.join(mistakes(error, kind=kind))}") from None


def dump_config(config: JobConfig) -> str:
    """The configuration as YAML; holds names of environment variables, never keys."""
    values = config.model_dump(mode="json", exclude_defaults=True)
    if config.kind != "discover":
        values["kind"] = config.kind
    return write_yaml(values)


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text; a configuration is a YAML file") from None
    try:
        values = read_yaml(text)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None
    if values is None:
        raise ConfigError(f"{path}: is empty; a configuration is a mapping such as 'judge: openai:...'")
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: holds {short(values)}; a configuration is a mapping such as 'judge: openai:...'")
    return values


def _put(values: dict[str, Any], key: str, value: Any) -> None:
    *parents, last = key.split(".")
    at: dict[str, Any] | list[Any] = values
    for parent in parents:
        inner = _get(at, parent, key)
        if isinstance(inner, str):
            inner = {"source" if parent in SOURCES else "model": inner}
        if inner is None:
            inner = {}
        if not isinstance(inner, (dict, list)):
            raise ConfigError(f"{key}: {parent!r} is {short(inner)}, which has no settings of its own")
        _assign(at, parent, inner)
        at = inner
    if isinstance(value, str) and isinstance(there := _get(at, last, key), dict) and last != "library":
        there["source" if last in SOURCES else "model"] = value
    else:
        _assign(at, last, value)


def _get(at: dict[str, Any] | list[Any], name: str, key: str) -> Any:
    """What a mapping has under a name, or a list at a place counted from 0."""
    if isinstance(at, dict):
        return at.get(name)
    if not name.isdecimal() or int(name) >= len(at):
        raise ConfigError(f"{key}: {name!r} is no place in a list of {len(at)}; places count from 0")
    return at[int(name)]


def _assign(at: dict[str, Any] | list[Any], name: str, value: Any) -> None:
    if isinstance(at, dict):
        at[name] = value
    else:
        at[int(name)] = value


def _over(base: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in values.items():
        inner = merged.get(key)
        merged[key] = _over(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
    return merged
