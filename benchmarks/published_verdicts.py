"""What goes with the verdicts of published judge runs: `biasscope discover --from-judgments` on LLMBar and JudgeBench.

    python benchmarks/published_verdicts.py FOLDER [--shuffles 3]

FOLDER holds judge_runs.jsonl.gz (verdicts), llmbar.jsonl.gz and judgebench.parquet (the pairs). For each judge: rows of
the log, pairs with texts, accuracy, and the proposals with direction, frequency (in percent) and weight. `by chance` is
the same on a log whose verdicts were moved to other pairs of the data set, drawn anew for each shuffle: proposals per
judge where nothing is to be found, to be held against the bound.
"""

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

LOG = "judge_runs.jsonl.gz"
DATA = {"llmbar": "llmbar.jsonl.gz", "judgebench": "judgebench.parquet"}


def main() -> None:
    """Print one table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shuffles", type=int, default=3)
    args = parser.parse_args()
    by_set = defaultdict(list)
    with gzip.open(args.folder / LOG, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            by_set[row["dataset"]].append(row)
    for name, file in DATA.items():
        rows = by_set[name]
        judges = proposals(rows, args.folder / file)
        chance: dict[str, list[int]] = defaultdict(list)
        for seed in range(args.shuffles):
            for judge in proposals(shuffled(rows, seed), args.folder / file):
                chance[judge["judge"]].append(len(judge["found"]))
        show(name, judges, Counter(f"{r['judge']}#{r['method']}" for r in rows), chance)


def proposals(rows, pairs):
    """What the command keeps for a log of these rows."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.jsonl")
        log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        command = ["discover", "--from-judgments", str(log), "--pairs", str(pairs), "--workspace", folder]
        done = subprocess.run(
            [sys.executable, "-m", "biasscope", *command], capture_output=True, encoding="utf-8", check=False
        )
        if done.returncode:
            sys.exit(done.stderr)
        return json.loads(Path(folder, "log.proposals.json").read_text(encoding="utf-8"))["judges"]


def shuffled(rows, seed):
    """The log with all verdicts on one item moved to another: who judged what how often stays, and which was right."""
    items = sorted({row["item"] for row in rows})
    others = items.copy()
    random.Random(seed).shuffle(others)
    moved = dict(zip(items, others, strict=True))
    return [{**row, "item": moved[row["item"]]} for row in rows]


def show(name, judges, rows, chance):
    """The table, and which features come up for several judges."""
    print(f"\n{name}\n")
    print("| judge | rows | pairs | right | proposals: direction, % of halves, weight | bound | by chance |")
    print("|---|---|---|---|---|---|---|")
    often: Counter[str] = Counter()
    for judge in judges:
        found = [said(line) for line in judge["found"]]
        often.update(f"{line['direction']} {line['title']}" for line in judge["found"])
        right = f"{100 * judge['right'] / judge['labelled']:.1f} %"
        print(
            f"| {judge['judge']} | {rows[judge['judge']]} | {judge['pairs']} | {right} | {'; '.join(found) or 'none'} "
            f"| {judge['false_bound']:.2f} | {np.mean(chance.get(judge['judge'], [np.nan])):.2f} |"
        )
    total = sum(len(judge["found"]) for judge in judges)
    bound = sum(judge["false_bound"] for judge in judges)
    by_chance = sum(float(np.mean(counts)) for counts in chance.values())
    print(f"\nall {len(judges)} judges: {total} proposals, bound {bound:.1f}, with shuffled verdicts {by_chance:.1f}")
    print("of several judges: " + (", ".join(f"{k} ({n})" for k, n in often.most_common() if n > 1) or "none"))


def said(line):
    """A proposal in short."""
    return f"{line['title']} {line['direction']} {100 * line['frequency']:.0f} {line['weight']:+.2f}"


if __name__ == "__main__":
    main()
