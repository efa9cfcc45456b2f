"""The self-preference audit as a job: its configuration, and its report as a value."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ...audits.self_preference import SelfPreferenceResult, SelfPreferenceSettings, load_contests, measure
from ...core.errors import ConfigError
from ...core.job import Job
from ...core.progress import Progress
from ...core.store import Store
from ..config import JobConfig, JudgeField, ModelField, SourceField
from .account import Account, account_of


class SelfPreferenceConfig(SelfPreferenceSettings, JobConfig):
    """One self-preference audit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["self-preference"] = "self-preference"
    """Told apart from other jobs in one workspace."""
    judge: JudgeField
    """The judge under audit."""
    answers: SourceField
    """Answers of several models to the same prompts (MT-bench's form, or docs/audits.md); of preference pairs
    the prompts alone are taken."""
    authors: tuple[ModelField, ...] = ()
    """Models that answer the prompts beside those whose answers are given."""
    panel: tuple[ModelField, ...] = Field(min_length=1)
    """Models that grade the answers; neither the judge nor an author of a pair speaks about it."""
    answer_tokens: int = Field(1024, ge=16)
    """Room for an answer that is generated here."""

    @model_validator(mode="after")
    def _enough(self) -> "SelfPreferenceConfig":
        if len({spec.model for spec in self.panel}) < len(self.panel):
            raise ValueError("panel: names a model twice; each of its members counts once")
        return self


class SelfPreferenceReport(BaseModel):
    """The audit's JSON report."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["self-preference"] = "self-preference"
    account: Account
    result: SelfPreferenceResult


def collect_self_preference(
    store: Store, run_id: str, config: SelfPreferenceConfig, *, finished: bool = False
) -> SelfPreferenceReport:
    """The report from the store. Raises ConfigError when no pairs have been made yet."""
    contests, audit = load_contests(store, run_id), store.note(run_id, "audit")
    if not contests or audit is None:
        raise ConfigError(f"{run_id!r} has no pairs of answers yet; resume it")
    job = Job(run_id, store, config.seed, Progress(store, run_id), 1)
    said: dict[str, Any] = {k: audit[k] for k in _NOTED}
    return SelfPreferenceReport(
        account=account_of(store, run_id, ("answers",), finished=finished),
        result=measure(job, contests, config, **said),
    )


_NOTED = ("own", "judge", "structured", "has_position", "panel", "authors", "left_out")
"""What the job noted about who takes part."""
