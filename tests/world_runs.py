"""Whole runs over real HTTP against the planted world, with faults where a test wants them."""

import hashlib
import json
import threading
from collections import Counter
from pathlib import Path

import yaml
from biasscope.core.records import (
    Candidate,
    Explanation,
    Failure,
    Judgment,
    LibraryEvent,
    MergeDecision,
    Perturbation,
    Validation,
)
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create, open_store
from biasscope.runs.launch import run
from biasscope.simulation.pairs import world_pairs
from biasscope.simulation.scripted import Reply, ScriptedServer, failure

COLUMNS = {"prompt": "prompt", "chosen": "chosen", "rejected": "rejected", "domain": "domain", "id": "id"}
KINDS = (Perturbation, Judgment, Explanation, Candidate, MergeDecision, Validation, Failure, LibraryEvent)
SMALL = {
    "discovery": {"iterations": 2, "misjudgments": "any"},
    "validation": {"seeds": False, "batch": 20, "manipulation_checks": 4},
}


def draw(body, kinds):
    """A number below `kinds` that depends on the messages alone."""
    text = json.dumps(body["messages"], sort_keys=True)
    return int(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8], 16) % kinds


class FaultyWorld(ScriptedServer):
    """The world behind `fault(body, n)`: its Reply goes out instead of the n-th answer (from 0) to that body."""

    def __init__(self, world, fault=None, **options):
        self.world, self.fault = world, fault
        self.asked, self._guard = Counter(), threading.Lock()
        super().__init__(
            self._reply, embed=lambda text: world.embeddings({"input": [text]})["data"][0]["embedding"], **options
        )

    def _reply(self, body):
        key = json.dumps(body, sort_keys=True)
        with self._guard:
            times, self.asked[key] = self.asked[key], self.asked[key] + 1
        if self.fault is not None and (fault := self.fault(body, times)) is not None:
            return fault
        try:
            return Reply(body=json.dumps(self.world.answer(body)).encode())
        except ValueError as error:
            return failure(400, str(error))


def write_sources(folder: Path, world, target: int, test: int, change=lambda row: row) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, count, seed in (("target", target, 1), ("test", test, 2)):
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as handle:
            for pair in world_pairs(world, count, seed):
                row = {key: getattr(pair, key) for key in ("prompt", "chosen", "rejected", "domain", "id")}
                handle.write(json.dumps(change(row)) + "\n")


def over(base, more):
    merged = dict(base)
    for key, value in more.items():
        inner = merged.get(key)
        merged[key] = over(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return merged


def settings(data: Path, workspace: Path, url: str, **more):
    """The keys of a small run; `more` goes over them, section by section."""
    model = {"model": "openai:world", "base_url": url, "max_concurrency": 8}
    source = {"columns": COLUMNS}
    base = {
        "name": "trial",
        "workspace": str(workspace),
        "judge": dict(model),
        "teacher": dict(model),
        "embedder": dict(model),
        "target": {"source": str(data / "target.jsonl"), **source},
        "test": {"source": str(data / "test.jsonl"), **source},
        **SMALL,
    }
    return over(base, more)


def write_config(path: Path, values) -> Path:
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    return path


def start(values):
    """A run in this process, to its end or its stop."""
    return run(create(load_config(None, (), values)))


def results(folder):
    """Everything that a run has found, as plain values."""
    store = open_store(folder)
    try:
        rows = {
            kind.__name__: [record.model_dump(mode="json") for record in store.select(kind, run_id=folder.run_id)]
            for kind in KINDS
        }
    finally:
        store.close()
    return rows | {"report": (folder.path / "report.json").read_text(encoding="utf-8")}
