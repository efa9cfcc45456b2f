"""Results of a long benchmark in a file of JSON lines, so that one that is stopped or killed goes on where it was."""

import json
import os


def read(path):
    """The objects that are whole; a line that was cut off by a kill counts as not written."""
    if path is None or not path.is_file():
        return []
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            found.append(row)
    return found


def add(path, row):
    """One object more, on disk before this returns."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    cut = False
    if path.is_file() and path.stat().st_size:
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            cut = file.read() != b"\n"
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" * cut + json.dumps(row) + "\n")
        file.flush()
        os.fsync(file.fileno())
