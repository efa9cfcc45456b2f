"""The job `transfer`: replay one frozen test set against several judges."""

from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field, field_validator

from ...audits.frozen import read_frozen
from ...audits.replay import replay, write_replay
from ...audits.transfer import Asked, TransferReport, transfer
from ...core.errors import ConfigError
from ..config import JobConfig, JudgeField
from ..folder import RunFolder
from ..jobs import Desk, JobOutcome, Listener, drive_job
from .finished import read_result
from .page import write_page
from .transfer_page import transfer_page

NAME = "transfer"
"""Files in the job's folder: transfer.html, .md and .json, plots/, and a replay for each judge."""


class TransferConfig(JobConfig):
    """One library on several judges."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["transfer"] = "transfer"
    """Told apart from other jobs in one workspace."""
    judges: tuple[JudgeField, ...] = Field(min_length=2)
    """The judges, of any kind: a list of references or mappings."""
    library: Path
    """A frozen test set (`biasscope library freeze`)."""
    orders: Literal["drawn", "both"] | None = None
    """drawn: one order per pair, the same for every judge; both: every arm in both. None: as in the run of the set."""
    alpha: float = Field(0.05, gt=0, lt=0.5)
    """Chance of any wrong claim of each kind: that a judge has a bias, that all have it, that it is one judge's own."""

    @field_validator("library")
    @classmethod
    def _anywhere(cls, path: Path) -> Path:
        return path.expanduser().absolute()


def replay_file(k: int) -> str:
    """The name of the k-th judge's replay, from 0."""
    return f"replay-{k + 1}.json"


def run_transfer(folder: RunFolder, listener: Listener | None = None) -> JobOutcome[TransferReport]:
    """Ask every judge, or go on with it. The report and its files are in the folder."""
    return drive_job(folder, TransferConfig, _work, listener)


def report_transfer(folder: RunFolder, output: Path) -> dict[str, Path]:
    """Write the pages again from transfer.json. ConfigError while there is none."""
    found = read_result(folder, f"{NAME}.json", TransferReport)
    return write_page(transfer_page(found), found, output, NAME)


async def _work(desk: Desk[TransferConfig]) -> TransferReport:
    config = desk.config
    frozen = read_frozen(config.library)
    judges = [desk.judge(f"judges.{k}", spec) for k, spec in enumerate(config.judges)]
    names = [judge.name for judge in judges]
    if again := next((name for k, name in enumerate(names) if name in names[:k]), None):
        raise ConfigError(f"judges: {again!r} is there twice; name every judge once")
    desk.begin({"frozen": frozen.digest})
    both = frozen.head.both_orders if config.orders is None else config.orders == "both"
    asked = []
    # One after another: judges on one machine would take its memory and each other's prefix cache.
    for k, judge in enumerate(judges):
        found = await replay(desk.job, judge, frozen, both_orders=both, label=f"judges.{k}")
        write_replay(found, desk.folder.path / replay_file(k))
        asked.append(Asked(judge, found))
    report = transfer(desk.run_id, frozen, asked, config.alpha)
    write_page(transfer_page(report), report, desk.folder.path, NAME)
    return report
