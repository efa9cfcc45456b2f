"""Peak memory and time of `biasscope dpo build` by the number of pairs: `python benchmarks/dpo_memory.py 6000 60000`.

Every size is built by a process of its own, with the rules teacher and no model, from generated pairs of about 120
words an answer. Peak memory is the operating system's count for that process (ru_maxrss).
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

WORDS = [
    f"{a}{b}{c}"
    for a in ("ka", "lo", "mi", "tre", "su", "po")
    for b in ("na", "ri", "do", "vel")
    for c in ("n", "s", "m")
]


def write_pairs(path: Path, count: int, seed: int = 0) -> None:
    """JSON lines with prompt, chosen and rejected."""
    generator = random.Random(seed)

    def sentence(least: int, most: int) -> str:
        return " ".join(generator.choices(WORDS, k=generator.randint(least, most))).capitalize() + "."

    with path.open("w", encoding="utf-8") as handle:
        for k in range(count):
            texts = [" ".join(sentence(6, 14) for _ in range(12)) for _ in range(2)]
            row = {"prompt": f"Question {k}: {sentence(15, 40)}", "chosen": texts[0], "rejected": texts[1]}
            handle.write(json.dumps(row) + "\n")


def measure(count: int, folder: Path) -> dict[str, float]:
    """Build from `count` pairs; seconds, peak memory in MiB and rows written."""
    write_pairs(folder / "pairs.jsonl", count)
    config = {
        "name": "built",
        "workspace": str(folder / "workspace"),
        "source": str(folder / "pairs.jsonl"),
        "teacher": "rules",
        "library": "features",
        "licence": "cc0-1.0",
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    command = [sys.executable, "-m", "biasscope", "dpo", "build", str(folder / "config.yaml")]
    began = time.monotonic()
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit((folder / "log").read_text())
    data = folder / "workspace" / "built" / "data"
    rows = sum(1 for name in ("train.jsonl", "validation.jsonl") for _ in (data / name).open())
    return {"seconds": time.monotonic() - began, "mib": usage.ru_maxrss / 1024, "rows": rows}


def main() -> None:
    """Print a table."""
    print("| pairs | rows | peak memory, MiB | seconds |\n|--:|--:|--:|--:|")
    for count in map(int, sys.argv[1:] or ("6000", "60000")):
        with tempfile.TemporaryDirectory(prefix="biasscope-dpo-") as folder:
            found = measure(count, Path(folder))
        print(f"| {count:,} | {found['rows']:,} | {found['mib']:.0f} | {found['seconds']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
