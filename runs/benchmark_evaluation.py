"""The job `benchmark evaluate`: judges on a finished benchmark, and its page, leaderboard and plot."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field

from ..builders.benchmark.evaluate import judge_rows
from ..builders.benchmark.leaderboard import evaluation_markdown, leaderboard
from ..builders.benchmark.scores import Evaluation, evaluation
from ..core.errors import ConfigError
from ..core.ids import content_id
from ..data.benchmark import BenchmarkRow, read_rows
from .benchmark_final import FINAL
from .benchmark_plot import difference_plot
from .config import JobConfig, JudgeField
from .folder import RunFolder, find_run
from .jobs import Desk, JobOutcome, Listener, drive_job
from .report.write import write_files

PLOT = "difference"


class EvaluationConfig(JobConfig):
    """Judges on a benchmark."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["evaluation"] = "evaluation"
    """Told apart from other jobs in one workspace."""
    benchmark: str
    """A finished benchmark: its folder or one of its files, or the name of the run that made it."""
    judges: tuple[JudgeField, ...] = Field(min_length=1)
    """Judges to evaluate, of any kind."""
    items: int | None = Field(None, ge=1)
    """At most so many items, the same for every judge: those with the lowest ids, which are hashes; None: all."""


@dataclass(frozen=True)
class Evaluated:
    """What came of an evaluation."""

    evaluation: Evaluation
    files: dict[str, Path]


def benchmark_path(benchmark: str, workspace: Path) -> Path:
    """Where a finished benchmark lies; ConfigError when a run of that name has none."""
    path = Path(benchmark)
    if path.suffix in (".parquet", ".jsonl") or (path.is_dir() and not (path / "config.yaml").is_file()):
        return path
    folder = find_run(benchmark, workspace, kind="benchmark")
    if not (folder.path / FINAL).is_dir():
        raise ConfigError(
            f"the benchmark {folder.run_id!r} is not finished: `{folder.command('benchmark finalize')}` first"
        )
    return folder.path / FINAL


async def evaluate_benchmark(desk: Desk[EvaluationConfig]) -> Evaluated:
    """The work of the job."""
    config = desk.config
    path = benchmark_path(config.benchmark, config.workspace)
    rows = sorted(read_rows(path), key=lambda row: row.pair_id)[: config.items]
    judges = [desk.judge(f"judge {k}", spec) for k, spec in enumerate(config.judges, 1)]
    repeated = [name for name in {j.name for j in judges} if sum(j.name == name for j in judges) > 1]
    if repeated:
        raise ConfigError(f"judges: {repeated[0]!r} is given twice")
    desk.begin({"benchmark": _rows_hash(rows)})
    items, sources = await judge_rows(desk.job, judges, rows)
    found = evaluation(_title(path, config), rows, items, sources)
    return Evaluated(found, write_evaluation(found, desk.folder.path))


def run_evaluation(folder: RunFolder, listener: Listener | None = None) -> JobOutcome[Evaluated]:
    """Evaluate, or go on with it."""
    return drive_job(folder, EvaluationConfig, evaluate_benchmark, listener)


def write_evaluation(found: Evaluation, folder: Path) -> dict[str, Path]:
    """evaluation.json and .md, leaderboard.md and the plot; returns the paths by name. Raises StoreError."""
    plot = difference_plot(found)
    files: dict[str, tuple[str, bytes]] = {
        "json": ("evaluation.json", (found.model_dump_json(indent=2) + "\n").encode()),
        "markdown": ("evaluation.md", evaluation_markdown(found, f"plots/{PLOT}.svg" if plot else None).encode()),
        "leaderboard": ("leaderboard.md", leaderboard(found).encode()),
    }
    if plot:
        files["svg"] = (f"plots/{PLOT}.svg", plot.file_svg.encode())
        files["png"] = (f"plots/{PLOT}.png", plot.png)
    return write_files(folder, files, "evaluation")


def _rows_hash(rows: list[BenchmarkRow]) -> str:
    return content_id("benchmark", [[row.pair_id, row.source_pair_id, row.source_rejected] for row in rows])


def _title(path: Path, config: EvaluationConfig) -> str:
    """The card's title, else the name that was given."""
    card = path / "README.md"
    if card.is_file():
        for line in card.read_text(encoding="utf-8", errors="replace").split("\n"):
            if line.startswith("pretty_name: "):
                return line.removeprefix("pretty_name: ").strip("'\"")
    return config.benchmark
