"""The report's files."""

from collections.abc import Mapping
from pathlib import Path

from ...core.errors import StoreError
from ...core.store import Store
from .collect import collect
from .model import Report
from .plots import draw_plots
from .render import html, md
from .tables import biases_csv


def write_report(store: Store, run_id: str, folder: Path) -> dict[str, Path]:
    """Write report.html, report.md, report.json, biases.csv and plots/ into `folder`; returns the paths by name.

    Raises UserError for an unknown run, StoreError when the folder cannot be written.
    """
    report = collect(store, run_id)
    plots = draw_plots(report)
    files: dict[str, tuple[str, bytes]] = {
        "html": ("report.html", html(report, plots).encode()),
        "markdown": ("report.md", md(report, plots).encode()),
        "json": ("report.json", (report.model_dump_json(indent=2) + "\n").encode()),
        "csv": ("biases.csv", biases_csv(report).encode()),
    }
    for name, plot in plots.items():
        files[f"plot:{name}:svg"] = (f"plots/{name}.svg", plot.file_svg.encode())
        files[f"plot:{name}:png"] = (f"plots/{name}.png", plot.png)
    return write_files(folder, files, "report")


def write_files(folder: Path, files: Mapping[str, tuple[str, bytes]], what: str) -> dict[str, Path]:
    """Write `files`, key to (name in the folder, content); returns the paths by key. StoreError names `what`."""
    paths = {}
    try:
        for key, (name, content) in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_whole(path, content)
            paths[key] = path
    except OSError as error:
        raise StoreError(f"the {what} cannot be written to {str(folder)!r}: {error.strerror or error}") from error
    return paths


def _write_whole(path: Path, content: bytes) -> None:
    """All of the file or what was there before, also on a full disk."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def load_report(path: Path) -> Report:
    """The report in a report.json."""
    return Report.model_validate_json(path.read_text(encoding="utf-8"))
