"""The long benchmark on the worlds is killed, goes on with the same command, and makes no run twice."""

import json
import subprocess
import sys
import time
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "planted.py"
SMALL = ["--seeds", "0", "--paper-seeds", "0", "--target", "6", "--test", "6", "--jobs", "1", "--json"]


def test_a_killed_benchmark_goes_on_where_it_was(tmp_path: Path) -> None:
    kept = tmp_path / "scores.jsonl"
    command = [sys.executable, str(SCRIPT), *SMALL, "--null-seeds", "2", "--keep", str(kept)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while not (kept.is_file() and kept.stat().st_size) and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    process.kill()
    process.wait()
    first = kept.read_text()
    assert json.loads(first.splitlines()[0])["job"] == ["null", "rigorous", 1, 6, 6]
    kept.write_text(first.splitlines()[0] + '\n{"job": ["null", "rigo')  # as a kill in the middle of a line leaves it

    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert [
        line.split(":")[0] for line in done.stderr.splitlines() if " calls, " in line and "per run" not in line
    ] == ["null rigorous 2"]
    shown = json.loads(done.stdout)
    assert [run["seed"] for run in shown["null rigorous"]["runs"]] == [1, 2]
    assert shown["null rigorous"]["runs"][0] == json.loads(first.splitlines()[0])["score"]
    assert shown["bars"] == {"null runs without a false discovery >= 0.95": True}
    whole = [row for row in kept.read_text().splitlines() if row.endswith("}")]
    assert [json.loads(row)["job"][2] for row in whole] == [1, 2]
