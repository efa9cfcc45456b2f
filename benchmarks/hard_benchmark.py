"""A hard benchmark from start to end through the program, on the planted world, where the truth is known.

    python benchmarks/hard_benchmark.py [--pairs 150] [--variants 3] [--folder DIR]
    python benchmarks/hard_benchmark.py --annotate RUN      only the scripted annotators, on a build of your own

Build, filter, annotate, finalize, load, evaluate. The annotators are scripts that disagree where they are told to, so
that agreement can be worked by hand: on three items both find the same answer, on four items only the second does. The
third agrees with the first; the fourth sides with the second on one of the four, which is adjudicated to `broken`.
The run is thrown away unless --folder says where to keep it. Exit 1 when a bar is missed.
"""

import argparse
import csv
import json
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import datasets
import yaml
from biasscope.bias_library.bias import make_bias
from biasscope.bias_library.exchange import export_published
from biasscope.core.records import Bias, Item
from biasscope.runs.folder import RunFolder
from biasscope.runs.jobs import open_store
from biasscope.simulation.pairs import world_pairs
from biasscope.simulation.server import WorldServer
from biasscope.simulation.world import World, load_world

DISAGREE, SAME = 4, 3
COLUMNS = {"prompt": "prompt", "chosen": "chosen", "rejected": "rejected", "domain": "domain", "id": "id"}


def biasscope(*arguments: object) -> str:
    """Run the program, show what was typed and what it printed."""
    words = [str(a) for a in arguments]
    print(f"\n$ biasscope {shlex.join(words)}", flush=True)
    command = [sys.executable, "-m", "biasscope", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    print(done.stdout, end="", flush=True)
    if done.returncode:
        sys.exit(f"{done.stderr}\nexit status {done.returncode}")
    return done.stdout


def weighing(world: World, factor: float, seed: int) -> World:
    """The world with its judge's planted weights times `factor`."""
    weights = {name: factor * weight for name, weight in world.spec.judge.weights.items()}
    judge = world.spec.judge.model_copy(update={"weights": weights})
    return World(world.spec.model_copy(update={"judge": judge, "seed": seed}))


def write_inputs(folder: Path, world: World, pairs: int) -> dict[str, str]:
    """Source pairs and library; returns the feature of every bias by name."""
    with (folder / "pairs.jsonl").open("w", encoding="utf-8") as handle:
        for pair in world_pairs(world, pairs, 2):
            handle.write(json.dumps({key: getattr(pair, key) for key in COLUMNS}) + "\n")
    biases = [make_bias(f.spec.title, f.spec.definition, "", origin="imported") for f in world.features.values()]
    (folder / "library.json").write_text(export_published(biases), encoding="utf-8")
    return {bias.name: name for bias, name in zip(biases, world.features, strict=True)}


def opened_items(run: RunFolder) -> list[tuple[Item, Bias]]:
    """The items of a build with their biases."""
    store = open_store(run)
    try:
        biases = {bias.id: bias for bias in store.select(Bias)}
        return [(item, biases[item.bias_id]) for item in store.select(Item, run_id=run.run_id)]
    finally:
        store.close()


def annotate(run: RunFolder) -> float:
    """Four scripted people and an adjudication, through the program; Fleiss' kappa as worked by hand."""
    ids = sorted(item.pair_id for item, _ in opened_items(run))
    n = len(ids)
    if n < DISAGREE + SAME + 1:
        sys.exit(f"{n} items are too few for the scripted annotators; build more")
    split, same = set(ids[:DISAGREE]), set(ids[DISAGREE : DISAGREE + SAME])

    def first(item_id: str) -> str:
        return "same" if item_id in same else "different"

    def second(item_id: str) -> str:
        return "same" if item_id in same | split else "different"

    def fourth(item_id: str) -> str:
        return "same" if item_id == ids[0] else "different"

    people = (("Ada", "jsonl", first), ("Bob", "csv", second), ("Cyd", "csv", first), ("Dan", "jsonl", fourth))
    for name, format, decide in people:
        _label(run, name, format, decide)
    _label(run, "Ada", "jsonl", lambda item_id: "broken")
    biasscope("benchmark", "annotate", "status", run.path)
    observed = (n - DISAGREE) / n
    p = (2 * SAME + DISAGREE) / (2 * n)
    expected = p * p + (1 - p) ** 2
    kappa = (observed - expected) / (1 - expected)
    print(
        f"by hand: both the same label on {n - DISAGREE} of {n}, observed {observed:.4f}; {2 * SAME + DISAGREE} of "
        f"{2 * n} labels are `same`, expected {expected:.4f}; kappa {kappa:.4f}"
    )
    return kappa


def _label(run: RunFolder, name: str, format: str, decide) -> None:
    biasscope("benchmark", "annotate", "export", run.path, "--annotator", name, "--format", format)
    file = run.path / "annotation" / name.lower() / f"tasks.{format}"
    if format == "jsonl":
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
        file.write_text("\n".join(json.dumps(r | {"label": decide(r["item_id"])}) for r in rows), encoding="utf-8")
    else:
        with file.open(encoding="utf-8-sig", newline="") as handle:
            rows = list(csv.DictReader(handle))
        with file.open("w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, rows[0].keys())
            writer.writeheader()
            writer.writerows(r | {"label": decide(r["item_id"])} for r in rows)
    biasscope("benchmark", "annotate", "import", run.path, file)


def story(folder: Path, pairs: int, variants: int) -> dict[str, bool]:
    """All of it; returns the bars and whether they were reached."""
    world = load_world("easy")
    names = write_inputs(folder, world, pairs)
    workspace = folder / "workspace"
    with (
        WorldServer(world, process=True) as server,
        WorldServer(weighing(world, 0, 9), process=True) as fair,
        WorldServer(weighing(world, 2, 5), process=True) as biased,
    ):
        model = {"model": "openai:world", "base_url": server.url}
        config = {
            "kind": "benchmark",
            "name": "hard",
            "workspace": str(workspace),
            "source": {"source": str(folder / "pairs.jsonl"), "columns": COLUMNS},
            "licence": "cc0-1.0",
            "library": str(folder / "library.json"),
            "variants": variants,
            "teacher": model,
            "judges": [model, {**model, "mode": "verdict"}],
        }
        (folder / "benchmark.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        biasscope("benchmark", "build", folder / "benchmark.yaml")
        run = RunFolder(workspace / "hard")
        flipped = [names[bias.name] for item, bias in opened_items(run) if set(item.misled) - set(item.misled_before)]
        planted = sum(world.spec.judge.weights.get(name, 0) > 0 for name in flipped) / len(flipped)
        told = ", ".join(f"{count} {name}" for name, count in Counter(flipped).most_common())
        print(f"items that the bias made hard: {len(flipped)} ({told}); planted: {100 * planted:.0f} %")
        kappa = annotate(run)
        biasscope("benchmark", "finalize", run.path)
        final = run.path / "final"
        loaded = datasets.load_dataset(str(final), cache_dir=str(folder / "cache"))["test"]
        print(f"datasets.load_dataset: {loaded.num_rows} rows, columns {', '.join(loaded.column_names)}")
        judges = [f"openai:fair@{fair.url}", f"openai:biased@{biased.url}"]
        options = [word for judge in judges for word in ("--judge", judge)]
        biasscope("benchmark", "evaluate", final, *options, "--workspace", workspace, "--name", "who")
    found = json.loads((workspace / "who" / "evaluation.json").read_text(encoding="utf-8"))
    moved = {score["judge"].split("#")[0]: score["overall"]["difference"] for score in found["judges"]}
    card = (final / "README.md").read_text(encoding="utf-8")
    return {
        "planted share of the items that the bias made hard >= 0.8": planted >= 0.8,
        "kappa as worked by hand": f"kappa {kappa:.2f}" in card,
        "rows are the items that annotators left": loaded.num_rows == len(opened_items(run)) - SAME - 1,
        "the biased judge does worse than on the source pairs": moved["biased"]["low"] > 0,
        "the fair judge's difference includes zero": moved["fair"]["low"] < 0 < moved["fair"]["high"],
    }


def main() -> None:
    """Run, then print the bars."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=150)
    parser.add_argument("--variants", type=int, default=3)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--annotate", type=Path, metavar="RUN")
    asked = parser.parse_args()
    if asked.annotate:
        annotate(RunFolder(asked.annotate))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        bars = story(folder, asked.pairs, asked.variants)
    print()
    for bar, reached in bars.items():
        print(f"{'reached' if reached else 'MISSED'}: {bar}")
    sys.exit(not all(bars.values()))


if __name__ == "__main__":
    main()
