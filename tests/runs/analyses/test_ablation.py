import json

import pytest
from biasscope.apps.cli.main import app
from biasscope.core.errors import ConfigError
from biasscope.runs.analyses.ablation import ablate, plan_ablation
from biasscope.runs.analyses.axis import parse_axis
from biasscope.runs.config import load_config
from typer.testing import CliRunner

FEW = ("validation.max_pairs=8", "validation.manipulation_checks=0", "validation.retests=0")


def test_variants_share_calls_and_finished_ones_are_not_run_again(config_file):
    plan = plan_ablation(config_file, "deeper_explain", name="de", settings=FEW)
    heard: list = []
    found, files = ablate(plan, starting=lambda name, done: heard.append((name, done)))
    assert [v.variant for v in found.variants] == ["without", "with"]
    assert [v.state for v in found.variants] == ["finished", "finished"]
    first, second = found.variants
    assert second.cached_calls > 0 and second.calls < first.calls
    overall = first.errors[-1]
    assert overall.domain == "overall" and overall.original.low <= overall.original.error <= overall.original.high
    assert json.loads(files["json"].read_text()) == found.model_dump(mode="json")
    assert "| with | perturbed |" in files["markdown"].read_text()
    again, _ = ablate(
        plan_ablation(config_file, "deeper_explain", name="de", settings=FEW),
        starting=lambda name, done: heard.append((name, done)),
    )
    assert again == found
    shared = [word for setting in FEW for word in ("--set", setting)]
    shown = CliRunner().invoke(app, ["ablate", str(config_file), "--over", "deeper_explain", "--name", "de", *shared])
    assert "Ablation over discovery.deeper_explain:" in shown.stdout and "\\" not in shown.stdout
    assert f"-w {plan.folder}" in shown.stderr
    assert [done for _, done in heard] == [False, False, True, True]
    with pytest.raises(ConfigError, match="begun with another validation"):
        plan_ablation(config_file, "deeper_explain", name="de", settings=(*FEW, "validation.alpha=0.1"))


def test_a_variant_out_of_budget_goes_on_with_more(config_file):
    args = {"name": "budget", "settings": ("validation.seeds=false", "budget.calls=20")}
    found, _ = ablate(plan_ablation(config_file, "seed=1,2", **args))
    assert [v.state for v in found.variants] == ["budget", "budget"]
    more = ("validation.seeds=false", "budget.calls=5000")
    found, _ = ablate(plan_ablation(config_file, "seed=1,2", name="budget", settings=more))
    assert [v.state for v in found.variants] == ["finished", "finished"]


def test_data_shares_are_limits_on_the_target_pairs(base):
    axis = parse_axis("data=25,100", load_config(None, (), base))
    assert [(v.label, v.setting) for v in axis.variants] == [("25 %", "target.limit=4"), ("100 %", "target.limit=16")]


def test_values_are_those_of_the_setting(base):
    config = load_config(None, (), base)
    assert [v.label for v in parse_axis("when", config).variants] == ["early", "late"]
    assert [v.setting for v in parse_axis("teacher=openai:a@http://x:1/v1,openai:b", config).variants] == [
        'teacher="openai:a@http://x:1/v1"',
        'teacher="openai:b"',
    ]
    assert [v.label for v in parse_axis("validation.alpha=0.05,0.1", config).variants] == ["0.05", "0.1"]


@pytest.mark.parametrize(
    ("over", "says"),
    [
        ("validation.wen=a,b", "did you mean validation.when"),
        ("deeper_explain=true", "two or more"),
        ("alpha=0.1,0.1", "there twice"),
        ("alpha", "needs values"),
        ("seeds", "may be discovery.seeds, validation.seeds"),
        ("name=a,b", "vary another setting"),
        ("data=0,50", "no percentage"),
        ("teacher=[", "no list of values"),
        ("=a,b", "is no setting"),
    ],
)
def test_mistakes_end_in_one_line(base, over, says):
    with pytest.raises(ConfigError) as caught:
        parse_axis(over, load_config(None, (), base))
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_bad_values_and_missing_test_pairs(base, config_file):
    with pytest.raises(ConfigError, match=r"validation\.alpha"):
        plan_ablation(config_file, "alpha=0.1,2")
    values = {k: v for k, v in base.items() if k != "test"}
    with pytest.raises(ConfigError, match="source of its own"):
        parse_axis("data=25,50", load_config(None, (), values))
