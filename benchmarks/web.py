"""How fast the review app answers over a large store, and whether annotators who write at once lose anything.

    python benchmarks/web.py [--biases 2000] [--judgments 100000] [--rounds 20] [--annotators 20] [--json]

The app runs in a process of its own. Each kind of page is asked for over HTTP, for another bias, pair or search every
time where it has one. `first` is the first answer, while nothing is worked out yet; `median` and `p95` are the time
until the last byte of those after it, one request at a time, and `processor` what the app's process computed for one of
them on average, which other work on the machine does not lengthen much; `per second` is with four clients at once. The
bar that it checks: a median under 200 ms for every page. Annotators take and send labels for --labels items each, one
form in three twice; the database has to hold every label once.
"""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

import httpx
from biasscope.apps.web import people
from biasscope.bias_library.bias import make_bias
from biasscope.bias_library.events import Stamp, Support, add, set_status
from biasscope.bias_library.library import append_now
from biasscope.core.ids import content_id
from biasscope.core.records import (
    ORIGINAL,
    PLACEBO,
    Annotation,
    Bias,
    Candidate,
    Item,
    Judgment,
    MergeDecision,
    Perturbation,
    PreferencePair,
    Validation,
    bias_arm,
)
from biasscope.core.store import Store
from biasscope.runs.config import load_config
from biasscope.runs.folder import RunFolder
from biasscope.runs.jobs import create, open_store
from biasscope.simulation.pairs import world_pairs
from biasscope.simulation.server import WorldServer
from biasscope.simulation.world import load_world

LIMIT = 0.2
CLIENTS = 4
BIG = 50
"""Biases that were tested on many pairs; pages of one bias are asked for these."""
WORDS = ("claims", "citations", "metaphors", "tone", "layout", "hedging", "praise", "length", "jargon", "certainty")


class Page(NamedTuple):
    """A kind of page: its name, and the address for the k-th request."""

    name: str
    address: Callable[[int], str]


def sentence(rng: random.Random, words: int = 90) -> str:
    """Text of about the length of a judge's reasoning."""
    return " ".join(rng.choice(WORDS) for _ in range(words)) + "."


def biases(count: int, first: int) -> list[Bias]:
    """Biases with names that differ in a number."""
    return [
        make_bias(
            f"{WORDS[k % 10]} {k}",
            f"The judge prefers answers with {WORDS[k % 10]} of the kind {k}.",
            f"More {WORDS[k % 10]}.",
            origin="discovered",
        )
        for k in range(first, first + count)
    ]


def write_library(store: Store, run: str, made: list[Bias]) -> None:
    """Candidates, merges, validations and history for each bias."""
    for k, bias in enumerate(made):
        found = [
            Candidate(id=content_id("c", run, k, j), run_id=run, iteration=k % 4, name=f"{bias.name} {j}",
                      definition=bias.definition, judgment_id=f"{run}-{k}-{j}", pair_id=f"p{j}",
                      source_bias=made[k // 2].id)
            for j in range(3)
        ]  # fmt: skip
        ids = tuple(c.id for c in found)
        tested = Validation(
            id=content_id("v", run, k), run_id=run, bias_id=bias.id, iteration=k % 4, judge="judge", pair_set="search",
            rule="eprocess", n=40, harms=k % 17, repairs=k % 5, error_reference=0.2, error_bias=0.2 + (k % 17) / 100,
            effect=float(k % 17 - k % 5), interval=(float(k % 17 - k % 5 - 9), float(k % 17 - k % 5 + 9)),
            interval_method="tango", e_value=1.0 + k % 97, p_value=0.01,
            decision="valid" if k % 4 == 0 else "inconclusive",
        )  # fmt: skip
        merge = MergeDecision(
            id=content_id("m", run, k), run_id=run, iteration=k % 4, candidate_ids=ids, into=bias.id, novel=True,
            decided_by="threshold",
        )  # fmt: skip
        store.write_now(*found, merge, tested)
        stamp = Stamp(run, 2 * k, "biasscope", "found", k % 4)
        history = [add(stamp, bias, support=Support.of(ids, [c.pair_id for c in found]))]
        status = "valid" if tested.decision == "valid" else "inconclusive"
        append_now(store, [*history, set_status(stamp.next(), bias.id, status, [tested.id])])


def write_judgments(store: Store, run: str, made: list[Bias], pairs: list[PreferencePair], wanted: int) -> int:
    """Rewrites and judgments in both orders: of the reference arms on all pairs, of the first biases on two pairs of
    three, and of the others on as many as it takes; returns how many judgments there are."""
    rng, written = random.Random(0), 0
    rest = (wanted - 4 * len(pairs) - min(BIG, len(made)) * 2 * (2 * len(pairs) // 3)) / max(1, len(made) - BIG)
    plan = [(ORIGINAL, len(pairs)), (PLACEBO, len(pairs))]
    plan += [(bias_arm(b.id), 2 * len(pairs) // 3 if k < BIG else max(1, round(rest / 2))) for k, b in enumerate(made)]
    for arm, size in plan:
        rows: list[Perturbation | Judgment] = []
        for pair in pairs[:size]:
            if arm != ORIGINAL:
                text = f"{pair.rejected} {sentence(rng, 20)}"
                rows.append(Perturbation(id=content_id("x", run, arm, pair.id), run_id=run, pair_id=pair.id, arm=arm,
                                         text=text, teacher="teacher", answer_change="same"))  # fmt: skip
            for order in ("chosen_first", "rejected_first"):
                if written < wanted:
                    written += 1
                    verdict = "rejected" if rng.random() < (0.2 if arm in (ORIGINAL, PLACEBO) else 0.3) else "chosen"
                    rows.append(Judgment(id=content_id("j", run, arm, pair.id, order), run_id=run, pair_id=pair.id,
                                         arm=arm, order=order, verdict=verdict, judge="judge",
                                         reasoning=sentence(rng)))  # fmt: skip
        store.write_now(*rows)
    return written


def job(workspace: Path, name: str, embedder: str, kind: str = "discover") -> RunFolder:
    """The folder of a job."""
    values = {"name": name, "workspace": str(workspace), "judge": "openai:j", "teacher": "openai:t"}
    values |= {"embedder": {"model": "openai:world", "base_url": embedder}}
    folder = create(load_config(None, (), values | {"target": {"source": "builtin"}, "test": {"source": "builtin"}}))
    if kind != "discover":
        folder.config.write_text(f"kind: {kind}\nname: {name}\n", encoding="utf-8")
    return RunFolder(folder.path)


def fill(workspace: Path, embedder: str, asked: argparse.Namespace) -> tuple[list[Bias], list[PreferencePair]]:
    """A run of the size asked for, another to compare it with, and a benchmark to label."""
    world = load_world("easy")
    pairs = world_pairs(world, 600, 1)
    made = biases(asked.biases, 0)
    store = open_store(job(workspace, "big", embedder))
    store.write_pairs("big", "search", pairs)
    write_library(store, "big", made)
    written = write_judgments(store, "big", made, pairs, asked.judgments)
    print(f"{len(made):,} biases, {written:,} judgments stored", file=sys.stderr)
    store.close()
    store = open_store(job(workspace, "other", embedder))
    write_library(store, "other", biases(asked.biases, asked.biases // 2))
    store.close()
    items = world_pairs(world, asked.items, 2)
    store = open_store(job(workspace, "bench", embedder, "benchmark"))
    store.write_now(*items)
    store.write_now(*(
        Item(id=f"row-{p.id}", run_id="bench", pair_id=p.id, source_pair_id=p.id, bias_id="b", perturbation_id="x",
             misled=("judge",), misled_before=(), answers="unsettled") for p in items
    ))  # fmt: skip
    store.close()
    return made, pairs


@contextmanager
def served(workspace: Path) -> Iterator[tuple[str, int]]:
    """`biasscope review` on a port of its own: its address and process."""
    command = [sys.executable, "-m", "biasscope", "review", str(workspace), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if address := re.search(r"http://[\d.:]+", line):
                break
        else:
            sys.exit("the app did not start")
        yield address[0], process.pid
    finally:
        process.terminate()
        process.wait()


class Person:
    """Somebody who is logged in."""

    def __init__(self, url: str, token: str) -> None:
        self.client = httpx.Client(base_url=url, follow_redirects=True, timeout=600)
        self.send("/login", self.client.get("/login").text, token=token)

    def get(self, address: str) -> float:
        """Seconds until the whole answer is there."""
        begun = time.perf_counter()
        answer = self.client.get(address)
        taken = time.perf_counter() - begun
        if answer.status_code != 200:
            sys.exit(f"{address}: {answer.status_code}: {answer.text[:300]}")
        return taken

    def send(self, address: str, html: str, **fields: str) -> None:
        """The form of a page that was read before."""
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', html))
        answer = self.client.post(address, data=hidden | fields)
        if answer.status_code != 200:
            sys.exit(f"{address}: {answer.status_code}: {answer.text[:300]}")


def pages(made: list[Bias], pairs: list[PreferencePair]) -> list[Page]:
    """Every kind of page."""
    run = "/runs/big"

    def of(k: int) -> str:
        return f"{run}/biases/{made[k % min(BIG, len(made))].id}"

    def fixed(address: str) -> Callable[[int], str]:
        return lambda _: address

    return [
        Page("runs", fixed("/")),
        Page("library", lambda k: f"{run}?sort={('status', 'effect', 'name')[k % 3]}&part={1 + k % 40}"),
        Page("search by words", lambda k: f"{run}?q={WORDS[k % 10]}+{k}"),
        Page("search by meaning", lambda k: f"{run}?by=meaning&q={WORDS[k % 10]}+and+{WORDS[k % 7]}"),
        Page("bias", of),
        Page("bias, plot", lambda k: f"{of(k)}/plots/path.svg"),
        Page("bias, same effect", lambda k: f"{of(k)}/same-effect"),
        Page("evidence", lambda k: f"{of(k)}/evidence?show=all&n={1 + 7 * k % 90}"),
        Page("whole text", lambda k: f"{run}/texts/{pairs[k].id}/rejected"),
        Page("lineage", fixed(f"{run}/lineage")),
        Page("timeline", lambda k: f"{run}/timeline?part={1 + k % 40}"),
        Page("growth of all runs", fixed("/timeline")),
        Page("growth, plot", fixed("/growth.svg")),
        Page("compare", fixed("/diff?a=big&b=other")),
        Page("watch", fixed(f"{run}/watch")),
        Page("approval", fixed(f"{run}/approval")),
        Page("reports", fixed(f"{run}/report")),
        Page("plots of the report", fixed(f"{run}/report/plots")),
        Page("report.html", fixed(f"{run}/export/report.html")),
        Page("biases.csv", fixed(f"{run}/export/biases.csv")),
        Page("library.json", fixed(f"{run}/export/library.json")),
        Page("label", fixed("/runs/bench/annotate")),
        Page("own labels", fixed("/runs/bench/annotate/mine")),
        Page("settle", fixed("/runs/bench/annotate/adjudicate")),
        Page("progress", fixed("/runs/bench/annotate/progress")),
    ]


def processor(pid: int) -> float:
    """Seconds that a process has computed so far."""
    user, system = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def measure(url: str, pid: int, token: str, page: Page, rounds: int) -> dict[str, float]:
    """Milliseconds of the first answer and of those after it, and requests per second of several clients."""
    person = Person(url, token)
    first = person.get(page.address(0))
    before = processor(pid)
    taken = sorted(person.get(page.address(k)) for k in range(1, rounds + 1))
    computed = (processor(pid) - before) / rounds
    clients = [Person(url, token) for _ in range(CLIENTS)]
    begun = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(lambda k: clients[k % CLIENTS].get(page.address(k)), range(rounds)))
    rate = rounds / (time.perf_counter() - begun)
    p95 = taken[min(len(taken) - 1, int(0.95 * len(taken)))]
    return {"first": 1000 * first, "median": 1000 * statistics.median(taken), "p95": 1000 * p95,
            "processor": 1000 * computed, "per_second": rate}  # fmt: skip


def annotate(url: str, tokens: dict[str, str], labels: int, workspace: Path) -> dict[str, float]:
    """Everybody labels at once; what the database holds is held against what was sent."""

    def work(who: tuple[str, str]) -> list[tuple[str, str, str]]:
        person, sent = Person(url, who[1]), []
        for step in count():
            html = person.client.get("/runs/bench/annotate").text
            item = re.search(r'name="item" value="([^"]+)"', html)
            if item is None or step == labels:
                return sent
            comment = f"{who[0]} {step}"
            for _ in range(2 if step % 3 == 0 else 1):
                person.send("/runs/bench/annotate", html, label=("different", "same")[step % 2], comment=comment)
            sent.append((item[1], who[0].casefold(), comment))
        return sent

    begun = time.perf_counter()
    with ThreadPoolExecutor(len(tokens)) as pool:
        sent = Counter(row for rows in pool.map(work, tokens.items()) for row in rows)
    taken = time.perf_counter() - begun
    store = open_store(RunFolder(workspace / "bench"))
    kept = Counter((r.item_id, r.annotator, r.comment) for r in store.iterate(Annotation, run_id="bench"))
    store.close()
    lost, more = sum((sent - kept).values()), sum((kept - sent).values())
    return {"annotators": len(tokens), "labels": sum(sent.values()), "lost": lost, "duplicates or others": more,
            "labels_per_second": sum(sent.values()) / taken}  # fmt: skip


def main() -> None:
    """Print a table, and the figures as JSON with `--json`; exit 1 when a bar is missed."""
    parser = argparse.ArgumentParser()
    sizes = {"biases": 2000, "judgments": 100_000, "items": 400, "rounds": 20, "annotators": 20, "labels": 20}
    for name, default in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, WorldServer(load_world("easy"), process=True) as embedder:
        workspace = Path(name)
        made, pairs = fill(workspace, embedder.url, asked)
        names = [f"P{k:02}" for k in range(asked.annotators)]
        tokens = {who: people.add(workspace / people.FILE, who, "annotator") for who in names}
        admin = people.add(workspace / people.FILE, "Ada", "admin")
        with served(workspace) as (url, pid):
            found = {"annotators": annotate(url, tokens, asked.labels, workspace), "pages": {}}
            print(found["annotators"])
            print("| page | first, ms | median, ms | p95, ms | processor, ms | per second |\n|---|---|---|---|---|---|")
            for page in pages(made, pairs):
                line = found["pages"][page.name] = measure(url, pid, admin, page, asked.rounds)
                times = " | ".join(f"{line[k]:,.0f}" for k in ("first", "median", "p95", "processor", "per_second"))
                print(f"| {page.name} | {times} |", flush=True)
    if asked.json:
        print(json.dumps(found, indent=2))
    slow = [page for page, line in found["pages"].items() if line["median"] >= 1000 * LIMIT]
    wrong = found["annotators"]["lost"] or found["annotators"]["duplicates or others"]
    print(f"pages with a median of 200 ms or more: {', '.join(slow) or 'none'}")
    sys.exit(bool(slow or wrong))


if __name__ == "__main__":
    main()
