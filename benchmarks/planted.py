"""Recall and precision of discovery on the shipped worlds: rigorous, paper, and the judge without biases.

    python benchmarks/planted.py [--seeds 10] [--null-seeds 20] [--paper-seeds 10] [--target 300] [--test 450]
                                 [--jobs 2] [--keep FILE] [--json]

Every run goes over HTTP to a served world, as a user's would; --jobs of them at a time. The bars that it checks: in
the rigorous profile precision of 0.95 and recall of 0.9 among planted biases with a true effect of 8 points or more,
and no false discovery in 95 % of the runs on the null world.

With --keep every run's score is written to a file when it is done, and a run that is there is not made again: the same
command goes on after a kill, and more seeds can be asked for later. Scores of other numbers of pairs are not taken.
"""

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

import kept
from biasscope.apps.cli.selftest import show
from biasscope.runs.selftest import Score, as_json, selftest, summarise_scores
from biasscope.simulation.world import load_world
from pydantic import TypeAdapter
from rich.console import Console


def one(job):
    """The score of one run; `job` is world, profile, seed and the numbers of target and test pairs."""
    world, profile, seed, target, test = job
    [score] = selftest(load_world(world), seeds=[seed], profile=profile, target_pairs=target, test_pairs=test)
    print(f"{world} {profile} {seed}: {score.calls} calls, {score.seconds:.0f} s", file=sys.stderr, flush=True)
    return score


def all_scores(jobs, workers, keep):
    """One for each job, those in the file `keep` taken from there."""
    read = TypeAdapter(Score).validate_python
    known = {tuple(row["job"]): read(row["score"]) for row in kept.read(keep)}
    for job, score in made([job for job in jobs if job not in known], workers):
        known[job] = score
        kept.add(keep, {"job": job, "score": asdict(score)})
    return [known[job] for job in jobs]


def made(jobs, workers):
    """Each job with its score, as they are done."""
    if workers == 1:
        # Without a pool, a kill ends the work too.
        yield from ((job, one(job)) for job in jobs)
        return
    with ProcessPoolExecutor(workers) as pool:
        waiting = {pool.submit(one, job): job for job in jobs}
        for future in as_completed(waiting):
            yield waiting[future], future.result()


def main() -> None:
    """Print the tables, and the figures as JSON with `--json`; exit 1 when a bar is missed."""
    parser = argparse.ArgumentParser()
    for name, default in (("seeds", 10), ("null-seeds", 20), ("paper-seeds", 10), ("target", 300), ("test", 450)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()

    counts = {
        ("realistic", "rigorous"): asked.seeds,
        ("realistic", "paper"): asked.paper_seeds,
        ("null", "rigorous"): asked.null_seeds,
    }
    jobs = [(*key, seed, asked.target, asked.test) for key, n in counts.items() for seed in range(1, n + 1)]
    scores = all_scores(jobs, asked.jobs, asked.keep)
    grouped = {key: [s for s, job in zip(scores, jobs, strict=True) if job[:2] == key] for key in counts}
    console = Console(width=120, file=sys.stderr if asked.json else sys.stdout)
    for found in filter(None, grouped.values()):
        show(console, found)

    passed = {}
    if grouped["realistic", "rigorous"]:
        total = summarise_scores(grouped["realistic", "rigorous"])
        passed["recall of 8 points or more >= 0.9"] = (total.recall.share or 0) >= 0.9
        passed["precision >= 0.95"] = (total.precision.share or 0) >= 0.95
    if grouped["null", "rigorous"]:
        clean = summarise_scores(grouped["null", "rigorous"]).clean_runs
        passed["null runs without a false discovery >= 0.95"] = (clean.share or 0) >= 0.95
    for bar, reached in passed.items():
        console.print(f"{'reached' if reached else 'MISSED'}: {bar}", highlight=False)
    if asked.json:
        print(json.dumps({" ".join(k): as_json(v) for k, v in grouped.items() if v} | {"bars": passed}, indent=2))
    sys.exit(not all(passed.values()))


if __name__ == "__main__":
    main()
