"""Going on with a run that stopped for approval, in a process of its own: it outlives the app, as one started by hand.

The process is the command line's `resume`, so that a decision made here has the effects it has there.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ...bias_library.bias import clean
from ...core.errors import LibraryError
from ...runs.folder import RunFolder

LOG = "resumed.log"
_started: dict[Path, subprocess.Popen[bytes]] = {}


def go_on(folder: RunFolder, waiting: Sequence[str], approved: Sequence[str], author: str, reason: str) -> None:
    """Admit `approved` of the biases that wait, turn down the others, and let the run go on.

    LibraryError when none of them waits (any more) or a reason is missing.
    """
    if not waiting or folder.is_running() or is_starting(folder):
        raise LibraryError(f"the run {folder.run_id!r} does not wait for a decision any more")
    if unknown := sorted(set(approved) - set(waiting)):
        raise LibraryError(f"{unknown[0][:60]!r} is none of the biases that wait")
    if not clean(reason):
        raise LibraryError("a decision needs a reason; write one")
    chosen = [f"--approve={bias_id}" for bias_id in approved] or ["--reject-all"]
    command = [sys.executable, "-m", "biasscope", "resume", str(folder.path), *chosen]
    command += [f"--author={clean(author)}", f"--reason={clean(reason)}"]
    with (folder.path / LOG).open("wb") as log:
        _started[folder.path] = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )


def is_starting(folder: RunFolder) -> bool:
    """Whether a process that was started here lives."""
    process = _started.get(folder.path)
    return process is not None and process.poll() is None


def problem(folder: RunFolder) -> str:
    """The last line of a process that was started here and failed; empty when none did."""
    process = _started.get(folder.path)
    if process is None or process.poll() in (None, 0, 4):
        return ""
    said = (folder.path / LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return clean(said[-1]) if said else f"the process ended with code {process.returncode}"
