"""The job `gate`: replay a frozen test set against a judge as it is now, and decide."""

import shutil
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field, field_validator

from ...audits.frozen import FrozenSet, read_frozen
from ...audits.gate import GateReport, gate_report
from ...audits.gate_text import gate_junit, gate_markdown
from ...audits.replay import Replay, check_fits, read_replay, replay, write_replay
from ...core.errors import ConfigError, StoreError
from ...core.ids import content_id
from ...validators.gating import GateLimits
from ..config import JobConfig, JudgeField
from ..folder import RunFolder
from ..jobs import Desk, JobOutcome, Listener, drive_job

REPORT, JUNIT, SUMMARY, REPLAY = "gate.json", "gate.xml", "gate.md", "replay.json"
"""Files in the job's folder."""


class GateConfig(JobConfig):
    """A gate for a judge."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["gate"] = "gate"
    """Told apart from other jobs in one workspace."""
    judge: JudgeField
    """The judge to let through, or not."""
    library: Path
    """A frozen test set (`biasscope library freeze`)."""
    max_effect: float | None = Field(None, ge=0, lt=100)
    """Most points that a bias may add to the error rate. Needed unless max_change is given."""
    baseline: Path | None = None
    """The replay of an earlier gate (--save): what the judge is compared with."""
    max_change: float | None = Field(None, ge=0, lt=100)
    """Most points that an effect may have grown since the baseline. Left out: growth that is shown is worse, and
    passing does not need to show that there is none."""
    level: float = Field(0.95, gt=0.5, lt=1)
    """One minus the chance of a false pass, and of a false alarm."""
    max_missing: float = Field(0.1, ge=0, lt=1)
    """Largest share of pairs without a verdict with which a bias can pass."""
    orders: Literal["drawn", "both"] | None = None
    """drawn: one order per pair; both: every arm in both. None: as at the baseline, or as in the run of the set."""
    save: Path | None = None
    """Write this replay there, to be the baseline of later gates. The unperturbed pairs are then judged twice."""
    junit: Path | None = None
    """Write JUnit XML there too."""
    summary: Path | None = None
    """Write the Markdown summary there too."""
    report: Path | None = None
    """Write the JSON report there too."""

    @field_validator("library", "baseline", "save", "junit", "summary", "report")
    @classmethod
    def _anywhere(cls, path: Path | None) -> Path | None:
        return path and path.expanduser().absolute()

    @field_validator("store")
    @classmethod
    def _own_store(cls, store: str | None) -> str | None:
        if store is not None:
            raise ValueError(
                "a gate asks the judge as it is now, so it takes no answers from a shared store; leave it out"
            )
        return store

    @property
    def limits(self) -> GateLimits:
        """As proportions."""
        return GateLimits(
            max_effect=None if self.max_effect is None else self.max_effect / 100,
            max_change=None if self.max_change is None else self.max_change / 100,
            level=self.level,
            max_missing=self.max_missing,
        )


def check_gate(config: GateConfig) -> None:
    """ConfigError for limits that say nothing, and for files that could not be written in the end."""
    if config.max_effect is None and config.max_change is None:
        raise ConfigError("a gate needs a limit: give --max-effect POINTS, or --baseline FILE and --max-change POINTS")
    if config.max_change is not None and config.baseline is None:
        raise ConfigError("--max-change compares with a baseline: give --baseline FILE, or leave it out")
    for name in ("save", "junit", "summary", "report"):
        path: Path | None = getattr(config, name)
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise ConfigError(f"{name}: {str(path)!r} cannot be written; give a file in a folder that exists")


def run_gate(folder: RunFolder, listener: Listener | None = None) -> JobOutcome[GateReport]:
    """Decide, or go on with it. The report and its files are in the folder, and where the configuration says."""
    return drive_job(folder, GateConfig, _work, listener)


async def _work(desk: Desk[GateConfig]) -> GateReport:
    config = desk.config
    check_gate(config)
    frozen = read_frozen(config.library)
    before = _baseline(config, frozen)
    judge = desk.judge("judge", config.judge)
    both = _both(config, frozen, before) and judge.has_position
    if before is not None and before.both_orders != both:
        how = {True: "both orders", False: "one order"}
        raise ConfigError(
            f"{config.baseline}: was judged in {how[before.both_orders]}, and this gate judges in {how[both]}; set "
            "orders to the same, or make a new baseline"
        )
    desk.begin({"frozen": frozen.digest, "baseline": content_id(before.model_dump(mode="json")) if before else ""})
    now = await replay(desk.job, judge, frozen, both_orders=both, again=config.save is not None)
    report = gate_report(frozen, now, before, config.limits)
    _write(desk.folder.path, config, report, now)
    return report


def _baseline(config: GateConfig, frozen: FrozenSet) -> Replay | None:
    if config.baseline is None:
        return None
    before = read_replay(config.baseline)
    check_fits(before, frozen, config.baseline)
    return before


def _both(config: GateConfig, frozen: FrozenSet, before: Replay | None) -> bool:
    if config.orders is not None:
        return config.orders == "both"
    return frozen.head.both_orders if before is None else before.both_orders


def _write(folder: Path, config: GateConfig, report: GateReport, now: Replay) -> None:
    texts = {
        REPORT: report.model_dump_json(indent=2) + "\n",
        JUNIT: gate_junit(report),
        SUMMARY: gate_markdown(report),
    }
    write_replay(now, folder / REPLAY)
    places = {REPORT: config.report, JUNIT: config.junit, SUMMARY: config.summary}
    try:
        for name, text in texts.items():
            for path in (folder / name, places[name]):
                if path is not None:
                    path.write_text(text, encoding="utf-8")
        if config.save is not None:
            shutil.copyfile(folder / REPLAY, config.save)
    except OSError as error:
        raise StoreError(f"{error.filename}: cannot be written: {error.strerror}") from None
