"""Confirming biases on the locked part: Holm over exact McNemar tests against e-BH on e-values, by simulation.

    python benchmarks/confirmation.py [--repetitions 300]

Eight real biases of 11 to 26 points; then families without any effect, sharing one placebo arm.
"""

import argparse

import numpy as np
from biasscope.validators.decisions import CandidateState, Limits, make_rule

EFFECTS = (0.26, 0.21, 0.19, 0.15, 0.14, 0.14, 0.12, 0.11)
LIMITS = Limits(alpha=0.05, iterations=1, hopeless=0.0)


def main() -> None:
    """Print power by effect, and the share of null families with a false confirmation."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=300)
    repetitions = parser.parse_args().repetitions
    rng = np.random.default_rng(0)
    print("pairs  rule      power by effect " + " ".join(f"{100 * e:5.0f}" for e in EFFECTS) + "   mean")
    for n in (150, 200):
        power = {name: np.zeros(len(EFFECTS)) for name in ("eprocess", "holm")}
        for _ in range(repetitions):
            states = {str(k): CandidateState(real(rng, n, effect)) for k, effect in enumerate(EFFECTS)}
            for name in power:
                found = make_rule(name, LIMITS).final(states)
                power[name] += [found[k].decision == "valid" for k in states]
        for name, hits in power.items():
            shares = hits / repetitions
            print(f"{n:5d}  {name:9s} {'':16s}" + " ".join(f"{s:5.2f}" for s in shares) + f"  {shares.mean():.3f}")
    print("\nNull families with a false confirmation, Holm, 150 pairs")
    for discordant in (0.15, 0.3):
        for size in (1, 8):
            false = sum(null_family(rng, discordant, size) for _ in range(4 * repetitions))
            print(f"{100 * discordant:.0f} % discordant, {size} biases: {false / (4 * repetitions):.3f}")


def real(rng, n, effect):
    """Differences of verdicts with this mean, 27 % discordant or 5 points more than the effect."""
    discordant = max(0.27, effect + 0.05)
    shares = [(discordant + effect) / 2, (discordant - effect) / 2, 1 - discordant]
    return rng.choice([1.0, -1.0, 0.0], size=n, p=shares)


def null_family(rng, discordant, size):
    """Whether Holm confirms any of `size` biases without effect that share a placebo arm."""
    base = rng.random(150) < discordant / 2
    states = {str(k): CandidateState((rng.random(150) < discordant / 2).astype(float) - base) for k in range(size)}
    return any(o.decision == "valid" for o in make_rule("holm", LIMITS).final(states).values())


if __name__ == "__main__":
    main()
