"""The statistics of the two audits: published figures of JudgeBiasBench, and self-preference where the truth is known.

    python benchmarks/audits.py published judgebiasbench_published.jsonl.gz
    python benchmarks/audits.py simulated [--repetitions 400]

`published` recomputes drop and flip rate from n, accuracies and flips, and then harms, repairs, BSR and exact McNemar
corrected over each judge's biases. `simulated` has a judge with known coefficients, a panel whose grades carry errors,
and panel members who judge the same pairs; it prints how often 95 % intervals hold the truth.
"""

import argparse
import gzip
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
from biasscope.core.errors import DataError
from biasscope.validators.preference_model import fit_preference
from biasscope.validators.self_preference import (
    beyond_baseline,
    discriminability,
    equal_quality,
    panel_view,
    propensity,
    unequal_quality,
)
from biasscope.validators.sensitivity import corrected, sensitivity, table_from_margins
from scipy.special import expit
from scipy.stats import norm

SCENARIOS = (
    # beta_self, a, position, lead of own answers in true quality, error of a member's grades
    (0.0, 1.2, 0.8, 0.0, 0.0),
    (0.5, 1.2, 0.8, 0.0, 0.0),
    (-0.5, 1.2, 2.0, 0.5, 0.0),
    (0.0, 1.2, 0.8, 0.5, 0.5),
    (0.5, 1.2, 0.8, 0.5, 0.5),
)
PROMPTS, OTHERS, MEMBERS = 60, 5, 3


def main() -> None:
    """Run one of the two parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    published = parts.add_parser("published")
    published.add_argument("file", type=Path)
    published.set_defaults(run=lambda args: print_published(args.file))
    simulated = parts.add_parser("simulated")
    simulated.add_argument("--repetitions", type=int, default=400)
    simulated.set_defaults(run=lambda args: print_simulated(args.repetitions))
    args = parser.parse_args()
    args.run(args)


def print_published(path: Path) -> None:
    """One line for each judge and bias."""
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        rows = [json.loads(line) for line in handle]
    by_judge = defaultdict(list)
    for row in rows:
        by_judge[row["judge"]].append(row)
    same = tables_found = 0
    for judge, lines in by_judge.items():
        tables = {}
        for row in lines:
            try:
                tables[row["bias"]] = table_from_margins(row["n"], row["orig_acc"], row["biased_acc"], row["flips"])
            except DataError:
                continue
        adjusted = corrected({bias: sensitivity(table).p_value for bias, table in tables.items()})
        print(f"\n{judge}")
        print(
            f"{'bias':24s} {'n':>4s} {'drop':>7s} {'flips':>7s} {'harms':>6s} {'repairs':>7s} {'BSR':>7s}  p corrected"
        )
        for row in lines:
            n = row["n"]
            drop = 100 * (round(n * row["orig_acc"] / 100) - round(n * row["biased_acc"] / 100)) / n
            rate = 100 * row["flips"] / n
            same += abs(drop - row["drop"]) < 0.0101 and abs(rate - row["flip_rate"]) < 0.0051
            said = f"{row['bias']:24s} {n:4d} {drop:+7.2f} {rate:6.2f}%"
            if (table := tables.get(row["bias"])) is None:
                print(f"{said} no table of two verdicts has these figures (flips to and from ties)")
                continue
            tables_found += 1
            bsr = 100 * (sensitivity(table).bsr or 0.0)
            print(f"{said} {table.harms:6d} {table.repairs:7d} {bsr:6.2f}%  {adjusted[row['bias']]:.3g}")
    print(f"\ndrop and flip rate as published: {same} of {len(rows)} rows; whole tables: {tables_found}")


def print_simulated(repetitions: int) -> None:
    """One block for each scenario."""
    for beta, a, position, lead, error in SCENARIOS:
        rng = np.random.default_rng(11)
        found: dict[str, list[tuple[float, bool]]] = defaultdict(list)
        for _ in range(repetitions):
            for name, (value, holds) in one_audit(rng, beta, a, position, lead, error).items():
                found[name].append((value, holds))
        print(
            f"\nbeta_self {beta:+.1f}, a {a}, position {position}, own answers better by {lead}, "
            f"error of grades {error}: mean estimate, share of intervals that hold the truth"
        )
        for name, values in found.items():
            estimates, held = np.transpose(values)
            covered = "" if np.isnan(held).any() else f"   {held.mean():.3f}"
            print(f"  {name:32s} {estimates.mean():+.3f}{covered}")


def one_audit(rng, beta, a, position, lead, error):
    """Estimates of one audit, each with whether its interval holds the truth."""
    own_quality = lead + rng.normal(0, 0.6, PROMPTS)[:, None]
    difference = np.round((own_quality - rng.normal(0, 0.6, (PROMPTS, OTHERS))) * 4).ravel() / 4
    grades = difference[:, None] + np.round(rng.normal(0, error, (difference.size, MEMBERS)) * 4) / 4
    prompts = np.repeat(np.arange(PROMPTS), OTHERS)
    panel = panel_view(grades, np.zeros_like(grades))
    tied = rng.normal(size=PROMPTS)[prompts]
    verdicts = {
        who: [judge(rng, pull + a * difference, place, position, tied) for place in (0.5, -0.5)]
        for who, pull in (("judge", beta), ("members", 0.0))
    }
    share, baseline = (np.mean(verdicts[who], axis=0) for who in ("judge", "members"))
    equal, unequal = equal_quality(panel), unequal_quality(panel)
    truth = np.mean([expit(beta + a * difference + position * s) for s in (0.5, -0.5)], axis=0)
    without = np.mean([expit(a * difference + position * s) for s in (0.5, -0.5)], axis=0)

    def seeded():
        return np.random.default_rng(0)

    fit = fit_preference(
        np.concatenate(verdicts["judge"]),
        np.tile(panel.dq, 2),
        np.repeat([True, False], prompts.size),
        np.tile(prompts, 2),
    )
    intervals = {
        "propensity": (propensity(share, equal, prompts, seeded()), float((truth - 0.5)[equal].mean())),
        "beyond the baseline": (
            beyond_baseline(share, baseline, equal, prompts, seeded()),
            float((truth - without)[equal].mean()),
        ),
    }
    found = {
        name: (estimate.value, estimate.interval[0] <= true <= estimate.interval[1])
        for name, (estimate, true) in intervals.items()
        if estimate.interval is not None
    }
    found["discriminability (share)"] = (discriminability(share, panel.dq, unequal, prompts, seeded()).value, np.nan)
    for name, coefficient, true in (
        ("beta_self, model", fit.beta_self, beta),
        ("discriminability, model", fit.discriminability, a),
        ("position, model", fit.position, position),
    ):
        found[name] = (coefficient.estimate, coefficient.interval[0] <= true <= coefficient.interval[1])
    return found


def judge(rng, pull, place, position, tied):
    """Verdicts for the own answer; those of one prompt hang together."""
    u = norm.cdf(0.3**0.5 * tied + 0.7**0.5 * rng.normal(size=pull.size))
    return (u < expit(pull + position * place)).astype(float)


if __name__ == "__main__":
    main()
