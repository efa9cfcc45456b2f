"""A benchmark from start to end on the planted world, through the program: where the truth is known."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import datasets
import pytest
from biasscope.apps.cli.main import app, main
from biasscope.bias_library.bias import make_bias
from biasscope.bias_library.exchange import export_published
from biasscope.builders.annotating import progress
from biasscope.core.errors import ConfigError, DataError, StoreError
from biasscope.core.records import Bias, Drop, Failure, Item, Judgment, PreferencePair
from biasscope.data.benchmark import read_rows
from biasscope.runs.benchmark import BenchmarkConfig, run_build, stored_funnel
from biasscope.runs.benchmark_evaluation import EvaluationConfig, run_evaluation
from biasscope.runs.benchmark_final import finalise_run
from biasscope.runs.config import load_config
from biasscope.runs.folder import RunFolder
from biasscope.runs.jobs import create, open_store
from biasscope.simulation.scripted import Reply, failure
from biasscope.simulation.world import World
from biasscope.validators.answers import compare_answers
from typer.testing import CliRunner
from world_runs import COLUMNS, FaultyWorld, draw, over, write_config, write_sources

COMMAND = (sys.executable, "-c", "from biasscope.apps.cli.main import main; main()")


def library_of(world, path):
    biases = [
        make_bias(f.spec.title, f.spec.definition, f"Shows {name}.", origin="imported")
        for name, f in world.features.items()
    ]
    path.write_text(export_published(biases))
    return {bias.name: name for bias, name in zip(biases, world.features, strict=True)}


def values(data, folder, url, **more):
    model = {"model": "openai:world", "base_url": url, "max_concurrency": 8}
    base = {
        "name": "hard",
        "kind": "benchmark",
        "workspace": str(folder / "ws"),
        "source": {"source": str(data / "test.jsonl"), "columns": COLUMNS},
        "library": str(folder / "library.json"),
        "teacher": dict(model),
        "judges": [dict(model)],
        "licence": "mit",
    }
    return over(base, more)


def config(given, kind=BenchmarkConfig):
    return load_config(None, (), given, kind=kind)


@pytest.fixture(scope="module")
def built(easy, tmp_path_factory):
    """A finished build with two judges on 70 pairs, and the features of its biases by name."""
    folder = tmp_path_factory.mktemp("benchmark")
    write_sources(folder / "data", easy, 1, 70)
    names = library_of(easy, folder / "library.json")
    with FaultyWorld(easy) as server:
        model = {"model": "openai:world", "base_url": server.url, "max_concurrency": 8}
        judges = [dict(model), {**model, "mode": "verdict"}]
        given = values(folder / "data", folder, server.url, judges=judges, variants=3)
        made = create(config(given))
        outcome = run_build(made)
        assert outcome.state == "finished"
        asked = sum(server.asked.values())
        again = run_build(made)
        assert sum(server.asked.values()) == asked
        assert again.result == outcome.result
    return made, names


def opened(folder, kind, **where):
    store = open_store(folder)
    try:
        return store.select(kind, run_id=folder.run_id, **where)
    finally:
        store.close()


def test_every_variant_is_accounted_for(built):
    folder, _ = built
    store = open_store(folder)
    funnel = stored_funnel(store, folder.run_id)
    drops, items = store.select(Drop, run_id=folder.run_id), store.select(Item, run_id=folder.run_id)
    store.close()
    assert funnel.pairs == 70
    assert funnel.steps[0].before == 210
    for before, after in zip(funnel.steps, funnel.steps[1:], strict=False):
        assert before.after == after.before
    for step in funnel.steps:
        assert step.before - step.after == sum(step.reasons.values())
        told = Counter(d.reason for d in drops if d.stage == step.name)
        assert told == {r: n for r, n in step.reasons.items() if not r.startswith("failed")}
    assert len(items) == funnel.left > 20
    assert len({item.pair_id for item in items}) == len(items)


def test_every_drop_is_shown_with_its_reason(built):
    folder, _ = built
    shown = biasscope("benchmark", "show", folder.path, "--drops")
    rows = [json.loads(line) for line in shown.output.splitlines()]
    funnel = json.loads(biasscope("benchmark", "show", folder.path, "--json").output)
    assert Counter(r["reason"] for r in rows) == sum((Counter(s["reasons"]) for s in funnel["steps"]), Counter())
    assert all(" bias:" in row["subject"] for row in rows)
    assert any(row["detail"].endswith(": chosen") for row in rows if row["step"] == "filter")


def test_every_item_misled_a_judge_in_both_orders_and_ends_in_another_answer(built):
    folder, _ = built
    store = open_store(folder)
    judgments = {}
    for row in store.select(Judgment, run_id=folder.run_id):
        judgments.setdefault((row.judge, row.pair_id, row.arm), set()).add((row.order, row.verdict))
    for item in store.select(Item, run_id=folder.run_id):
        assert item.misled
        for name in item.misled:
            assert judgments[name, item.source_pair_id, f"bias:{item.bias_id}"] >= {
                ("chosen_first", "rejected"),
                ("rejected_first", "rejected"),
            }
        for name in set(item.misled) - set(item.misled_before):
            assert any(v != "rejected" for _, v in judgments[name, item.source_pair_id, "original"])
        pair = store.get(PreferencePair, item.pair_id)
        assert compare_answers(pair.chosen, pair.rejected) == "different" or item.votes
    store.close()


def test_items_that_the_bias_made_hard_show_planted_biases(built, easy):
    """Only authority, self_check and nautical have a weight; length, sentiment and asides move no verdict."""
    folder, names = built
    store = open_store(folder)
    biases = {b.id: names[b.name] for b in store.select(Bias)}
    flipped = [i for i in store.select(Item, run_id=folder.run_id) if set(i.misled) - set(i.misled_before)]
    store.close()
    planted = sum(easy.spec.judge.weights.get(biases[i.bias_id], 0) > 0 for i in flipped)
    assert len(flipped) > 10
    assert planted / len(flipped) > 0.8


@pytest.mark.slow
def test_a_build_killed_anywhere_ends_the_same_and_pays_nothing_twice(easy, small_data, tmp_path):
    def fault(body, _):
        k = draw(body, 60)
        return {0: Reply(text=""), 1: failure(400, "not to my liking"), 2: Reply(text=None, refusal="No.")}.get(k)

    library_of(easy, tmp_path / "library.json")
    form = {"structured": "json_schema"}
    with FaultyWorld(easy, fault) as server:
        more = {"teacher": form, "variants": 3}
        whole = create(config(values(small_data, tmp_path, server.url, name="whole", **more)))
        expected = run_build(whole).result
        calls = server.asked.copy()
        server.asked.clear()
        path = write_config(tmp_path / "b.yaml", values(small_data, tmp_path, server.url, name="killed", **more))
        folder = RunFolder(tmp_path / "ws" / "killed")
        for share in (0.2, 0.7):
            args = ["resume", str(folder.path)] if folder.config.exists() else ["benchmark", "build", str(path)]
            child = subprocess.Popen([*COMMAND, *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while child.poll() is None and len(server.asked) < share * len(calls):
                time.sleep(0.002)
            assert child.poll() is None
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
        done = subprocess.run([*COMMAND, "resume", str(folder.path)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert "mislead the filter" in done.stdout
        again = server.asked.copy()
    store = open_store(folder)
    assert stored_funnel(store, "killed") == expected
    assert len(store.select(Failure, run_id="killed")) == len(opened(whole, Failure)) > 3
    store.close()
    assert {i.pair_id for i in opened(folder, Item)} == {i.pair_id for i in opened(whole, Item)}
    failed = sum(n for step in expected.steps for reason, n in step.reasons.items() if reason.startswith("failed"))
    assert failed > 3
    bad_requests = sum(n > 1 and draw(json.loads(b), 60) == 1 for b, n in again.items())
    assert sum(n > 1 for n in again.values()) - bad_requests <= 2 * 16


def test_the_flipped_rule_keeps_only_what_the_bias_did(easy, small_data, tmp_path):
    library_of(easy, tmp_path / "library.json")
    with FaultyWorld(easy) as server:
        given = values(small_data, tmp_path, server.url, filter={"misjudgments": "flipped"}, variants=4)
        folder = create(config(given))
        funnel = run_build(folder).result
    assert funnel.steps[2].reasons["misled by the original pair already"] > 0
    items = opened(folder, Item)
    assert len(items) == funnel.left > 0
    assert all(not item.misled_before for item in items)


def test_the_rules_teacher_builds_without_a_model(easy, small_data, tmp_path):
    with FaultyWorld(easy) as server:
        given = values(small_data, tmp_path, server.url, library="features", variants=4)
        given["teacher"] = "rules"
        folder = create(config(given))
        funnel = run_build(folder).result
        assert all("compare two answers" in _system(body) for body in server.asked)
    assert funnel.steps[0].after > 0.7 * funnel.steps[0].before
    items = opened(folder, Item)
    assert len(items) == funnel.left > 0
    assert all(item.votes == {} for item in items)
    done = finalise_run(folder, without_people=True)
    card = (done.folder / "README.md").read_text()
    assert "Rewritten by rules of the feature lexicon." in card
    assert "by people alone, without a panel of models" in card


def _system(body):
    return json.loads(body)["messages"][0]["content"].lower()


def test_a_build_that_changed_underneath_is_refused(easy, small_data, tmp_path):
    library_of(easy, tmp_path / "library.json")
    with FaultyWorld(easy) as server:
        folder = create(config(values(small_data, tmp_path, server.url, variants=1, source={"limit": 4})))
        run_build(folder)
        folder.config.write_text(folder.config.read_text().replace("openai:world", "openai:other"))
        with pytest.raises(ConfigError, match="models changed since this run began"):
            run_build(folder)


# From here on the steps of one story: annotate, finalize, load, evaluate.

DISAGREE, SAME = 4, 3
"""Of the items: so many are labelled differently by the first two annotators, so many the same by both."""


def biasscope(*args):
    return CliRunner().invoke(app, [str(a) for a in args], catch_exceptions=True)


def label(path, decide):
    rows = [json.loads(line) for line in path.read_text().split("\n") if line]
    for row in rows:
        row["label"] = decide(row)
    path.write_text("\n".join(map(json.dumps, rows)))
    return len(rows)


@pytest.fixture(scope="module")
def annotated(built):
    """Scripted annotators with known disagreement, through export and import of the program."""
    folder, _ = built
    ids = sorted(item.pair_id for item in opened(folder, Item))
    split, same = set(ids[:DISAGREE]), set(ids[DISAGREE : DISAGREE + SAME])

    def first(row):
        return "same" if row["item_id"] in same else "different"

    def second(row):
        return "same" if row["item_id"] in same | split else "different"

    def late(row):
        """The fourth sides with the second on the first item only: 2 to 2 there, 3 to 1 elsewhere."""
        return "same" if row["item_id"] == ids[0] else "different"

    sizes = []
    for who, decide in (("Ada", first), ("Bob", second), ("Cyd", first), ("Dan", late), ("Ada", lambda row: "broken")):
        made = biasscope("benchmark", "annotate", "export", folder.path, "--annotator", who)
        assert made.exit_code == 0, made.output
        path = folder.path / "annotation" / who.lower() / "tasks.jsonl"
        sizes.append(label(path, decide))
        taken = biasscope("benchmark", "annotate", "import", folder.path, path)
        assert taken.exit_code == 0, taken.output
        assert f"{sizes[-1]} annotations added" in " ".join(taken.output.split())
    assert sizes == [len(ids), len(ids), DISAGREE, DISAGREE, 1]
    return folder, ids


def test_kappa_is_that_worked_by_hand(annotated):
    """N items; both different on N - 7, both same on 3, split on 4. Observed (N - 4) / N. Of 2N labels 3 + 3 + 4 are
    same, so p = 10 / 2N; expected p^2 + (1 - p)^2; kappa = (observed - expected) / (1 - expected)."""
    folder, ids = annotated
    n = len(ids)
    observed, p = (n - 4) / n, 10 / (2 * n)
    expected = p * p + (1 - p) ** 2
    kappa = (observed - expected) / (1 - expected)
    shown = biasscope("benchmark", "annotate", "status", folder.path)
    words = " ".join(shown.output.split())
    assert f"raw agreement {100 * observed:.1f} %" in words
    assert f"Fleiss' kappa {kappa:.2f}" in words
    done = finalise_run(folder)
    assert done.final.agreement.kappa == pytest.approx(kappa)
    assert f"kappa {kappa:.2f}" in (done.folder / "README.md").read_text()


def test_the_final_set_is_what_people_said(annotated):
    folder, ids = annotated
    store = open_store(folder)
    how = Counter(s.how for s in progress(store, folder.run_id).values())
    store.close()
    assert how == {"agreement": len(ids) - DISAGREE, "review": DISAGREE - 1, "adjudication": 1}
    shown = biasscope("benchmark", "finalize", folder.path)
    assert shown.exit_code == 0, shown.output
    words = " ".join(shown.output.split())
    assert f"{len(ids) - SAME - 1} items, human-verified, {SAME + 1} left out (" in words
    rows = read_rows(folder.path / "final")
    assert {r.pair_id for r in rows} == set(ids) - {ids[0], *ids[DISAGREE : DISAGREE + SAME]}
    assert {r.answers_differ_by for r in rows} == {"people"}
    labels = (folder.path / "final" / "annotations.jsonl").read_text()
    assert len(labels.splitlines()) == 2 * len(ids) + 2 * DISAGREE + 1
    assert "ada" not in labels and "annotator 1" in labels


def test_datasets_loads_what_was_finalised(annotated, tmp_path):
    folder, ids = annotated
    finalise_run(folder)
    loaded = datasets.load_dataset(str(folder.path / "final"), cache_dir=str(tmp_path))["test"]
    assert loaded.num_rows == len(ids) - SAME - 1
    assert set(loaded["label"]) == {"A>B", "B>A"}
    assert all(a != b for a, b in zip(loaded["response_A"], loaded["response_B"], strict=True))


def weighing(world, weights, seed):
    """The world with another judge."""
    judge = world.spec.judge.model_copy(update={"weights": weights})
    return World(world.spec.model_copy(update={"judge": judge, "seed": seed}))


def test_two_judges_are_told_apart(annotated, easy, tmp_path):
    """The judge whose biases were planted does worse than on the source pairs; a fair one does not."""
    folder, _ = annotated
    finalise_run(folder)
    weights = easy.spec.judge.weights
    fair = weighing(easy, {}, seed=9)
    biased = weighing(easy, {name: 2 * weight for name, weight in weights.items()}, seed=5)
    with FaultyWorld(fair) as one, FaultyWorld(biased) as two:
        given = {
            "name": "who",
            "workspace": str(tmp_path),
            "benchmark": str(folder.path / "final"),
            "judges": [
                {"model": "openai:fair", "base_url": one.url},
                {"model": "openai:biased", "base_url": two.url},
            ],
        }
        job = create(config(given, EvaluationConfig))
        outcome = run_evaluation(job)
        asked = sum(one.asked.values()) + sum(two.asked.values())
        run_evaluation(job)
        assert sum(one.asked.values()) + sum(two.asked.values()) == asked
    scores = {s.judge.split("#")[0]: s for s in outcome.result.evaluation.judges}
    moved = {name: s.overall.difference for name, s in scores.items()}
    assert moved["biased"].low > 0
    assert moved["fair"].low < 0 < moved["fair"].high
    assert moved["biased"].value > moved["fair"].value + 0.1
    page = outcome.result.files["markdown"].read_text()
    assert "| fair" in page and "plots/difference.svg" in page
    assert "<svg" in outcome.result.files["svg"].read_text()
    assert outcome.result.files["png"].read_bytes().startswith(b"\x89PNG")


def test_the_judge_that_chose_the_items_is_marked(annotated, easy, tmp_path):
    folder, _ = annotated
    finalise_run(folder)
    with FaultyWorld(easy) as server:
        path = write_config(
            tmp_path / "e.yaml",
            {"judges": [{"model": "openai:world", "base_url": server.url}], "workspace": str(tmp_path), "name": "e"},
        )
        shown = biasscope("benchmark", "evaluate", folder.path / "final", "--config", path, "--items", 10)
    assert shown.exit_code == 0, shown.output
    assert "†" in shown.output
    found = json.loads((tmp_path / "e" / "evaluation.json").read_text())
    assert found["items"] == 10
    assert found["judges"][0]["chose_items"] is True


def test_without_people_the_set_says_so(easy, small_data, tmp_path):
    library_of(easy, tmp_path / "library.json")
    with FaultyWorld(easy) as server:
        folder = create(config(values(small_data, tmp_path, server.url, variants=3, licence="")))
        run_build(folder)
    with pytest.raises(DataError, match="wait for people"):
        finalise_run(folder)
    assert not (folder.path / "final").exists()
    (tmp_path / "file").write_text("")
    shown = biasscope("benchmark", "annotate", "export", folder.path, "--annotator", "a", "--out", tmp_path / "file")
    assert isinstance(shown.exception, ConfigError) and "cannot be written" in str(shown.exception)
    done = finalise_run(folder, without_people=True)
    assert not done.final.human_verified
    card = (done.folder / "README.md").read_text()
    assert "This set is not human-verified." in card
    assert "> **Warning.** Not human-verified: 0 of" in card
    assert "> **Warning.** Nobody has said under which licence" in card
    assert "license: unknown" in card


def test_what_cannot_be_written_leaves_what_was_there(annotated):
    folder, _ = annotated
    finalise_run(folder)
    shown = biasscope("benchmark", "annotate", "export", folder.path, "--annotator", "Zoe")
    assert "nothing to label for zoe" in " ".join(shown.output.split())
    before = (folder.path / "final" / "README.md").read_text()
    (folder.path / "final.partial").write_text("in the way")
    with pytest.raises(StoreError, match="the final set cannot be written to"):
        finalise_run(folder)
    (folder.path / "final.partial").unlink()
    assert (folder.path / "final" / "README.md").read_text() == before


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["build"], "nothing to build: give a CONFIG.yaml, or --source, --teacher and --judge"),
        (["evaluate", "x"], "nothing to evaluate"),
        (["finalize", "nothing"], "no run 'nothing'"),
        (["annotate", "export", "nothing", "--annotator", "a"], "no run 'nothing'"),
        (["annotate", "import", "nothing", "x.txt"], "decisions come as .jsonl, .csv or .json"),
    ],
)
def test_wrong_input_is_one_line(tmp_path, monkeypatch, capsys, args, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.txt").write_text("")
    monkeypatch.setattr(sys, "argv", ["biasscope", "benchmark", *args])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1
