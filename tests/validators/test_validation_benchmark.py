"""The benchmark runs, keeps its error rates at few repetitions, and is reproducible by seed."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "validation.py"


def test_few_repetitions_in_process_and_from_the_command_line() -> None:
    spec = importlib.util.spec_from_file_location("validation_benchmark", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    rows = module.run(100, 3)
    missed = [row["yardstick"] for row in rows if row["met"] is False]
    assert not [name for name in missed if not name.startswith(("power", "calls"))], missed
    null = next(row for row in rows if row["yardstick"].startswith("false acceptance, 15%"))
    assert null["ours"] <= 0.05 and 0.35 <= null["published"] <= 0.6
    command = [sys.executable, str(SCRIPT), "--reps", "100", "--seed", "3", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(done.stdout) == {"reps": 100, "seed": 3, "rows": rows}
