"""The benchmark runs, keeps its error rates at few repetitions, and is reproducible by seed."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

from scipy.stats import binom

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "validation.py"


def test_few_repetitions_in_process_and_from_the_command_line() -> None:
    spec = importlib.util.spec_from_file_location("validation_benchmark", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    rows = module.run(100, 3)
    missed = [row["yardstick"] for row in rows if row["met"] is False]
    assert not [name for name in missed if not name.startswith(("power", "calls", "tokens"))], missed
    null = next(row for row in rows if row["yardstick"].startswith("false acceptance, 15%"))
    assert null["ours"] <= 0.05 and 0.35 <= null["published"] <= 0.6
    turned_away = {row["yardstick"]: row["ours"] for row in rows if row["yardstick"].startswith("not injectable")}
    for accuracy, success in ((0.97, 0.7), (0.9, 0.5), (0.8, 1.0)):
        name = f"not injectable: 30 checks, checker {accuracy:.0%} right, {success:.0%} of rewrites succeed"
        exact = float(binom.cdf(22, 30, success * accuracy + (1 - success) / 2))
        assert abs(turned_away[name] - exact) < 4 * (exact * (1 - exact) / 100) ** 0.5, name
    command = [sys.executable, str(SCRIPT), "--reps", "100", "--seed", "3", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(done.stdout) == {"reps": 100, "seed": 3, "rows": rows}
