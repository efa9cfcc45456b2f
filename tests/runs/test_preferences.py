"""Training data from start to end on the planted world, through the program."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import datasets
import pytest
from biasscope.agents.grading import right_verdict
from biasscope.apps.cli.main import app, main
from biasscope.core.errors import ConfigError
from biasscope.core.records import Drop, Failure, Judgment, Perturbation
from biasscope.core.words import word_count
from biasscope.runs.config import load_config
from biasscope.runs.folder import RunFolder
from biasscope.runs.jobs import create, open_store
from biasscope.runs.preferences import AugmentConfig, DpoConfig, run_augment, run_dpo
from biasscope.simulation.scripted import Reply, failure
from typer.testing import CliRunner
from world_runs import COLUMNS, FaultyWorld, draw, over, write_config, write_sources

COMMAND = (sys.executable, "-c", "from biasscope.apps.cli.main import main; main()")


@pytest.fixture(scope="module")
def data(easy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    write_sources(folder, easy, 80, 30)
    return folder


def values(data, workspace, url, **more):
    model = {"model": "openai:world", "base_url": url, "max_concurrency": 8}
    base = {
        "name": "made",
        "workspace": str(workspace),
        "source": {"source": str(data / "target.jsonl"), "columns": COLUMNS},
        "library": "seeds",
        "teacher": dict(model),
        "length": {"low": 0.3, "high": 3.0},
        "validation_share": 0.1,
        "near_duplicates": False,
    }
    return over(base, more)


def made(given, kind=DpoConfig, go=run_dpo):
    folder = create(load_config(None, (), given, kind=kind))
    outcome = go(folder)
    assert outcome.state == "finished"
    return folder, outcome.result


def rows_of(folder, *names):
    return [json.loads(line) for name in names for line in (folder.path / "data" / name).read_text().splitlines()]


def stored(folder, *kinds):
    store = open_store(folder)
    try:
        return [store.select(kind, run_id=folder.run_id) for kind in kinds]
    finally:
        store.close()


def test_pairs_of_responses(server, data, tmp_path):
    folder, result = made(values(data, tmp_path, server.url, original_share=0.25, licence="mit"))
    train, validation = rows_of(folder, "train.jsonl"), rows_of(folder, "validation.jsonl")
    rows = [*train, *validation]
    sources = {row["id"]: row for row in map(json.loads, (data / "target.jsonl").read_text().splitlines())}
    [made_texts] = stored(folder, Perturbation)
    texts = {p.id: p.text for p in made_texts}
    for row in rows:
        source = sources[row["source_id"]]
        assert row["prompt"] == [{"role": "user", "content": source["prompt"]}]
        assert row["chosen"] == [{"role": "assistant", "content": source["chosen"]}]
        expected = texts[row["perturbation_id"]] if row["bias"] else source["rejected"]
        assert row["rejected"] == [{"role": "assistant", "content": expected}]
        assert "@" not in row["teacher"]
    counts = Counter(row["bias"] for row in rows)
    assert abs(counts[""] - 0.25 * len(rows)) <= 0.5
    assert len(counts) == 7  # six seed biases that can be written in, and none
    assert result.written.units == {"train": len(train), "validation": len(validation)}
    assert len(validation) == round(0.1 * len(rows))
    assert not {str(r["prompt"]) for r in train} & {str(r["prompt"]) for r in validation}
    card = (folder.path / "data" / "README.md").read_text()
    assert "license: mit" in card
    loaded = datasets.load_dataset(str(folder.path / "data"), cache_dir=str(tmp_path / "cache"))
    assert {split: len(part) for split, part in loaded.items()} == {"train": len(train), "validation": len(validation)}


def test_everything_that_is_left_out_has_its_reason(server, data, tmp_path):
    """Every source pair is a row, a drop or a failure, and the funnel counts them."""
    tests = {"source": str(data / "test.jsonl"), "columns": COLUMNS}
    source = data / "mixed.jsonl"
    lines = (data / "target.jsonl").read_text().splitlines() + (data / "test.jsonl").read_text().splitlines()[:5]
    source.write_text("\n".join(lines) + "\n")
    given = values(data, tmp_path, server.url, tests=[tests], length={"low": 0.9, "high": 1.1})
    folder, result = made(over(given, {"source": {"source": str(source)}}))
    drops, failures = stored(folder, Drop, Failure)
    rows = rows_of(folder, "train.jsonl", "validation.jsonl")
    assert len(rows) + len(drops) + len(failures) == result.funnel.pairs == 85
    reasons = Counter(drop.reason for drop in drops)
    assert reasons["same prompt as a test pair"] >= 5
    assert reasons["another length"] > 0
    assert Counter({k: v for step in result.funnel.steps for k, v in step.reasons.items()}) == reasons + Counter(
        f"failed ({failure.kind})" for failure in failures
    )
    held_out = {json.loads(line)["prompt"] for line in (data / "test.jsonl").read_text().splitlines()}
    assert not held_out & {row["prompt"][0]["content"] for row in rows}


def test_rewrites_that_have_become_right_are_left_out(easy, data, tmp_path):
    """The teacher of one pair in four gives the chosen answer's final line in its rewrite."""
    wrong_and_right = {}
    for row in map(json.loads, (data / "target.jsonl").read_text().splitlines()):
        wrong_and_right[row["rejected"].splitlines()[-1]] = row["chosen"].splitlines()[-1]

    def fault(body, times):
        said = body["messages"][-1]["content"]
        if "rewrite the answer" not in said or draw(body, 4):
            return None
        reply = easy.answer(body)
        content = json.loads(reply["choices"][0]["message"]["content"])
        lines = content["rewritten_answer"].splitlines()
        lines[-1] = wrong_and_right.get(lines[-1], lines[-1])
        content["rewritten_answer"] = "\n".join(lines)
        reply["choices"][0]["message"]["content"] = json.dumps(content)
        return Reply(body=json.dumps(reply).encode())

    with FaultyWorld(easy, fault) as faulty:
        folder, _ = made(values(data, tmp_path, faulty.url, original_share=0.0))
    [drops] = stored(folder, Drop)
    caught = [drop for drop in drops if drop.reason == "final answer has changed or become right"]
    assert len(caught) >= 10
    for row in rows_of(folder, "train.jsonl", "validation.jsonl"):
        assert row["rejected"][0]["content"].splitlines()[-1] != row["chosen"][0]["content"].splitlines()[-1]


def test_pairs_of_verdicts(server, data, tmp_path):
    """Right letters are balanced; the judge's own words are taken wherever it said them."""
    judge = {"model": "openai:world", "base_url": server.url}
    folder, _ = made(values(data, tmp_path, server.url, what="verdict", judge=judge, original_share=0.3))
    rows = rows_of(folder, "train.jsonl", "validation.jsonl")
    assert len(rows) > 20
    assert Counter(row["right"] for row in rows) == {"A": len(rows) // 2, "B": len(rows) // 2}
    assert {len([r for r in rows if r["pair_id"] == row["pair_id"]]) for row in rows} == {2}
    judgments, drops = stored(folder, Judgment, Drop)
    own = {judgment.reasoning for judgment in judgments}
    sides = Counter()
    for row in rows:
        right, wrong = row["right"], {"A": "B", "B": "A"}[row["right"]]
        assert right_verdict(row["chosen"][0]["content"], right)
        assert right_verdict(row["rejected"][0]["content"], wrong)
        assert row["prompt"][0]["role"] == "system"
        sides["chosen"] += row["chosen"][0]["content"] in own
        sides["rejected"] += row["rejected"][0]["content"] in own
    assert sides["rejected"] > len(rows) / 3
    assert sides["chosen"] > 0
    assert {d.reason for d in drops if d.stage == "make"} == {"the judge is not misled"}


def test_a_judge_of_letters_needs_nobody_to_argue(server, data, tmp_path):
    judge = {"model": "openai:world", "base_url": server.url, "mode": "verdict"}
    given = values(data, tmp_path, server.url, what="verdict", judge=judge, library="features", original_share=0.0)
    folder, _ = made(given | {"teacher": {"model": "rules"}})
    rows = rows_of(folder, "train.jsonl", "validation.jsonl")
    assert rows
    assert {(r["chosen"][0]["content"], r["rejected"][0]["content"]) for r in rows} == {("A", "B"), ("B", "A")}
    with pytest.raises(ConfigError, match="cannot argue for verdicts"):
        made(given | {"teacher": {"model": "rules"}, "judge": {**judge, "mode": "reasoning"}, "name": "other"})


def test_negatives_judging_prompts_and_the_cold_start(server, data, tmp_path):
    check = {"model": "openai:world", "base_url": server.url, "mode": "verdict"}
    given = values(data, tmp_path, server.url, negatives=2, cold_start=3, check=check, original_share=0.2)
    folder, _ = made(given, AugmentConfig, run_augment)
    negatives = rows_of(folder, "negatives.jsonl", "negatives_validation.jsonl")
    judging = rows_of(folder, "judging.jsonl", "judging_validation.jsonl")
    cold = [row for name in ("cold_start.jsonl", "cold_start_validation.jsonl") for row in rows_of(folder, name)]
    for row in negatives:
        assert row["biases"][0] == ""
        assert len(row["rejected"]) == len(row["biases"]) == len(set(row["biases"])) <= 3
        assert len(set(row["rejected"])) == len(row["rejected"])
    assert max(len(row["biases"]) for row in negatives) == 3
    untouched = [row for row in negatives if row["biases"] == [""]]
    assert abs(len(untouched) - 0.2 * len(negatives)) <= 0.5
    assert len(judging) == sum(len(row["rejected"]) for row in negatives)
    by_pair = {row["pair_id"]: row for row in negatives}
    for row in judging:
        better, worse = (row["answer_a"], row["answer_b"])[:: 1 if row["right"] == "A" else -1]
        source = by_pair[row["pair_id"]]
        assert better == source["chosen"]
        assert worse == source["rejected"][source["biases"].index(row["bias"])]
        assert row["answer_a"] in row["prompt"][-1]["content"]
    assert 0.3 < sum(row["right"] == "A" for row in judging) / len(judging) < 0.7
    right = {str(row["prompt"]): row["right"] for row in judging}
    assert 0 < max(Counter(row["bias"] for row in cold).values()) <= 3
    for row in cold:
        assert right_verdict(row["completion"][0]["content"], right[str(row["prompt"])])
    kept = [j for j in stored(folder, Judgment)[0] if j.verdict == "chosen"]
    checked = {(j.pair_id, j.arm) for j in kept}
    assert all((r["pair_id"], f"bias:{r['bias_id']}") in checked for r in judging if r["bias"])


def test_balanced_lengths(server, data, tmp_path):
    given = values(data, tmp_path, server.url, length={"low": 0.1, "high": 9.0, "balance": True}, original_share=0.0)
    folder, _ = made(given)
    rows = rows_of(folder, "train.jsonl", "validation.jsonl")
    lengths = [(word_count(r["chosen"][0]["content"]), word_count(r["rejected"][0]["content"])) for r in rows]
    assert sum(a > b for a, b in lengths) == sum(a < b for a, b in lengths) > 0


@pytest.mark.parametrize("kill_after", [10, 45])
def test_a_killed_build_goes_on_and_pays_for_nothing_twice(easy, data, tmp_path, kill_after):
    def slow(body, times):
        return Reply(body=json.dumps(easy.answer(body)).encode(), delay=0.03)

    with FaultyWorld(easy, slow) as world:
        whole, _ = made(values(data, tmp_path / "whole", world.url))
        calls = world.asked.copy()
        assert set(calls.values()) == {1}
        world.asked.clear()
        config = write_config(tmp_path / "dpo.yaml", values(data, tmp_path / "killed", world.url))
        child = subprocess.Popen([*COMMAND, "dpo", "build", str(config)], stdout=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while len(world.asked) < kill_after and child.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        assert child.poll() is None
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        folder = tmp_path / "killed" / "made"
        assert not (folder / "data" / "train.jsonl").exists()
        done = subprocess.run([*COMMAND, "resume", str(folder)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        again = world.asked.copy()
    assert again.keys() == calls.keys()
    assert again.total() - calls.total() <= 4 * 8  # items in flight at the kill: asked, or answered and not yet on disk
    for name in ("train.jsonl", "validation.jsonl"):
        assert (folder / "data" / name).read_text() == (whole.path / "data" / name).read_text()
    assert stored(RunFolder(folder), Drop) == stored(whole, Drop)
    assert sorted(p.name for p in (folder / "data").iterdir()) == ["README.md", "train.jsonl", "validation.jsonl"]


def test_failed_rewrites_are_failures_and_the_rest_goes_on(easy, data, tmp_path):
    def fault(body, times):
        return (
            failure(400, "no")
            if "rewrite the answer" in body["messages"][-1]["content"] and not draw(body, 3)
            else None
        )

    with FaultyWorld(easy, fault) as faulty:
        folder, result = made(values(data, tmp_path, faulty.url))
    [failures] = stored(folder, Failure)
    assert len(failures) > 5
    assert result.funnel.steps[1].reasons["failed (bad_request)"] == len(failures)
    rows = rows_of(folder, "train.jsonl", "validation.jsonl")
    assert not {f.subject.split()[0] for f in failures} & {row["pair_id"] for row in rows}
    assert abs(sum(not row["bias"] for row in rows) - 0.2 * len(rows)) <= 0.5  # the share holds all the same


def test_wrong_settings_are_one_line(server, data, tmp_path, capsys):
    given = values(data, tmp_path, server.url)
    for change, said in (
        ({"what": "verdict"}, "needs the judge that is to be trained"),
        ({"weights": {"Wit": 2.0}}, "weights: 'Wit' is none of the biases"),
        ({"biases": ["Wit"]}, "no 'Wit' in 'seeds'"),
        ({"original_share": 1.5}, "original_share"),
        ({"colour": "red"}, "colour"),
        ({"tests": ["nowhere.jsonl"]}, "'nowhere.jsonl' is no file or folder here"),
    ):
        config = write_config(tmp_path / "bad.yaml", given | change)
        try:
            sys.argv = ["biasscope", "dpo", "build", str(config)]
            with pytest.raises(SystemExit) as ended:
                main()
        finally:
            sys.argv = ["pytest"]
        assert ended.value.code == 2
        error = capsys.readouterr().err
        assert said in error
        assert len(error.strip().splitlines()) == 1
        assert not (tmp_path / "made").exists()


def test_the_program_says_what_it_made(server, data, tmp_path):
    config = write_config(tmp_path / "a.yaml", values(data, tmp_path, server.url, cold_start=0))
    said = CliRunner().invoke(app, ["augment", str(config), "--name", "other", "--set", "negatives=1"])
    assert said.exit_code == 0, said.output
    assert "rows in" in said.output
    assert "biasscope train reward" in said.output
    assert not (tmp_path / "other" / "data" / "cold_start.jsonl").exists()


def test_a_spent_budget_is_gone_on_with(server, data, tmp_path):
    config = write_config(tmp_path / "b.yaml", values(data, tmp_path, server.url, budget={"calls": 20}))
    said = CliRunner().invoke(app, ["dpo", "build", str(config)])
    assert said.exit_code == 4
    assert "inconclusive: the budget of" in said.output and "goes on" in said.output
    said = CliRunner().invoke(app, ["resume", str(tmp_path / "made"), "--set", "budget.calls=500"])
    assert said.exit_code == 0, said.output
    assert (tmp_path / "made" / "data" / "train.jsonl").exists()


def test_a_set_of_nothing_is_said(tmp_path):
    """Rules make every rewrite longer, and the built-in answers are equally long: a balance of lengths leaves none."""
    config = {"name": "none", "workspace": str(tmp_path), "source": {"source": "builtin", "limit": 12}}
    path = write_config(tmp_path / "none.yaml", config | {"teacher": "rules", "length": {"balance": True}})
    done = CliRunner().invoke(app, ["dpo", "build", str(path)], env={"COLUMNS": "200"})
    assert done.exit_code == 1
    assert "no pair is left; change what left them out" in done.output
    assert "next:" not in done.output
    assert "over its share, or for the balance of lengths" in (tmp_path / "none" / "data" / "README.md").read_text()
    assert "No pair is left" in (tmp_path / "none" / "data" / "README.md").read_text()
