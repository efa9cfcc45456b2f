"""A run's folder: config.yaml, manifest.json, store.db, checkpoints.db and the report, under a workspace."""

import fcntl
import functools
import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..core.errors import ConfigError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def default_workspace() -> Path:
    """BIASSCOPE_WORKSPACE, else a folder of that name here. What a flag or a configuration says goes before it."""
    return Path(os.environ.get("BIASSCOPE_WORKSPACE") or "biasscope-workspace")


@dataclass(frozen=True)
class RunFolder:
    """Paths of one run."""

    path: Path

    @functools.cached_property
    def _values(self) -> dict[str, Any]:
        try:
            values = yaml.safe_load(self.config.read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError):
            values = None
        return values if isinstance(values, dict) else {}

    @property
    def run_id(self) -> str:
        """The run's name, which its rows carry; a folder may have been renamed since."""
        return str(self._values.get("name") or self.path.name)

    @property
    def kind(self) -> str:
        """What kind of job it is: `discover`, or the name of an audit or builder."""
        return str(self._values.get("kind") or "discover")

    @property
    def resume_command(self) -> str:
        """What goes on with it from here."""
        return self.command("resume")

    def command(self, verb: str, more: str = "") -> str:
        """A command on this run to type from here: by name where the workspace needs no flag, else by folder."""
        run = self.run_id if _usual(self.path.parent) else str(self.path)
        return f"biasscope {verb} {shlex.quote(run)}{f' {more}' if more else ''}"

    @property
    def config(self) -> Path:
        """The full configuration, with what a resume has changed since the start."""
        return self.path / "config.yaml"

    @property
    def manifest(self) -> Path:
        """Versions, prompt hashes, model identities, data hashes, seed."""
        return self.path / "manifest.json"

    @property
    def store(self) -> Path:
        """The run's database, unless the configuration names another."""
        return self.path / "store.db"

    @property
    def checkpoints(self) -> Path:
        """LangGraph's checkpoints."""
        return self.path / "checkpoints.db"

    @property
    def lock(self) -> Path:
        """Held by the process that drives the run."""
        return self.path / "run.lock"

    def is_running(self) -> bool:
        """Whether a live process drives the run."""
        if not self.lock.exists():
            return False
        with self.lock.open("r") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False


def command_in(workspace: Path, verb: str) -> str:
    """A command on a workspace to type from here, which names it where it must."""
    return f"biasscope {verb}" + ("" if _usual(workspace) else f" -w {shlex.quote(str(workspace))}")


def _usual(workspace: Path) -> bool:
    return workspace.resolve() == default_workspace().resolve()


def check_name(name: str) -> str:
    """A run's name is a folder's name: letters, digits, dot, dash and underscore."""
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"name: {name!r} cannot name a run; use letters, digits, '.', '-' and '_', at most 100, beginning with a "
            "letter or digit"
        )
    return name


def runs_in(workspace: Path) -> Iterator[RunFolder]:
    """The runs of a workspace, by name."""
    if workspace.is_dir():
        for path in sorted(workspace.iterdir()):
            if (path / "config.yaml").is_file():
                yield RunFolder(path)


def find_run(run: str, workspace: Path, kind: str | None = "discover") -> RunFolder:
    """A run by folder path or by name in the workspace; `latest` is the one changed last.

    `kind` is the kind of job that the caller can use, None any. Raises ConfigError.
    """
    as_path = Path(run)
    if (as_path / "config.yaml").is_file():
        return _of_kind(RunFolder(as_path.resolve()), kind)
    known = list(runs_in(workspace))
    usable = [folder for folder in known if kind in (None, folder.kind)]
    if run == "latest" and usable:
        return max(usable, key=lambda folder: folder.config.stat().st_mtime)
    for folder in known:
        if folder.run_id == run:
            return _of_kind(folder, kind)
    names = ", ".join(folder.run_id for folder in usable) or "none yet"
    raise ConfigError(f"no run {run!r} in {str(workspace)!r} (runs there: {names}); give a name or a run's folder")


def _of_kind(folder: RunFolder, kind: str | None) -> RunFolder:
    if kind not in (None, folder.kind):
        raise ConfigError(f"{folder.run_id!r} is of the kind {folder.kind!r}, and this command takes {kind!r}")
    return folder
