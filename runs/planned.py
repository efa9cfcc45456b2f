"""A run's plan as a value, and where it is kept until the run's report compares it with the outcome."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ..core.ids import content_id
from .config import RunConfig


class Span(BaseModel):
    """A low and a high estimate."""

    model_config = ConfigDict(frozen=True)

    low: float
    high: float

    def times(self, factor: float) -> "Span":
        """Both ends multiplied."""
        return Span(low=self.low * factor, high=self.high * factor)

    def plus(self, other: "Span") -> "Span":
        """The sum of two stages."""
        return Span(low=self.low + other.low, high=self.high + other.high)


class StagePlan(BaseModel):
    """One role in one stage."""

    model_config = ConfigDict(frozen=True)

    role: str
    stage: str
    calls: Span
    prompt_tokens: Span
    completion_tokens: Span
    cost: Span | None
    """In the currency of the models' prices; None without prices."""
    seconds: Span
    """At the configured concurrency, stages one after another."""
    at_once: int | None = 1
    """Calls in flight, by which the outcome's seconds are divided as the plan's were; None for batches, whose answers
    all wait together."""


class Plan(BaseModel):
    """The whole run, and what was assumed."""

    model_config = ConfigDict(frozen=True)

    stages: tuple[StagePlan, ...]
    target_pairs: int
    search_pairs: int
    confirm_pairs: int
    probe_pairs: int
    probe_calls: int
    new_biases: tuple[int, int]

    @property
    def total(self) -> StagePlan:
        """The sum over the stages."""
        costs = [s.cost for s in self.stages if s.cost is not None]
        return StagePlan(
            role="all",
            stage="all",
            calls=summed([s.calls for s in self.stages]),
            prompt_tokens=summed([s.prompt_tokens for s in self.stages]),
            completion_tokens=summed([s.completion_tokens for s in self.stages]),
            cost=summed(costs) if costs else None,
            seconds=summed([s.seconds for s in self.stages]),
        )


def plan_path(config: RunConfig) -> Path:
    """Where the plan of a configuration lies in its workspace: by what it asks, whatever the run is called."""
    asked = config.model_dump(mode="json", exclude={"name", "workspace", "store", "budget", "approve"})
    return config.workspace / "plans" / f"{content_id('plan', asked)[:16]}.json"


def save_plan(config: RunConfig, plan: Plan) -> Path:
    """Keep a plan, for the report of the run to compare."""
    path = plan_path(config)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(plan.model_dump_json(indent=2), encoding="utf-8")
    return path


def read_plan(config: RunConfig) -> Plan | None:
    """The plan that was made for a configuration, if any."""
    path = plan_path(config)
    return Plan.model_validate_json(path.read_text(encoding="utf-8")) if path.exists() else None


def summed(spans: Sequence[Span]) -> Span:
    """Stages together."""
    total = Span(low=0, high=0)
    for span in spans:
        total = total.plus(span)
    return total
