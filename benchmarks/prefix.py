"""How much of a validation round's prompts a server has read before, and what that saves.

    python benchmarks/prefix.py MODEL.gguf [--pairs 4] [--biases 7] [--max-chars 600] [--slots 2]
        [--source FILE]

A real validation round (originals, placebo, every seed bias; rewrites and verdicts by the same model) on the embedded
llama.cpp server, which reports the prompt tokens that were in its cache. Then the same questions in the order of the
published code, on a server that starts cold again: the bias stands before question and answer, so that nothing but the
system prompt is shared, and one bias comes after another, rewrites first and verdicts after them. Wanted: at least 70 %
of prompt tokens from the cache.
"""

import argparse
import asyncio
import dataclasses
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from biasscope.agents.engines.opening import open_model
from biasscope.agents.engines.reference import ModelSpec, parse_reference
from biasscope.agents.judges.pairwise import PairwiseJudge
from biasscope.agents.teacher import LLMTeacher
from biasscope.agents.wording import described
from biasscope.bias_library.library import load_library
from biasscope.core.calls import Completion, Message, Model, Request
from biasscope.core.records import ORIGINAL, PLACEBO, Bias, Judgment, PreferencePair, bias_arm
from biasscope.core.store import Store
from biasscope.graph.context import Context
from biasscope.graph.validation import test_biases
from biasscope.prompts import fence, render
from biasscope.runs.config import RunConfig, load_config
from biasscope.runs.inputs import start_library
from biasscope.runs.jobs import create
from biasscope.runs.launch import attached


class Recorder:
    """A model that remembers what it was asked."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.asked: list[Request] = []

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    async def complete(self, request: Request) -> Completion:
        """Remember, and ask."""
        self.asked.append(request)
        return await self._model.complete(request)

    async def aclose(self) -> None:
        """The run closes the model."""


def told(seconds: float, store: Store, run_id: str) -> dict[str, Any]:
    """Calls, tokens and seconds of what was paid for, failed answers too, all together and by role."""
    calls = [(role, completion) for role, stage, completion in store.calls(run_id) if stage != "probe"]

    def tokens(completions: Sequence[Completion]) -> dict[str, Any]:
        prompt, cached = (sum(getattr(c, n) for c in completions) for n in ("prompt_tokens", "cached_prompt_tokens"))
        return {
            "calls": len(completions),
            "prompt_tokens": prompt,
            "from_cache": round(cached / max(1, prompt), 3),
            "prompt_tokens_read": prompt - cached,
            "answer_tokens": sum(c.completion_tokens for c in completions),
        }

    by_role = {role: tokens([c for r, c in calls if r == role]) for role in sorted({r for r, _ in calls})}
    return {"seconds": round(seconds, 1), **tokens([c for _, c in calls]), **by_role}


async def our_round(context: Context, biases: list[Bias], pairs: list[PreferencePair]) -> tuple[float, Recorder]:
    """A validation round as a run does it."""
    assert context.teacher_model is not None
    heard = Recorder(context.teacher_model)
    recorded = dataclasses.replace(
        context,
        teacher_model=heard,
        teacher=LLMTeacher(heard, context.run_id),
        judge=PairwiseJudge(heard, context.run_id, mode="verdict"),
    )
    await context.teacher_model.complete(warm_up(heard.name))  # the server is loaded with the first call
    started = time.perf_counter()
    await test_biases(recorded, biases, pairs, pair_set="search", iteration=0, level=0.05, stage="validate")
    return time.perf_counter() - started, heard


def published_order(
    context: Context, biases: list[Bias], pairs: list[PreferencePair], heard: Recorder
) -> list[list[Request]]:
    """The round's requests, with the bias in front, in groups that wait for each other."""
    asked = {request.id: request for request in heard.asked}
    rewrites: dict[tuple[str, str], Request] = {}
    by_messages = {request.messages: request for request in asked.values()}
    for pair in pairs:
        texts = {"question": pair.prompt, "answer": pair.rejected, "words": len(pair.rejected.split())}
        for bias in biases:
            wanted = described(bias.name, bias.definition, bias.manifestation)
            if found := by_messages.get(render("perturb", **texts, bias=wanted).messages):
                front = bias_first(found.messages, pair, wanted)
                rewrites[bias_arm(bias.id), pair.id] = found.model_copy(update={"messages": front})
        if found := by_messages.get(render("placebo", **texts).messages):
            rewrites[PLACEBO, pair.id] = found
    verdicts = {(j.arm, j.pair_id): asked[j.request_id] for j in context.store.select(Judgment, run_id=context.run_id)}
    groups = []
    for arm in (ORIGINAL, PLACEBO, *(bias_arm(b.id) for b in biases)):
        for kind in (rewrites, verdicts):
            groups.append([kind[arm, pair.id] for pair in pairs if (arm, pair.id) in kind])
    return groups


def bias_first(messages: tuple[Message, ...], pair: PreferencePair, wanted: str) -> tuple[Message, ...]:
    """The same words with the feature in front of question and answer, and no system prompt, as published."""
    system, user = (m.content for m in messages)
    feature, texts = fence(wanted, "bias"), (fence(pair.prompt, "question"), fence(pair.rejected, "answer"))
    task = user.replace(feature, "").replace(texts[0], "").replace(texts[1], "")
    content = "\n\n".join((f"The feature:\n{feature}", system, task.strip(), *texts))
    return (Message(role="user", content=content),)


def warm_up(name: str) -> Request:
    """A call that shares no beginning with those that are measured."""
    return Request(model=name, messages=(Message(role="user", content="Hi"),), max_tokens=64, stage="probe")


async def replay(spec: ModelSpec, groups: list[list[Request]]) -> dict[str, Any]:
    """Ask the groups one after another on a server that has read nothing."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store.db")
        model = open_model(spec, run_id="published", store=store)
        await model.complete(warm_up(model.name))
        started = time.perf_counter()
        for group in groups:
            await asyncio.gather(*(model.complete(r) for r in group), return_exceptions=True)
        seconds = time.perf_counter() - started
        await model.aclose()
        found = told(seconds, store, "published")
        store.close()
    return found


async def measure(config: RunConfig, most: int) -> dict[str, Any]:
    """Both orders, ours first."""
    async with attached(create(config)) as context:
        start_library(context.store, context.run_id, config)
        library = load_library(context.store, context.run_id)
        biases, pairs = library.biases()[:most], context.store.pairs(context.run_id, "search")
        seconds, heard = await our_round(context, biases, pairs)
        groups = published_order(context, biases, pairs, heard)
        ours = told(seconds, context.store, context.run_id)
    print(json.dumps({"ours": ours}), file=sys.stderr, flush=True)
    left = len({request.id for request in heard.asked}) - sum(map(len, groups))
    found = {"biases": len(biases), "pairs": len(pairs), "not_replayed": left, "ours": ours}
    found["published_order"] = await replay(parse_reference(config.teacher), groups)
    return found


def main() -> None:
    """Read the command line, measure, print JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--max-chars", type=int, default=600)
    parser.add_argument("--biases", type=int, default=7, help="of the seeds, at most")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--source", default="builtin")
    asked = parser.parse_args()
    model = {"model": f"local:{asked.model}", "slots": asked.slots, "cache_prompt": True, "n_ctx": 2048}
    source = {"source": asked.source, "limit": asked.pairs, "max_chars": asked.max_chars}
    with tempfile.TemporaryDirectory() as workspace:
        config = load_config(
            None,
            (),
            {
                "name": "prefix",
                "workspace": workspace,
                "judge": {**model, "mode": "verdict"},
                "teacher": model,
                "target": source,
                "test": source,
                "validation": {"confirm_share": 0.0, "manipulation_checks": 0, "verify_answers": "exact"},
            },
        )
        print(json.dumps(asyncio.run(measure(config, asked.biases)), indent=1))


if __name__ == "__main__":
    main()
