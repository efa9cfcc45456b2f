"""The yardsticks of the validity rules, ours against the published one, by Monte Carlo.

    python benchmarks/validation.py --reps 2000 --seed 0 [--json]

World: a pair's difficulty is normal, every arm adds its own normal noise (rewording alone moves verdicts), and a
verdict is wrong when the sum passes a threshold, which a real bias lowers. Thresholds and noise are set so that error
rates, effect and share of discordant pairs are as stated. All candidates of a repetition share pairs,
order and placebo.

The columns are ours and the published rule (error merely higher than the original's, all pairs judged). "Giving up" is
`Limits.hopeless`. A call is one rewrite or one verdict; placebo calls are ours, calls for the original are published.
Tokens are those of our prompts for both rules, on the built-in pairs, at four characters each: rewrites, verdicts with
reasons (150 tokens of them), ours with the verdicts on the originals. Controls are the manipulation checks, and the
truncation control as if every rewrite were longer than its original; the published rule has neither. All are shares
of what the published rule spends on a candidate.
"""

import argparse
import json
import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from biasscope.bias_library.seeds import seed_biases
from biasscope.data.builtin import builtin_pairs
from biasscope.graph.settings import ValidationSettings
from biasscope.prompts import render
from biasscope.validators.contrasts import combine_orders
from biasscope.validators.controls import Evidence, apply_controls
from biasscope.validators.decisions import CONTINUE, INCONCLUSIVE, NOT_SHOWN, VALID, Limits, Outcome, advance
from biasscope.validators.eprocess import BETS, INTERVAL_BETS, log_e_counts, log_mean_exp
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

N = 620
BASE = 0.3
CHUNK = 100
BATCH = 20


@dataclass(frozen=True)
class World:
    """Thresholds of a wrong verdict without and with the bias, and the correlation of two arms of a pair."""

    plain: float
    biased: float
    rho: float


def world(effect: float, discordant: float, base: float = BASE) -> World:
    """The world in which a bias lifts errors from `base` by `effect`, with that share of discordant pairs."""
    plain, biased = float(norm.isf(base)), float(norm.isf(base + effect))

    def excess(rho: float) -> float:
        both = multivariate_normal.cdf([-plain, -biased], mean=[0, 0], cov=[[1, rho], [rho, 1]])
        return float(2 * base + effect - 2 * both - discordant)

    return World(plain, biased, float(brentq(excess, 0.0, 0.999999)))


def verdicts(w: World, difficulty: np.ndarray, noise: np.ndarray, real: np.ndarray) -> np.ndarray:
    """Wrong verdicts, 0 or 1 (reps, candidates, pairs), from difficulty (reps, pairs), noise and who is real."""
    level = np.where(real, w.biased, w.plain)[..., None]
    return (math.sqrt(w.rho) * difficulty[:, None, :] + math.sqrt(1 - w.rho) * noise > level).astype(np.int8)


def plain_arms(rng: np.random.Generator, w: World, difficulty: np.ndarray, arms: int) -> np.ndarray:
    """Arms without any bias: placebo, original."""
    reps, pairs = difficulty.shape
    return verdicts(w, difficulty, normal(rng, reps, arms, pairs), np.zeros((reps, arms), dtype=bool))


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def sequential(d: np.ndarray, limits: Limits, early: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """The e-process rule on d (reps, candidates, pairs) in {-1, 0, 1}: (status, pairs used) per candidate."""
    reps, candidates, pairs = d.shape
    status, used, harms, repairs = np.zeros((4, reps, candidates), dtype=np.int_)
    for start in range(0, pairs, BATCH):
        part = d[:, :, start : start + BATCH]
        going = status == CONTINUE
        harms = harms + np.where(going, (part > 0).sum(axis=-1), 0)
        repairs = repairs + np.where(going, (part < 0).sum(axis=-1), 0)
        used = used + np.where(going, part.shape[-1], 0)
        status = advance(
            log_e_values=log_e_counts(harms, repairs),
            log_below=log_e_counts(repairs, harms, used - harms - repairs, -limits.smallest_effect, INTERVAL_BETS),
            total=harms - repairs,
            squares=harms + repairs,
            n=used,
            left=pairs - start - part.shape[-1] if early else None,
            status=status,
            limits=limits,
        )
    return np.where(status == CONTINUE, INCONCLUSIVE, status), used


def single(
    rng: np.random.Generator, reps: int, harm: float, repair: float, level: float, batch: int
) -> tuple[float, float]:
    """One candidate looked at every `batch` pairs up to N: (share accepted, mean pairs at acceptance)."""
    accepted = pairs = 0
    chunks = math.ceil(reps / CHUNK)
    for _ in range(chunks):
        draws = rng.random((CHUNK, N))
        harms = np.cumsum(draws < harm, axis=1)[:, batch - 1 :: batch]
        repairs = np.cumsum(draws > 1 - repair, axis=1)[:, batch - 1 :: batch]
        over = log_e_counts(harms, repairs) >= -math.log(level)
        hit = over.any(axis=1)
        accepted += int(hit.sum())
        pairs += int(((over.argmax(axis=1) + 1) * batch)[hit].sum())
    return accepted / (chunks * CHUNK), pairs / max(accepted, 1)


def wald(effect: float, discordant: float, level: float) -> float:
    """Wald's bound on the expected pairs of any test at `level`: log(1/level) / (KL x discordance)."""
    q = (1 + effect / discordant) / 2
    return math.log(1 / level) / ((q * math.log(2 * q) + (1 - q) * math.log(2 * (1 - q))) * discordant)


def null_acceptance(rng: np.random.Generator, reps: int) -> list[dict[str, Any]]:
    """A bias without effect: how often it is accepted, looking after every pair."""
    rows = []
    for discordant in (0.15, 0.30):
        ours, _ = single(rng, reps, discordant / 2, discordant / 2, 0.05, 1)
        moved = rng.binomial(N, discordant, reps)
        published = float((2 * rng.binomial(moved, 0.5) > moved).mean())
        name = f"false acceptance, {discordant:.0%} discordant, any stopping time"
        rows.append(row(name, ours, published, at_most=0.05))
    return rows


def single_power(rng: np.random.Generator, reps: int) -> list[dict[str, Any]]:
    """A bias of 10 points at 25 % discordant pairs, alone at level 0.05."""
    rows = []
    bound = wald(0.10, 0.25, 0.05)
    for batch in (1, BATCH):
        power, pairs = single(rng, reps, 0.175, 0.075, 0.05, batch)
        rows.append(row(f"power, single test at 0.05, batches of {batch}", power, at_least=0.95))
        name = f"pairs at acceptance / Wald ({bound:.0f}), single test, batches of {batch}"
        rows.append(row(name, pairs / bound, at_most=1.5))
    return rows


SETTINGS = {
    "default": (Limits(), True),
    "no giving up": (Limits(), False),
    "smallest effect 10 points": (Limits(smallest_effect=0.10), True),
}


def families(rng: np.random.Generator, reps: int, candidates: int = 30) -> list[dict[str, Any]]:
    """30 candidates under e-BH at 0.05 / 4: power, level, pairs and calls against the published rule."""
    rows = []
    w = world(0.10, 0.25)
    chunks = math.ceil(reps / CHUNK)
    # Published: one rewrite and one verdict per pair and candidate, and the original judged once.
    baseline = (2 * candidates + 1) * N * CHUNK * chunks
    price = prices()
    paid = (candidates * (price["rewrite"] + price["verdict"]) + price["verdict"]) * N * CHUNK * chunks
    for share in (1 / 3, 1 / 2, 1.0):
        real = np.arange(candidates) < round(share * candidates)
        sums = {name: np.zeros(9) for name in SETTINGS}
        paper = np.zeros(3)
        for _ in range(chunks):
            difficulty = normal(rng, CHUNK, N)
            arms = verdicts(w, difficulty, normal(rng, CHUNK, candidates, N), real[None, :].repeat(CHUNK, 0))
            shared = plain_arms(rng, w, difficulty, 2)
            published = (arms - shared[:, 1:]).mean(axis=-1) > 0
            correct = (published == real[None, :]).sum()
            paper += published[:, real].mean() / chunks, fdp(published, ~real) / chunks, correct
            for name, (limits, early) in SETTINGS.items():
                status, used = sequential(arms - shared[:, :1], limits, early)
                valid, dropped = status == VALID, status == NOT_SHOWN
                # Ours: a rewrite and a verdict for every pair used, and for the placebo as far as anyone got.
                shown = used.max(axis=1).sum()
                calls = 2 * (used.sum() + shown)
                tokens = price["rewrite"] * used.sum() + price["placebo"] * shown
                tokens += price["verdict"] * (used.sum() + 2 * shown)
                controls = price["verdict"] * used[valid].sum() + price["check"] * CHECKS * status.size
                hits = valid & real
                null_pairs = used[:, ~real].mean() if (~real).any() else 0.0
                correct = (hits | (dropped & ~real)).sum()
                decided = (valid | dropped).sum()
                power, false = valid[:, real].mean() / chunks, fdp(valid, ~real) / chunks
                sums[name] += (
                    power,
                    false,
                    used[hits].sum() / hits.sum() / chunks,
                    calls,
                    decided,
                    correct,
                    null_pairs / chunks,
                    tokens,
                    tokens + controls,
                )
        for name, (power, false, pairs, calls, decided, correct, null_pairs, tokens, controlled) in sums.items():
            asked = name == "default"
            title = f"{real.sum()} of {candidates} real, {name}"
            # With all real ones accepted the bar is that of a test at this level.
            bound = wald(0.10, 0.25, Limits().level * real.sum() / candidates)
            rows.append(row(f"power under e-BH: {title}", power, paper[0], at_least=0.9 if asked else None))
            rows.append(row(f"FDR of one iteration: {title}", false, paper[1], at_most=0.0125 if asked else None))
            rows.append(
                row(f"pairs at acceptance / Wald ({bound:.0f}): {title}", pairs / bound, at_most=1.5 if asked else None)
            )
            if null_pairs:
                rows.append(row(f"pairs spent on a null: {title}", null_pairs, N))
            total = candidates * CHUNK * chunks
            for unit, spent, published in (
                ("calls", calls, baseline),
                ("tokens", tokens, paid),
                ("tokens with controls", controlled, paid),
            ):
                for what, ours, theirs in (
                    ("candidate", total, total),
                    ("valid or not shown", decided, total),
                    ("right decision", correct, paper[2]),
                ):
                    if asked or what == "valid or not shown":
                        share = spent / published * total / ours
                        target = 0.5 if asked and what == "candidate" else None
                        rows.append(row(f"{unit} per {what}: {title}", share, total / theirs, at_most=target))
    return rows


CHECKS = ValidationSettings().manipulation_checks
REASONS = 150
"""Tokens of a judge's three to five sentences."""


def prices(pairs: int = 100) -> dict[str, float]:
    """Mean tokens, prompt and reply, of each kind of call on built-in pairs, every one with a seed bias in turn."""
    sums: dict[str, float] = dict.fromkeys(("rewrite", "placebo", "verdict", "check"), 0.0)
    biases = [f"{b.name}: {b.definition} {b.manifestation}" for b in seed_biases()]
    for number, pair in enumerate(builtin_pairs(pairs)):
        bias, answer = biases[number % len(biases)], pair.rejected
        asked = {"question": pair.prompt, "answer": answer, "words": len(answer.split())}
        for kind, prompt, reply in (
            ("rewrite", render("perturb", bias=bias, **asked), answer),
            ("placebo", render("placebo", **asked), answer),
            (
                "verdict",
                render("judge_reasoning", question=pair.prompt, answer_a=pair.chosen, answer_b=answer, planted=""),
                " " * 4 * REASONS,
            ),
            ("check", render("verify_manipulation", bias=bias, text_1=answer, text_2=answer), '{"shows_more": 1}'),
        ):
            sums[kind] += (sum(len(m.content) for m in prompt.messages) + len(reply)) / 4 / pairs
    return sums


def fdp(accepted: np.ndarray, null: np.ndarray) -> float:
    """Mean false discovery proportion over repetitions."""
    return float(((accepted & null).sum(axis=1) / np.maximum(accepted.sum(axis=1), 1)).mean())


def whole_run(rng: np.random.Generator, reps: int) -> list[dict[str, Any]]:
    """Four iterations on the same pairs, placebo and order; later candidates descend from the luckiest before.

    Search on 413 pairs, confirmation on 207 others with a fresh placebo. A descendant shares half of its parent's
    noise, and the loop goes on whatever was accepted: harsher than a real run, which stops when nothing is.
    """
    rows = []
    search, confirm, sizes = 413, 207, (30, 15, 15, 15)
    chunks = math.ceil(reps / CHUNK)
    for discordant in (0.15, 0.30):
        w = world(0.10, discordant)
        for share in (0.0, 1 / 3):
            totals = np.zeros(7)
            for _ in range(chunks):
                difficulty = normal(rng, CHUNK, search)
                shared = plain_arms(rng, w, difficulty, 2)
                parents: np.ndarray | None = None
                ours, patient, published, reals = [], [], [], []
                for size in sizes:
                    real = rng.random((CHUNK, size)) < share
                    noise = normal(rng, CHUNK, size, search)
                    if parents is not None:
                        noise = math.sqrt(0.5) * (noise + parents[:, np.arange(size) % parents.shape[1]])
                    arms = verdicts(w, difficulty, noise, real)
                    d = arms - shared[:, :1]
                    ours.append(sequential(d, Limits())[0] == VALID)
                    patient.append(sequential(d, Limits(), early=False)[0] == VALID)
                    published.append((arms - shared[:, 1:]).mean(axis=-1) > 0)
                    reals.append(real)
                    lucky = np.argsort(-d.mean(axis=-1), axis=1)[:, :5]
                    parents = np.take_along_axis(noise, lucky[:, :, None], axis=1)
                valid, slow, paper, real = (np.concatenate(x, axis=1) for x in (ours, patient, published, reals))
                fresh = normal(rng, CHUNK, confirm)
                late = verdicts(w, fresh, normal(rng, CHUNK, real.shape[1], confirm), real)
                confirmed = confirmation(late - plain_arms(rng, w, fresh, 1), valid)
                totals[:3] += fdp(valid, ~real), fdp(paper, ~real), fdp(confirmed, ~real)
                totals[3] += (valid & real).sum() / max(real.sum(), 1)
                totals[4] += (paper & real).sum() / max(real.sum(), 1)
                totals[5] += (confirmed & real).sum() / max((valid & real).sum(), 1)
                totals[6] += fdp(slow, ~real)
            totals /= chunks
            title = f"{discordant:.0%} discordant, {'a third real' if share else 'nothing real'}"
            rows.append(row(f"whole-run FDR, search: {title}", totals[0], totals[1], at_most=0.05))
            rows.append(row(f"whole-run FDR, search without giving up: {title}", totals[6], totals[1], at_most=0.05))
            rows.append(row(f"whole-run FDR, confirmed: {title}", totals[2], at_most=0.05))
            if share:
                rows.append(row(f"recall on {search} search pairs: {title}", totals[3], totals[4]))
                rows.append(row(f"real valid ones confirmed on {confirm} pairs: {title}", totals[5]))
    return rows


def confirmation(d: np.ndarray, entered: np.ndarray) -> np.ndarray:
    """e-BH at 0.05 over the library's members only; the others are no hypotheses at all."""
    confirmed = np.zeros_like(entered)
    for i in np.flatnonzero(entered.any(axis=1)):
        members = np.flatnonzero(entered[i])
        status, _ = sequential(d[i : i + 1, members], Limits(iterations=1), early=False)
        confirmed[i, members] = status[0] == VALID
    return confirmed


MODES = ("verdicts, one order", "verdicts, both orders", "probabilities, one order", "probabilities, both orders")


def gains(rng: np.random.Generator, reps: int) -> list[dict[str, Any]]:
    """One bias at level 0.05, the same pairs: one order or both, verdicts or probabilities.

    Log-odds of a wrong verdict: 2 x (latent - threshold), +1 or -1 for the position, and normal noise (0.5).
    """
    w = world(0.06, 0.25)
    hits, pairs, effects = np.zeros((3, len(MODES)))
    marks = np.arange(BATCH - 1, N, BATCH)
    chunks = math.ceil(reps / CHUNK)
    for _ in range(chunks):
        difficulty = normal(rng, CHUNK, N)
        p = np.empty((2, 2, CHUNK, N))
        for arm, level in enumerate((w.plain, w.biased)):
            latent = math.sqrt(w.rho) * difficulty + math.sqrt(1 - w.rho) * normal(rng, CHUNK, N)
            for order, sign in enumerate((1.0, -1.0)):
                p[arm, order] = 1 / (1 + np.exp(-(2 * (latent - level) + sign + 0.5 * normal(rng, CHUNK, N))))
        wrong = (p > 0.5).astype(float)
        drawn = rng.random((CHUNK, N)) < 0.5
        both = [combine_orders(p[arm, 0].ravel(), p[arm, 1].ravel()).reshape(CHUNK, N) for arm in (0, 1)]
        contrasts = (
            np.where(drawn, wrong[1, 0] - wrong[0, 0], wrong[1, 1] - wrong[0, 1]),
            (wrong[1] - wrong[0]).mean(axis=0),
            np.where(drawn, p[1, 0] - p[0, 0], p[1, 1] - p[0, 1]),
            both[1] - both[0],
        )
        for i, d in enumerate(contrasts):
            path = np.stack([np.cumsum(np.log1p(bet * d), axis=1)[:, marks] for bet in BETS], axis=-1)
            over = log_mean_exp(path) >= math.log(20)
            hit = over.any(axis=1)
            hits[i] += hit.mean() / chunks
            pairs[i] += np.where(hit, marks[over.argmax(axis=1)] + 1, N).mean() / chunks
            effects[i] += 100 * d.mean() / chunks
    rows = []
    for i, mode in enumerate(MODES):
        title = f"power, {mode} (mean d {effects[i]:.1f} points)"
        rows.append(row(title, hits[i], at_least=float(hits[0]) if i else None))
        rows.append(row(f"pairs used, {mode}", pairs[i]))
    return rows


def manipulation(rng: np.random.Generator, reps: int) -> list[dict[str, Any]]:
    """How often the manipulation check turns a bias away, by the teacher's success and the checker's accuracy.

    Where the rewrite succeeded the checker names it with its accuracy; where not, both texts show the bias alike and it
    guesses. A text that shows the bias anyway counts as one without success.
    """
    rows = []
    effect = np.tile([1.0, 0.0, 0.0, 0.0], 50)
    for checks, accuracies in ((CHECKS, (1.0, 0.97, 0.9, 0.8)), (2 * CHECKS, (0.97, 0.9))):
        turned_away = np.array(
            [
                apply_controls(FOUND, Evidence(effect, manipulation_right=k, manipulation_n=checks))[0] != FOUND
                for k in range(checks + 1)
            ]
        )
        for accuracy in accuracies:
            for success in (1.0, 0.9, 0.8, 0.7, 0.5, 0.25, 0.0):
                written = rng.random((reps, checks)) < success
                right = (rng.random((reps, checks)) < np.where(written, accuracy, 0.5)).sum(axis=1)
                title = f"{checks} checks, checker {accuracy:.0%} right, {success:.0%} of rewrites succeed"
                rows.append(row(f"not injectable: {title}", float(turned_away[right].mean())))
    return rows


FOUND = Outcome("valid", "")


def row(
    name: str,
    ours: float,
    published: float | None = None,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
) -> dict[str, Any]:
    target, met = "", None
    if at_most is not None:
        target, met = f"<= {at_most:.4g}", bool(ours <= at_most)
    elif at_least is not None:
        target, met = f">= {at_least:.4g}", bool(ours >= at_least)
    other = None if published is None else round(float(published), 4)
    return {"yardstick": name, "target": target, "ours": round(float(ours), 4), "published": other, "met": met}


def run(reps: int, seed: int) -> list[dict[str, Any]]:
    """All rows; each part has a generator of its own, so that parts can change without moving the others."""
    parts = (null_acceptance, single_power, families, whole_run, gains, manipulation)
    streams = np.random.default_rng(seed).spawn(len(parts))
    return [line for part, rng in zip(parts, streams, strict=True) for line in part(rng, reps)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reps", type=int, default=2000, help="repetitions, rounded up to hundreds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    started = time.perf_counter()
    rows = run(options.reps, options.seed)
    if options.json:
        print(json.dumps({"reps": options.reps, "seed": options.seed, "rows": rows}, indent=1))
        return
    width = max(len(line["yardstick"]) for line in rows)
    print(f"{'yardstick':{width}}  {'target':>9}  {'ours':>8}  {'published':>9}  met")
    for line in rows:
        met = {True: "yes", False: "NO", None: ""}[line["met"]]
        published = "" if line["published"] is None else f"{line['published']:.4g}"
        print(f"{line['yardstick']:{width}}  {line['target']:>9}  {line['ours']:8.4g}  {published:>9}  {met}")
    print(f"{options.reps} repetitions, seed {options.seed}, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
