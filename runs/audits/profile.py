"""The job `profile`: how reliable a judge is, on pairs whose better answer is known."""

from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field, field_validator

from ...audits.profile.people import Labels, read_people
from ...audits.profile.profile import profile
from ...audits.profile.result import Profile
from ...core.ids import content_id
from ...data.sources import load
from ..config import JobConfig, JudgeField, SourceField
from ..folder import RunFolder
from ..jobs import Desk, JobOutcome, Listener, drive_job
from .finished import read_result
from .page import write_page
from .profile_page import profile_page

NAME = "profile"
"""Files in the job's folder: profile.html, .md and .json, and plots/."""


class ProfileConfig(JobConfig):
    """A reliability profile of a judge."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["profile"] = "profile"
    """Told apart from other jobs in one workspace."""
    judge: JudgeField
    """The judge to measure, of any kind."""
    data: SourceField
    """Preference pairs whose better answer is known."""
    again: int = Field(100, ge=0)
    """So many pairs, in proportion to the domains, are judged a second time in the same order; 0: none."""
    labels: Path | None = None
    """What people say about the pairs: rows with id, label (chosen, rejected or tie) and, with several people,
    annotator (docs/profile.md)."""

    @field_validator("labels")
    @classmethod
    def _anywhere(cls, path: Path | None) -> Path | None:
        return path and path.expanduser().absolute()


def run_profile(folder: RunFolder, listener: Listener | None = None) -> JobOutcome[Profile]:
    """Measure, or go on with it. The profile's files are in the folder."""
    return drive_job(folder, ProfileConfig, _work, listener)


def report_profile(folder: RunFolder, output: Path) -> dict[str, Path]:
    """Write the pages again from profile.json. ConfigError while there is none."""
    found = read_result(folder, f"{NAME}.json", Profile)
    return write_page(profile_page(found), found, output, NAME)


async def _work(desk: Desk[ProfileConfig]) -> Profile:
    config = desk.config
    loaded = load(config.data)
    labels: Labels | None = None if config.labels is None else read_people(config.labels, loaded.pairs)
    judge = desk.judge("judge", config.judge)
    hashes = {"data": loaded.report.data_hash}
    if labels is not None:
        hashes["labels"] = content_id("labels", sorted(labels.by_pair.items()))
    desk.begin(hashes)
    desk.store.write_pairs(desk.run_id, "target", loaded.pairs)
    desk.store.write_note(desk.run_id, "data:data", loaded.report.model_dump(mode="json"))
    found = await profile(
        desk.job,
        judge,
        loaded.pairs,
        again=config.again,
        labels=labels,
        data=config.data.source,
        data_hash=hashes["data"],
    )
    write_page(profile_page(found), found, desk.folder.path, NAME)
    return found
