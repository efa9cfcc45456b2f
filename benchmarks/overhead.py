"""What our stack costs: calls per second with cache, limits, budget, breaker and ledger, over a bare client's.

    python benchmarks/overhead.py                         zero-latency local server in a process of its own
    python benchmarks/overhead.py --calls 50000           the same, and memory along the way
    python benchmarks/overhead.py --gguf MODEL.gguf       a real llama.cpp server with 8 slots

Both sides send the same requests with the same concurrency, in turns within the same run, since speeds drift.
Wanted: a ratio of at least 0.6, and 0.97 with a real model; resident memory flat.
"""

import argparse
import asyncio
import contextlib
import cProfile
import json
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import openai
from biasscope.agents.engines.budget import Budget
from biasscope.agents.engines.opening import open_model
from biasscope.agents.engines.reference import ModelSpec, parse_reference
from biasscope.core.calls import Message, Model, Request
from biasscope.core.errors import CallFailed
from biasscope.core.store import Store

PROMPT = "Which answer is better? Say why in two sentences, then give a verdict. " + "An answer of some length. " * 60
SHORT = "Which is better, 1 or 2? 1: tea. 2: coffee."


def serve_fast() -> None:
    """Answer at once until the standard input closes."""
    from biasscope.simulation.scripted import Reply, ScriptedServer

    reply = Reply(text="The first answer is better because it is right. " * 5 + "[[A]]", completion_tokens=60)
    with ScriptedServer(lambda body: reply, keep=1) as server:
        print(server.url, flush=True)
        sys.stdin.read()


def serve_gguf(path: str, slots: int) -> None:
    """A llama.cpp server until the standard input closes."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.verbosity, params.model.path, params.model_alias = -1, path, {"model"}
    params.hostnames, params.port, params.n_parallel, params.n_ctx = ["127.0.0.1"], 0, slots, 1024 * slots
    params.cache_prompt, params.cache_ram_mib = False, 0
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()


def resident_mb() -> float:
    """Resident memory of this process."""
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


async def at_once(count: int, concurrency: int, call) -> float:
    """Calls per second of `count` calls by `concurrency` workers."""
    numbers = iter(range(count))

    async def worker() -> None:
        for k in numbers:
            await call(k)

    started = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(concurrency)))
    return count / (time.perf_counter() - started)


def bare_call(client: openai.AsyncOpenAI, prompt: str, max_tokens: int, first: int):
    async def call(k: int) -> None:
        await client.chat.completions.create(
            model="model",
            messages=[{"role": "user", "content": f"{first + k} {prompt}"}],
            max_tokens=max_tokens,
            temperature=0,
            seed=0,
        )

    return call


def our_call(model: Model, prompt: str, max_tokens: int, first: int):
    async def call(k: int) -> None:
        message = Message(role="user", content=f"{first + k} {prompt}")
        with contextlib.suppress(CallFailed):  # a real model may be cut off, which costs what an answer costs
            await model.complete(Request(model=model.name, messages=(message,), max_tokens=max_tokens))

    return call


async def measure(url: str, arguments: argparse.Namespace, folder: str) -> dict[str, object]:
    """Rates of both sides in turns; then memory over many calls."""
    real = bool(arguments.gguf)
    prompt, max_tokens = (SHORT, 24) if real else (PROMPT, 512)
    spec: ModelSpec = parse_reference(
        {"model": f"openai:model@{url}", "max_concurrency": arguments.concurrency, "keep_alive": not real}
    )
    store = Store(Path(folder) / "store.db")
    budget = Budget.of_run(store, "benchmark", calls=10**9)
    model = open_model(spec, run_id="benchmark", store=store, budget=budget)
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=4)
    rates: dict[str, list[float]] = {"bare": [], "ours": []}
    first = 0
    for repeat in range(arguments.repeats + 1):
        sides = {"bare": bare_call(client, prompt, max_tokens, first)}
        sides["ours"] = our_call(model, prompt, max_tokens, first)
        for side in ("bare", "ours") if repeat % 2 else ("ours", "bare"):
            rate = await at_once(arguments.batch, arguments.concurrency, sides[side])
            if repeat:  # the first round warms up
                rates[side].append(rate)
        first += arguments.batch
    ratios = [a / b for a, b in zip(rates["ours"], rates["bare"], strict=True)]
    result: dict[str, object] = {
        "concurrency": arguments.concurrency,
        "bare_calls_per_s": round(statistics.median(rates["bare"]), 2),
        "our_calls_per_s": round(statistics.median(rates["ours"]), 2),
        "ratio_median": round(statistics.median(ratios), 3),
        "ratios": [round(r, 3) for r in ratios],
    }
    if arguments.profile:
        profile = cProfile.Profile()
        profile.enable()
        await at_once(arguments.batch, arguments.concurrency, our_call(model, prompt, max_tokens, first))
        profile.disable()
        first += arguments.batch
        pstats.Stats(profile).sort_stats("tottime").print_stats(35)
    if arguments.calls:
        memory, step = [round(resident_mb(), 1)], max(1, arguments.calls // 10)
        for _ in range(10):
            await at_once(step, arguments.concurrency, our_call(model, prompt, max_tokens, first))
            first += step
            memory.append(round(resident_mb(), 1))
        result |= {"calls": arguments.calls, "resident_mb": memory}
    await model.aclose()
    await client.close()
    store.close()
    return result


def main() -> None:
    """Read the command line, start a server, measure, print JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--concurrency", type=int, default=0, help="calls in flight (32; 8 with --gguf)")
    parser.add_argument("--batch", type=int, default=0, help="calls per side and repeat (2000; 64 with --gguf)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--calls", type=int, default=0, help="then that many calls through our stack, watching memory")
    parser.add_argument("--gguf", default="", help="a GGUF file, served by llama.cpp")
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.concurrency = arguments.concurrency or (8 if arguments.gguf else 32)
    arguments.batch = arguments.batch or (64 if arguments.gguf else 2000)
    if arguments.serve:
        serve_gguf(arguments.gguf, 8) if arguments.gguf else serve_fast()
        return
    command = [sys.executable, __file__, "--serve", "--gguf", arguments.gguf]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdout and server.stdin
        try:
            print(json.dumps(asyncio.run(measure(server.stdout.readline().strip(), arguments, folder)), indent=1))
        finally:
            server.kill()  # it holds nothing, and a busy machine may take its time over a polite end


if __name__ == "__main__":
    main()
