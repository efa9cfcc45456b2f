"""How throughput grows with endpoints, and what our own bookkeeping costs as a store grows.

    python benchmarks/scale.py [--latency 0.2] [--concurrency 8] [--stored 1000,100000,1000000]

Endpoints: 1, 2 and 4 local server processes that take a fixed time for every answer; efficiency is calls per second
over those of one endpoint times their number (wanted: 0.9). Bookkeeping: CPU milliseconds of this process for a call
through cache, limits, budget and ledger, with so many judgments and completions stored before (wanted: flat).
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from biasscope.agents.engines.budget import Budget
from biasscope.agents.engines.opening import open_model
from biasscope.core.calls import Completion, Message, Model, Request
from biasscope.core.ids import content_id
from biasscope.core.records import Judgment
from biasscope.core.store import Store


def serve(latency: float) -> None:
    """Answer after `latency` seconds until the standard input closes."""
    from biasscope.simulation.scripted import Reply, ScriptedServer

    with ScriptedServer(lambda body: Reply(text="[[A]]", delay=latency), keep=1) as server:
        print(server.url, flush=True)
        sys.stdin.read()


def request(number: int) -> Request:
    """A judge's prompt of some length; every number is another question."""
    text = f"Question {number}: which answer is better? " + "An answer of some length. " * 40
    return Request(model="openai:m", messages=(Message(role="user", content=text),), role="judge", stage="judge")


async def calls_of(model: Model, first: int, count: int, width: int) -> tuple[float, float]:
    """Wall and CPU seconds of `count` calls by `width` workers."""
    numbers = iter(range(first, first + count))

    async def worker() -> None:
        for k in numbers:
            await model.complete(request(k))

    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker() for _ in range(width)))
    return time.perf_counter() - wall, time.process_time() - cpu


async def endpoints(urls: list[str], concurrency: int, rounds: int) -> float:
    """Calls per second over these addresses."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store.db")
        spec = {"model": "openai:m@" + ",".join(urls), "max_concurrency": concurrency}
        model = open_model(spec, run_id="scale", store=store, budget=Budget.of_run(store, "scale"))
        width = concurrency * len(urls)
        await calls_of(model, 10**9, width, width)  # connections
        wall, _ = await calls_of(model, 0, width * rounds, 4 * width)
        await model.aclose()
        store.close()
    return width * rounds / wall


async def fill(store: Store, first: int, last: int) -> None:
    """Judgments and completions with ledger lines, of the same run as the calls that are measured."""
    chunk = 5000
    for start in range(first, last, chunk):
        numbers = range(start, min(start + chunk, last))
        rows = [
            Judgment(
                id=content_id("judgment", k),
                run_id="scale",
                pair_id=content_id("pair", k // 20),
                arm=f"bias:{k % 20}",
                order="chosen_first",
                judge="m#verdict",
                verdict="chosen",
            )
            for k in numbers
        ]
        lines = [
            store.write_call("scale", "judge", "judge", Completion(request_id=content_id("old", k), text="A"), True)
            for k in numbers
        ]
        await asyncio.gather(store.write(*rows), *lines)


async def bookkeeping(url: str, sizes: list[int], calls: int) -> dict[str, dict[str, float]]:
    """CPU milliseconds a call, new and stored, and of a look at one arm of one pair, by number of rows there."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store.db")
        model = open_model(
            {"model": f"openai:m@{url}", "max_concurrency": 32},
            run_id="scale",
            store=store,
            budget=Budget.of_run(store, "scale"),
        )
        before = first = 0
        for size in sizes:
            await fill(store, before, size)
            before = size
            fresh, again, look = [], [], []
            for _ in range(4):
                fresh.append((await calls_of(model, first, calls, 32))[1])
                again.append((await calls_of(model, first, calls, 32))[1])
                cpu = time.process_time()
                for k in range(200):
                    store.select(Judgment, run_id="scale", arm=f"bias:{k % 20}", pair_id=content_id("pair", k))
                look.append((time.process_time() - cpu) * calls / 200)
                first += calls
            names = ("new call", "stored call", "one arm of one pair")
            found[f"{size:,}"] = {
                name: round(1000 * min(seconds) / calls, 3)
                for name, seconds in zip(names, (fresh, again, look), strict=True)
            }
            print(f"{size:,} stored: {found[f'{size:,}']} ms of CPU", file=sys.stderr, flush=True)
        await model.aclose()
        store.close()
    return found


def main() -> None:
    """Read the command line, start the servers, measure, print JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds for every answer")
    parser.add_argument("--concurrency", type=int, default=8, help="in flight at each endpoint")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--stored", default="1000,10000,100000,1000000")
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve is not None:
        serve(asked.serve)
        return
    with ExitStack() as stack:

        def start(latency: float) -> str:
            command = [sys.executable, __file__, "--serve", str(latency)]
            child = stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(child.kill)
            return child.stdout.readline().strip()

        slow = [start(asked.latency) for _ in range(4)]
        rates = {n: asyncio.run(endpoints(slow[:n], asked.concurrency, asked.rounds)) for n in (1, 2, 4)}
        costs = asyncio.run(bookkeeping(start(0), [int(x) for x in asked.stored.split(",")], asked.calls))
    scaling = {
        n: {"calls_per_s": round(rate, 1), "efficiency": round(rate / (n * rates[1]), 3)} for n, rate in rates.items()
    }
    print(json.dumps({"endpoints": scaling, "cpu_ms_by_rows_stored": costs}, indent=1))


if __name__ == "__main__":
    main()
