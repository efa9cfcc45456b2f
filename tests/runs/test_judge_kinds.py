"""Every kind of judge goes through discovery and validation over real HTTP, and a killed run comes to the same end."""

import json
import re
import sys
import threading

import pytest
from biasscope.core.errors import StoreError
from biasscope.core.records import Explanation, Judgment, Validation
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create, open_store
from biasscope.runs.launch import run
from biasscope.simulation.grading import liking
from biasscope.simulation.judging import read, verdict
from biasscope.simulation.scripted import Reply, ScriptedServer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from world_runs import FaultyWorld, results, settings, start

CRITERIA = [{"name": "Truth", "about": "Is it right?", "weight": 2}, {"name": "style"}]
TEMPLATE = """== system
Compare. {{ criteria }}
== user
{{ prompt | fence("question") }}
{{ answer_a | fence("answer_a") }}
{{ answer_b | fence("answer_b") }}
Say [[A]] or [[B]] or [[C]]."""
OWN = {"template": TEMPLATE, "verdict": {"by": "marker", "first": "[[A]]", "second": "[[B]]", "tie": "[[C]]"}}
LANGUAGE = {
    "pairwise, own prompt": {"prompt": OWN},
    "pairwise, preset": {"prompt": "mtbench"},
    "pointwise": {"kind": "pointwise"},
    "pointwise, probabilities": {"kind": "pointwise", "mode": "verdict"},
    "pass_fail": {"kind": "pass_fail"},
    "pass_fail, probabilities": {"kind": "pass_fail", "mode": "verdict"},
    "rubric": {"kind": "rubric", "criteria": CRITERIA},
    "listwise": {"kind": "listwise", "n": 4},
}
NO_POSITION = ("pointwise", "pass_fail", "rubric")


class Judging(ScriptedServer):
    """The planted judge behind endpoints that are no language models: /score, /v1/rerank and one of its own."""

    def __init__(self, world):
        self.world = world
        super().__init__(self._reply, keep=10)

    def _reply(self, body):
        if "a" in body:
            letter = verdict(self.world, read(self.world, body["q"], body["a"], body["b"]))
            value = {"result": {"winner": {"C": "tie"}.get(letter, letter)}}
        else:
            question = body.get("text_1", body.get("query", body.get("q")))
            answer = body.get("text_2", (body.get("documents") or [body.get("answer")])[0])
            score = liking(self.world, question, answer).margin
            value = {
                "data": [{"score": score}],
                "results": [{"index": 0, "relevance_score": score}],
                "result": {"score": score},
            }
        return Reply(body=json.dumps(value).encode())


@pytest.fixture(scope="module")
def judging(easy):
    with Judging(easy) as server:
        yield server


@pytest.fixture
def in_module(easy, monkeypatch):
    """A module of the user's with a scorer and an async judge."""
    module = type(sys)("my_judges")
    module.threads = set()

    def score(prompt, answer):
        module.threads.add(threading.current_thread().name)
        return liking(easy, prompt, answer).margin

    async def compare(prompt, answer_a, answer_b):
        return verdict(easy, read(easy, prompt, answer_a, answer_b)).replace("C", "tie")

    module.score, module.compare = score, compare
    monkeypatch.setitem(sys.modules, "my_judges", module)
    return module


def rows(outcome, kind):
    store = open_store(outcome.folder)
    try:
        return store.select(kind, run_id=outcome.folder.run_id)
    finally:
        store.close()


def audited(values, right=12):
    """A run that ended, with what every kind must have in it; more than `right` verdicts on the originals are right."""
    outcome = start(values)
    assert outcome.state == "finished"
    judgments = rows(outcome, Judgment)
    assert {j.verdict for j in judgments} >= {"chosen", "rejected"}
    assert sum(j.verdict == "chosen" for j in judgments if j.arm == "original") > right
    assert rows(outcome, Validation)
    return outcome, judgments


def scores_agree(judgments):
    for judgment in judgments:
        margin = judgment.score_chosen - judgment.score_rejected
        assert judgment.verdict == ("chosen" if margin > 0 else "rejected" if margin < 0 else "tie")


@pytest.mark.parametrize("name", LANGUAGE)
def test_language_models_of_every_kind(easy, small_data, tmp_path, name):
    with FaultyWorld(easy) as server:
        values = settings(small_data, tmp_path, server.url, judge=LANGUAGE[name], orders="both")
        # An answer passes or not: many pairs have two that pass, which is wrong, or none, which is a tie.
        outcome, judgments = audited(values, right=6 if name.startswith("pass_fail") else 12)
        assert max(server.asked.values()) == 1
    by_arm = {}
    for judgment in judgments:
        by_arm.setdefault((judgment.pair_id, judgment.arm, judgment.perturbation_id), []).append(judgment)
    orders = 1 if name.startswith(NO_POSITION) else 2
    assert {len(found) for found in by_arm.values()} == {orders}
    if name.endswith("probabilities"):
        assert all(0 <= j.p_rejected <= 1 and 0 <= j.tie_mass <= 1 for j in judgments)
    if name in ("pointwise", "rubric"):
        scores_agree(judgments)
    explanations = rows(outcome, Explanation)
    assert explanations and all(e.own_words for e in explanations)


def scorer(world):
    """The planted judge's own liking for one answer, for chat requests that end with the answer."""

    def reply(body, times):
        messages = body["messages"]
        if [m["role"] for m in messages] != ["user", "assistant"]:
            return None
        question, answer = (m["content"] for m in messages)
        return Reply(text=f"{liking(world, question, answer).margin:.6f}")

    return reply


def test_a_scorer_is_audited_without_position_and_in_other_words(easy, small_data, tmp_path):
    with FaultyWorld(easy, scorer(easy)) as server:
        outcome, judgments = audited(settings(small_data, tmp_path, server.url, judge={"kind": "score"}, orders="both"))
        assert max(server.asked.values()) == 1
    assert {j.judge.rpartition("#")[2] for j in judgments} == {"score"}
    scores_agree(judgments)
    assert len({(j.pair_id, j.arm, j.perturbation_id) for j in judgments}) == len(judgments)
    explanations = rows(outcome, Explanation)
    assert explanations and not any(e.own_words for e in explanations)


ENDPOINTS = {
    "score": lambda url: {"model": f"score:rm@{url}"},
    "rerank": lambda url: {"model": f"rerank:rm@{url}/v1"},
    "http score": lambda url: {
        "kind": "score",
        "model": f"{url}/judge",
        "http": {"body": {"q": "{{ prompt }}", "answer": "{{ answer }}"}, "answer": "$.result.score"},
    },
    "http compare": lambda url: {
        "kind": "compare",
        "model": f"{url}/judge",
        "http": {
            "body": {"q": "{{ prompt }}", "a": "{{ answer_a }}", "b": "{{ answer_b }}"},
            "answer": "result.winner",
        },
    },
}


@pytest.mark.parametrize("name", ENDPOINTS)
def test_endpoints_that_are_no_language_models(judging, server, small_data, tmp_path, name):
    values = settings(small_data, tmp_path, server.url)
    values["judge"] = ENDPOINTS[name](judging.url.removesuffix("/v1"))
    outcome, judgments = audited(values)
    assert not any(e.own_words for e in rows(outcome, Explanation))
    if name != "http compare":
        scores_agree(judgments)


@pytest.mark.parametrize("kind", ["score", "compare"])
def test_python_callables(in_module, server, small_data, tmp_path, kind):
    values = settings(small_data, tmp_path, server.url)
    values["judge"] = {"kind": kind, "model": f"python:my_judges:{kind}"}
    _, judgments = audited(values)
    (name,) = {j.judge for j in judgments}
    assert re.fullmatch(f"python:my_judges:{kind}#[0-9a-f]{{8}}#{kind}", name)
    if kind == "score":
        assert in_module.threads and "MainThread" not in in_module.threads


@pytest.mark.parametrize("decide", ["majority", "mean"])
def test_a_jury_of_different_kinds(in_module, easy, small_data, tmp_path, decide):
    with FaultyWorld(easy) as server:
        values = settings(small_data, tmp_path, server.url)
        chat = dict(values["judge"])
        members = [{**chat, "mode": "verdict"}, {**chat, "kind": "pointwise"}, "python:my_judges:score"]
        members[2] = {"kind": "score", "model": members[2]}
        values["judge"] = {"kind": "jury", "members": members, "decide": decide, "both_orders": True}
        _, judgments = audited(values)
        assert max(server.asked.values()) == 1
    assert {j.judge.split("#")[1] for j in judgments} == {f"{decide}+both"}
    assert all((j.p_rejected is not None) == (decide == "mean") for j in judgments if j.verdict != "invalid")


def test_a_judge_of_another_kind_that_dies_at_every_checkpoint_comes_to_the_same_end(
    easy, small_data, server, tmp_path, monkeypatch
):
    judge = {"kind": "rubric", "criteria": CRITERIA}
    whole = start(settings(small_data, tmp_path / "whole", server.url, judge=judge))
    folder = create(load_config(None, (), settings(small_data, tmp_path / "dying", server.url, judge=judge)))
    put, died = AsyncSqliteSaver.aput, []

    async def dying(self, config, checkpoint, metadata, versions):
        if metadata["step"] not in died:
            died.append(metadata["step"])
            raise StoreError("died before the checkpoint")
        return await put(self, config, checkpoint, metadata, versions)

    monkeypatch.setattr(AsyncSqliteSaver, "aput", dying)
    outcome = None
    while outcome is None:
        try:
            outcome = run(folder)
        except StoreError:
            continue
    assert results(folder) == results(whole.folder)
