"""What the builders write is what TRL takes: every file is loaded, templated and trained on."""

import json

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

import datasets
from biasscope.agents.grading import right_verdict, well_formed
from biasscope.runs.config import load_config
from biasscope.runs.jobs import create
from biasscope.runs.preferences import AugmentConfig, DpoConfig, run_augment, run_dpo
from biasscope.training.dpo import train_dpo
from biasscope.training.grpo import train_grpo
from biasscope.training.models import load_tokenizer
from biasscope.training.reward import train_reward
from biasscope.training.settings import DpoSettings, GrpoSettings, RewardSettings, SftSettings
from biasscope.training.sft import train_sft
from trl import apply_chat_template, is_conversational, maybe_extract_prompt
from world_runs import COLUMNS, write_sources

QUICK = {"cpu": True, "batch_size": 2, "accumulate": 1, "max_steps": 1, "evaluate": False}


@pytest.fixture(scope="module")
def made(server, easy, tmp_path_factory):
    """Folders with DPO pairs of responses, of verdicts, and augmented pairs."""
    folder = tmp_path_factory.mktemp("built")
    write_sources(folder, easy, 24, 1)
    model = {"model": "openai:world", "base_url": server.url, "max_concurrency": 8}
    base = {
        "workspace": str(folder / "ws"),
        "source": {"source": str(folder / "target.jsonl"), "columns": COLUMNS},
        "teacher": model,
        "length": {"low": 0.3, "high": 3.0},
        "validation_share": 0.1,
    }
    jobs = {
        "response": (DpoConfig, run_dpo, {}),
        "verdict": (DpoConfig, run_dpo, {"what": "verdict", "judge": model}),
        "augment": (AugmentConfig, run_augment, {}),
    }
    for name, (kind, go, more) in jobs.items():
        assert go(create(load_config(None, (), base | more | {"name": name}, kind=kind))).state == "finished"
    return {name: folder / "ws" / name / "data" for name in jobs}


@pytest.mark.parametrize("what", ["response", "verdict"])
def test_dpo_pairs(made, tiny, tmp_path, what):
    loaded = datasets.load_dataset(str(made[what]), cache_dir=str(tmp_path))["train"]
    tokenizer = load_tokenizer(str(tiny))
    for row in loaded:
        columns = {name: row[name] for name in ("prompt", "chosen", "rejected")}
        assert is_conversational(columns)
        assert maybe_extract_prompt(columns) == columns  # the prompt is given, not to be found in both answers
        templated = apply_chat_template(columns, tokenizer)
        assert templated["prompt"].endswith("<assistant> ")
        assert row["chosen"][0]["content"] in templated["chosen"]
        assert row["rejected"][0]["content"] in templated["rejected"]
    settings = DpoSettings(model=str(tiny), data=made[what], output=tmp_path / "out", max_length=1500, **QUICK)
    assert train_dpo(settings).result["steps"] == 1


def test_cold_start(made, tiny, tmp_path):
    settings = SftSettings(model=str(tiny), data=made["augment"], output=tmp_path / "out", max_length=1500, **QUICK)
    assert train_sft(settings).result["steps"] == 1
    rows = [json.loads(line) for line in (made["augment"] / "cold_start.jsonl").read_text().splitlines()]
    assert all(well_formed(row["completion"][0]["content"]) for row in rows)


def test_judging_prompts(made, tiny, tmp_path):
    settings = GrpoSettings(
        model=str(tiny), data=made["augment"], output=tmp_path / "out", group=2, max_answer=4, **QUICK
    )
    assert train_grpo(settings, right_verdict, well_formed).result["steps"] == 1


def test_negatives(made, tiny, tmp_path):
    settings = RewardSettings(model=str(tiny), data=made["augment"], output=tmp_path / "out", max_length=128, **QUICK)
    assert train_reward(settings).result["steps"] == 1
