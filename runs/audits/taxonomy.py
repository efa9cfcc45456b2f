"""The taxonomy audit as a job: its configuration, and its report as a value."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ...agents.opening import TeacherSpec
from ...audits.taxonomy import TaxonomyResult, TaxonomySettings, load_suite, measure
from ...audits.taxonomy.examples import Harm, harms
from ...core.errors import ConfigError
from ...core.job import Job
from ...core.progress import Progress
from ...core.records import Order
from ...core.store import Store
from ..config import JobConfig, JudgeField, ModelField, SourceField, TeacherField
from ..report.diff import cut, marked
from ..report.model import Text
from .account import Account, account_of

KIND = "taxonomy"


class TaxonomyConfig(TaxonomySettings, JobConfig):
    """One taxonomy audit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["taxonomy"] = "taxonomy"
    """Told apart from other jobs in one workspace."""
    judge: JudgeField
    """The judge under audit, of any kind."""
    teacher: TeacherField = Field(default_factory=lambda: TeacherSpec.model_validate({"model": "rules"}))
    """Writes the biases into the answers: rules (edits, no model) or a model."""
    verifier: Annotated[Literal["rules"] | ModelField | None, Field(union_mode="left_to_right")] = None
    """Checks that the chosen answer is still the better one; None: the teacher's model, and no check with the teacher
    rules. rules: no model; of what the teacher rules wrote, what lost words or numbers or is over the bias's length
    ratio is left out."""
    data: SourceField | None = None
    """Preference pairs to build the suite from."""
    suite: SourceField | None = None
    """A suite in JudgeBiasBench's format to take instead, such as suite.jsonl of an earlier audit."""

    @model_validator(mode="after")
    def _one_source(self) -> "TaxonomyConfig":
        if (self.data is None) == (self.suite is None):
            raise ValueError("give either data (preference pairs to build a suite from) or suite (one that is built)")
        return self


class TaxonomyExample(BaseModel):
    """A pair on which the judge was right and then wrong."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pair_id: str
    domain: str
    source: str
    order: Order
    """Which answer stood first under the bias."""
    prompt: Text
    chosen: Text
    rejected: Text
    """Both as injected, with marks against the original."""
    reasoning: Text
    """The judge's, for its wrong verdict; may be empty."""


class TaxonomyReport(BaseModel):
    """The audit's JSON report."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["taxonomy"] = "taxonomy"
    account: Account
    result: TaxonomyResult
    examples: dict[str, tuple[TaxonomyExample, ...]]
    """By bias."""


def collect_taxonomy(store: Store, run_id: str, config: TaxonomyConfig, *, finished: bool = False) -> TaxonomyReport:
    """The report from the store. Raises ConfigError when no suite has been built to its end."""
    suite, audit = load_suite(store, run_id), store.note(run_id, "audit")
    if suite is None or audit is None:
        raise ConfigError(f"the suite of {run_id!r} is not built to its end; resume it")
    job = Job(run_id, store, config.seed, Progress(store, run_id), 1)
    result = measure(
        job,
        suite,
        has_position=audit["has_position"],
        both_orders=config.orders == "both",
        filtered=audit["filtered"],
        by_rule=audit.get("by_rule", False),
        left_out=audit["left_out"],
    )
    shown = harms(job, suite, both_orders=result.both_orders)
    return TaxonomyReport(
        account=account_of(store, run_id, ("data",), finished=finished),
        result=result,
        examples={name: tuple(map(_example, found)) for name, found in shown.items() if found},
    )


def _example(harm: Harm) -> TaxonomyExample:
    base, pair = harm.entry.base, harm.entry.pair
    verdict_only = len(harm.after.reasoning) < 4
    return TaxonomyExample(
        pair_id=base.id,
        domain=base.domain,
        source=base.source,
        order=harm.after.order,
        prompt=cut(base.prompt),
        chosen=marked(base.chosen, pair.chosen),
        rejected=marked(base.rejected, pair.rejected),
        reasoning=cut("" if verdict_only else harm.after.reasoning),
    )
