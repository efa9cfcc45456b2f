"""The contrast discoverer on simulated judges whose weights are known: recall and false selections.

    python benchmarks/contrasts.py [--seeds 20] [--sizes 200 500] [--keep FILE] [--json]

Every seed draws a judge: six features of the lexicon that move it when they are written in (by 0.5 to 2 logits, one of
them against the answer), four qualities outside the lexicon that it weighs too, a quality term and noise by text. The
target pairs are built-in ones. Two rounds, as in a run: the second without what the first has found. Modes:

score     the judge gives scores, three or more features are written into each rejected answer (teacher `rules`)
verdict   the same, but all that is seen is which answer it chose
log       verdicts on pairs as they are, each answer with some features of its own: what `--from-judgments` sees

A second table has judges that weigh nothing but what lies outside the lexicon. A feature without a weight that is
selected all the same is `by proxy` when its edit does move the judge, by PROXY logits or more against the usual edit,
through something else that the judge weighs (commas, word lengths, another feature); otherwise it is false. With
`--keep` every run is written to a file when it is done, and one that is there is not made again.
"""

import argparse
import json
import math
import random
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path

import kept
import numpy as np
from biasscope.agents.contrasts import Profiles, Seen, between, find, within
from biasscope.agents.rules_teacher import RulesTeacher
from biasscope.bias_library.features import load_features
from biasscope.core.ids import content_id, seed_from
from biasscope.core.records import Judgment, mixed_arm
from biasscope.data.builtin import builtin_pairs
from biasscope.data.order import draw_order
from biasscope.graph.sampling import assign_features, features_each

PULLS = (0.5, 0.75, 1.0, 1.5, 2.0, -1.5)
"""Logits for one edit of the feature."""
FEATURES = load_features()
PROXY = 0.2
MODES = ("score", "verdict", "log")


def words(text):
    return text.lower().split() or [""]


OUTSIDE = {
    "word length": lambda text: np.mean([len(w) for w in words(text)]),
    "letter e": lambda text: text.count("e") / max(len(text), 1),
    "vowels first": lambda text: np.mean([w[0] in "aeiou" for w in words(text) if w]),
    "repeats": lambda text: len(set(words(text))) / len(words(text)),
    "commas": lambda text: text.count(",") / len(words(text)),
    "the": lambda text: words(text).count("the") / len(words(text)),
    "hissing": lambda text: sum(text.count(c) for c in "sz") / max(len(text), 1),
    "odd words": lambda text: len(words(text)) % 2,
}
"""Qualities of a text that the lexicon does not measure."""


class SimulatedJudge:
    """Leans by what it weighs, by quality and by noise that depends on the text alone."""

    def __init__(self, seed, lexicon=True):
        rng = random.Random(seed_from("judge", seed))
        self.seed = seed
        chosen = rng.sample(sorted(FEATURES), len(PULLS)) if lexicon else []
        self.weights = {name: pull / own_shift()[name] for name, pull in zip(chosen, PULLS, strict=False)}
        self.pulls = dict(zip(chosen, PULLS, strict=False))
        self.outside: dict[str, float] = {
            name: rng.choice((-0.5, 0.5)) / spread()[name] for name in rng.sample(sorted(OUTSIDE), 4)
        }

    def score(self, text, question):
        rng = random.Random(seed_from("noise", self.seed, text, question))
        pull = sum(w * math.log1p(FEATURES[n].measure(text, question)) for n, w in self.weights.items())
        return pull + sum(w * OUTSIDE[n](text) for n, w in self.outside.items()) + rng.gauss(0, 0.5)

    def judgment(self, pair, chosen, text, mode):
        quality = 1.2 + random.Random(seed_from("quality", self.seed, pair.id)).gauss(0, 1)
        lean = self.score(text, pair.prompt) - self.score(chosen, pair.prompt) - quality
        order = draw_order(pair.id, self.seed)
        return Judgment(
            id=content_id(pair.id, text),
            run_id="",
            pair_id=pair.id,
            arm=mixed_arm(0),
            order=order,
            verdict="rejected" if lean > 0 else "chosen",
            judge="simulated",
            **({"score_chosen": 0.0, "score_rejected": lean} if mode == "score" else {}),
        )

    def moved_by(self):
        """Logits by which the edit of each feature moves the judge on average, against the usual edit."""
        weights = np.array(
            [*(self.weights.get(n, 0.0) for n in FEATURES), *(self.outside.get(n, 0.0) for n in OUTSIDE)]
        )
        pull = edit_shifts() @ weights
        return dict(zip(FEATURES, pull - np.median(pull), strict=True))


@cache
def pairs_of(n):
    return builtin_pairs(n)


def shown_by(text, question):
    """All qualities that a judge may weigh, on the scale on which it does."""
    lexicon = [math.log1p(feature.measure(text, question)) for feature in FEATURES.values()]
    return np.array([*lexicon, *(of(text) for of in OUTSIDE.values())])


@cache
def edit_shifts():
    """By how much the edit of each feature (row) moves each quality (column), over some answers."""
    total = np.zeros((len(FEATURES), len(FEATURES) + len(OUTSIDE)))
    pairs = pairs_of(24)
    for pair in pairs:
        before = shown_by(pair.rejected, pair.prompt)
        for row, feature in enumerate(FEATURES.values()):
            after = feature.write(pair.rejected, random.Random(pair.id), pair.prompt)
            total[row] += shown_by(after, pair.prompt) - before
    return total / len(pairs)


@cache
def own_shift():
    """By how much the edit of a feature moves its own measure."""
    return dict(zip(FEATURES, np.diag(edit_shifts()), strict=False))


@cache
def spread():
    """Standard deviation of the outside qualities over answers."""
    return {name: float(np.std([of(p.rejected) for p in pairs_of(200)])) for name, of in OUTSIDE.items()}


def comparisons(judge, n, mode, rounds, profiles):
    """The rows of each round so far; features that were found are left out of later edits."""
    pairs, teacher = pairs_of(n), RulesTeacher("run", seed=judge.seed)
    if mode == "log":
        sides = {
            side: assign_features([p.id for p in pairs], list(FEATURES), 3, seed=judge.seed, iteration=k)
            for k, side in enumerate(("chosen", "rejected"))
        }
        seen = []
        for pair in pairs:
            texts = {
                side: teacher._mixed(pair.model_copy(update={"rejected": getattr(pair, side)}), sides[side][pair.id])
                for side in sides
            }
            made = pair.model_copy(update=texts)
            seen.append(Seen(made, made.rejected, (judge.judgment(made, made.chosen, made.rejected, mode),)))
        return between(seen, profiles, "verdict")
    originals = {p.id: Seen(p, p.rejected, (judge.judgment(p, p.chosen, p.rejected, mode),)) for p in pairs}
    rewrites = []
    for number, known in enumerate(rounds):
        names = [name for name in FEATURES if name not in known]
        each = features_each(n, len(names))
        assigned = assign_features([p.id for p in pairs], names, each, seed=judge.seed, iteration=number)
        for pair in pairs:
            text = teacher._mixed(pair, assigned[pair.id])
            rewrites.append(Seen(pair, text, (judge.judgment(pair, pair.chosen, text, mode),)))
    return within(rewrites, originals, profiles, mode)


def one(job):
    """What was found for one judge, size and mode, in two rounds (a log has one)."""
    seed, n, mode, lexicon = job
    judge, profiles = SimulatedJudge(seed, lexicon), Profiles(FEATURES)
    rounds, found, bounds = [[]], {}, []
    for number in range(1 if mode == "log" else 2):
        rows = comparisons(judge, n, mode, rounds, profiles)
        findings = find(
            [rows],
            FEATURES,
            np.random.default_rng((seed, number)),
            response="verdict" if mode == "log" else mode,
            known=sorted(found),
        )
        found |= {f.feature.name: 1 if f.evidence.direction == "more" else -1 for f in findings.found}
        bounds.append(findings.stability.false_bound)
        rounds.append(sorted(found))
    true = judge.pulls
    moved = judge.moved_by()
    others = [name for name in found if name not in true]
    proxies = [name for name in others if moved[name] * found[name] >= PROXY]
    return {
        "n": n, "mode": mode, "seed": seed, "lexicon": lexicon, "bound": sum(bounds),
        "hits": {str(pull): name in found and found[name] * pull > 0 for name, pull in true.items()},
        "wrong_direction": sum(found.get(name, 0) * pull < 0 for name, pull in true.items()),
        "proxy": len(proxies),
        "false": len(others) - len(proxies),
    }  # fmt: skip


def main() -> None:
    """Print the two tables; with `--json` every run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 500])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    jobs = [
        (seed, n, mode, lexicon)
        for lexicon in (True, False)
        for mode in MODES
        for n in asked.sizes
        for seed in range(asked.seeds)
    ]
    runs = all_runs(jobs, asked.jobs, asked.keep)
    if asked.json:
        print(json.dumps(runs, indent=1))
        return
    shown = " | ".join(f"{pull:+g}" for pull in PULLS)
    print(f"Recall by pull in logits, {asked.seeds} judges each; false selections per run\n")
    print(f"| seen | pairs | {shown} | all | by proxy | false | bound |\n|{'---|' * (7 + len(PULLS) - 1)}")
    for mode in MODES:
        for n in asked.sizes:
            mine = [r for r in runs if (r["mode"], r["n"], r["lexicon"]) == (mode, n, True)]
            recall = [np.mean([r["hits"][str(pull)] for r in mine]) for pull in PULLS]
            cells = " | ".join(f"{x:.2f}" for x in (*recall, np.mean(recall)))
            print(f"| {mode} | {n} | {cells} | {counts(mine)} |")
    wrong = sum(r["wrong_direction"] for r in runs)
    print(f"\nFound in the wrong direction: {wrong}\n\nJudges that weigh nothing of the lexicon\n")
    print("| seen | pairs | by proxy | false | bound | judges with a false selection |\n|---|---|---|---|---|---|")
    for mode in MODES:
        for n in asked.sizes:
            mine = [r for r in runs if (r["mode"], r["n"], r["lexicon"]) == (mode, n, False)]
            print(f"| {mode} | {n} | {counts(mine)} | {sum(r['false'] > 0 for r in mine)} of {len(mine)} |")
    # The bound is on average over everything; one table is enough to see it broken.
    broken = [m for m in MODES if np.mean([r["false"] - r["bound"] for r in runs if r["mode"] == m]) > 0]
    if broken:
        print(f"MISSED: more false selections than the bound in {broken}")
    sys.exit(bool(broken))


def all_runs(jobs, workers, keep):
    """One for each job, those in the file `keep` taken from there."""
    known = {(r["seed"], r["n"], r["mode"], r["lexicon"]): r for r in kept.read(keep)}
    with ProcessPoolExecutor(workers) as pool:
        # Small ones first: a benchmark that is stopped has something whole.
        left = sorted((job for job in jobs if job not in known), key=lambda job: job[1])
        waiting = [pool.submit(one, job) for job in left]
        for future in as_completed(waiting):
            run = future.result()
            known[run["seed"], run["n"], run["mode"], run["lexicon"]] = run
            kept.add(keep, run)
    return [known[job] for job in jobs]


def counts(runs):
    """Selections by proxy, false ones, and the bound, on average."""
    return " | ".join(f"{np.mean([r[key] for r in runs]):.2f}" for key in ("proxy", "false", "bound"))


if __name__ == "__main__":
    main()
