import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

import torch
from biasscope.core.errors import ConfigError, DataError
from biasscope.training.dpo import train_dpo
from biasscope.training.models import load_writer
from biasscope.training.settings import DpoSettings
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from training_files import write_lines


def settings(tiny, data, output, **more):
    values = {
        "model": str(tiny),
        "data": data,
        "output": output,
        "cpu": True,
        "batch_size": 8,
        "accumulate": 1,
        "epochs": 2,
        "learning_rate": 5e-3,
        "save_every": 4,
        "log_every": 4,
    }
    return DpoSettings(**(values | more))


def open_lines(data):
    return (data / "train.jsonl").read_text().splitlines()


def scalars(folder):
    """What TensorBoard shows."""
    board = EventAccumulator(str(folder))
    board.Reload()
    return {name: [event.value for event in board.Scalars(name)] for name in board.Tags()["scalars"]}


def weights(folder):
    return load_file(folder / "model.safetensors")


def test_loss_falls_and_held_out_pairs_are_told_apart(tiny, dpo_data, tmp_path):
    lines = []
    done = train_dpo(settings(tiny, dpo_data, tmp_path / "out"), lines.append)
    assert done.result["steps"] == 16
    assert done.result["before"]["eval_loss"] == pytest.approx(0.6931, abs=1e-3)  # log 2: the model is its reference
    assert done.result["after"]["eval_loss"] < 0.5
    assert done.result["after"]["eval_rewards/accuracies"] == 1.0
    first, last = done.result["logged"]["loss"]
    assert last < 0.6 * first
    assert [line["step"] for line in lines if "loss" in line] == [1, 4, 8, 12, 16]
    assert sorted(p.name for p in (tmp_path / "out").iterdir() if not p.name.startswith("checkpoint-")) == [
        "before.json", "cache", "manifest.json", "model", "result.json", "tensorboard"
    ]  # fmt: skip
    assert scalars(tmp_path / "out" / "tensorboard")["train/loss"][-1] == pytest.approx(last, abs=1e-3)
    again = train_dpo(settings(tiny, dpo_data, tmp_path / "out"))
    assert again.again
    assert again.result == done.result


def test_killed_training_goes_on_and_ends_like_one_that_was_not(tiny, dpo_data, tmp_path):
    """SIGKILL in the middle; the last checkpoint is cut as a kill while it is written would cut it."""
    whole = train_dpo(settings(tiny, dpo_data, tmp_path / "whole"))
    killed = settings(tiny, dpo_data, tmp_path / "killed")
    code = (
        "import sys, time\n"
        "from biasscope.training.dpo import train_dpo\n"
        "from biasscope.training.settings import DpoSettings\n"
        "settings = DpoSettings.model_validate_json(sys.argv[1])\n"
        "train_dpo(settings, lambda line: line['step'] >= 10 and time.sleep(60))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, killed.model_dump_json()], stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        until = time.monotonic() + 120
        while not (tmp_path / "killed" / "checkpoint-8" / "trainer_state.json").exists():
            assert process.poll() is None, process.stderr.read().decode()
            assert time.monotonic() < until
            time.sleep(0.05)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()
    assert not (tmp_path / "killed" / "result.json").exists()
    (tmp_path / "killed" / "checkpoint-12").mkdir(exist_ok=True)
    (tmp_path / "killed" / "checkpoint-12" / "trainer_state.json").write_text('{"epoch": 1.')
    resumed = train_dpo(killed)
    assert resumed.result["resumed_from"] == 8
    assert resumed.result["steps"] == whole.result["steps"] == 16
    ends, other_ends = weights(tmp_path / "whole" / "model"), weights(tmp_path / "killed" / "model")
    assert all(torch.equal(ends[name], other_ends[name]) for name in ends)
    assert resumed.result["after"]["eval_loss"] == pytest.approx(whole.result["after"]["eval_loss"], abs=1e-6)


def test_rows_that_do_not_fit_are_left_out_whole(tiny, dpo_data, tmp_path):
    """Cut at the end, they would lose the answers that are compared."""
    rows = [json.loads(line) for line in open_lines(dpo_data)]
    for row in rows[:40]:
        row["prompt"][0]["content"] = "sum of " + "one and " * 30
    data = write_lines(tmp_path / "mixed.jsonl", rows)
    done = train_dpo(settings(tiny, data, tmp_path / "out", max_length=40, max_steps=1))
    assert (done.result["rows"], done.result["rows_used"]) == (64, 24)


def test_adapters_alone_or_merged(tiny, dpo_data, tmp_path):
    lora = {"r": 4, "alpha": 8}
    short = {"learning_rate": 2e-2, "max_steps": 8, "evaluate": False}
    alone = train_dpo(settings(tiny, dpo_data, tmp_path / "alone", lora=lora, **short))
    train_dpo(settings(tiny, dpo_data, tmp_path / "merged", lora=lora | {"merge": True}, **short))
    assert alone.result["logged"]["loss"][1] < alone.result["logged"]["loss"][0]
    assert (tmp_path / "alone" / "model" / "adapter_config.json").is_file()
    loaded = dict(load_writer(str(tmp_path / "alone" / "model"), "fp32").named_parameters())
    merged, base = weights(tmp_path / "merged" / "model"), weights(tiny)
    assert all(torch.allclose(loaded[name], merged[name], atol=1e-6) for name in merged)
    assert not all(torch.allclose(merged[name], base[name], atol=1e-6) for name in base)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"learning_rate": 1e-4}, "other settings (learning_rate)"),
        ({"beta": 0.5}, "other settings (beta)"),
    ],
)
def test_another_training_does_not_go_on_in_a_folder(tiny, dpo_data, tmp_path, change, message):
    begun = settings(tiny, dpo_data, tmp_path / "out", max_steps=1, evaluate=False)
    train_dpo(begun)
    (tmp_path / "out" / "result.json").unlink()
    with pytest.raises(ConfigError, match="choose another folder") as raised:
        train_dpo(begun.model_copy(update=change))
    assert message in str(raised.value)
    with (dpo_data / "train.jsonl").open("a") as handle:
        handle.write((dpo_data / "validation.jsonl").read_text())
    with pytest.raises(ConfigError, match="the train data"):
        train_dpo(begun)


def test_wrong_input_is_one_line(tiny, dpo_data, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(DataError, match="cannot be read: No such file"):
        train_dpo(settings(tiny, tmp_path / "nowhere.jsonl", out))
    plain = write_lines(tmp_path / "plain.jsonl", [{"prompt": "p", "chosen": "c"}])
    with pytest.raises(DataError, match="no 'rejected'; this training needs prompt, chosen, rejected"):
        train_dpo(settings(tiny, plain, out))
    broken = tmp_path / "broken.jsonl"
    broken.write_text("{not json\n")
    with pytest.raises(DataError, match="line 1 is not JSON"):
        train_dpo(settings(tiny, broken, out))
    with pytest.raises(ConfigError, match="no folder here and no hub name"):
        train_dpo(settings("./nowhere", dpo_data, out))
    with pytest.raises(ConfigError, match="unexpected keyword argument 'warp_speed'"):
        train_dpo(settings(tiny, dpo_data, out, trainer={"warp_speed": 9}))
    with pytest.raises(ConfigError, match=r"cannot be set up: Target modules \{'nowhere'\} not found"):
        train_dpo(settings(tiny, dpo_data, out, lora={"targets": ["nowhere"]}))
    with pytest.raises(DataError, match="none of 64 rows has at most 16 tokens"):
        long = "wrong " * 20
        rows = [
            {**json.loads(line), "rejected": [{"role": "assistant", "content": long}]} for line in open_lines(dpo_data)
        ]
        train_dpo(settings(tiny, write_lines(tmp_path / "long.jsonl", rows), out, max_length=16))
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match="holds other things"):
        train_dpo(settings(tiny, dpo_data, other))
    assert not (out / "manifest.json").exists()  # the folder is free for what was meant


@pytest.mark.slow
def test_two_processes_train_one_model(tiny, dpo_data, tmp_path):
    """Data parallel on the CPU: half the steps, one model, and only one process speaks."""
    config = tmp_path / "train.yaml"
    config.write_text(settings(tiny, dpo_data, tmp_path / "out", batch_size=4).model_dump_json())  # JSON is YAML
    command = (sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "-m", "biasscope")
    environment = os.environ | {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, "train", "dpo", str(config)], env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["steps"] == 16  # 64 rows, 4 at a time on each of 2 processes, twice
    assert result["after"]["eval_loss"] < 0.5
    assert done.stdout.count("model: ") == 1
