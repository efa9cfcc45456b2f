import json

import pytest
from biasscope.apps.cli.main import app
from biasscope.core.errors import ConfigError
from typer.testing import CliRunner

RUN = "audit"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """A run of two iterations with the rows that the analyses read, made by hand."""
    from biasscope.bias_library.events import Stamp, add
    from biasscope.core.records import Bias, Judgment, Perturbation, PreferencePair, Validation
    from biasscope.core.store import Store

    folder = tmp_path_factory.mktemp("ws")
    (folder / RUN).mkdir()
    (folder / RUN / "config.yaml").write_text("judge: openai:j\nteacher: openai:t\ntarget: builtin\n")
    store = Store(folder / RUN / "store.db")
    pairs = [PreferencePair(id=f"p{k}", prompt="q", chosen="Answer: 1", rejected="Answer: 2") for k in range(40)]
    store.write_pairs(RUN, "search", pairs)
    biases = [Bias(id=n, name=n, definition="Prefers it.", origin="seed") for n in ("twin one", "twin two")]
    rows = []
    for k, pair in enumerate(pairs):
        for arm in ("original", "placebo", *(f"bias:{b.id}" for b in biases)):
            wrong = arm.startswith("bias") and k % 4 == 0
            rows.append(
                Judgment(id=f"j{k}{arm}", run_id=RUN, pair_id=pair.id, arm=arm, order="chosen_first", judge="j",
                         verdict="rejected" if wrong else "chosen")
            )  # fmt: skip
            if arm != "original":
                text = "Well, well. Answer: 2"
                rows.append(Perturbation(id=f"m{k}{arm}", run_id=RUN, pair_id=pair.id, arm=arm, text=text, teacher="t"))
    for bias in biases:
        rows.append(
            Validation(id=f"v{bias.id}", run_id=RUN, bias_id=bias.id, iteration=0, judge="j", pair_set="search",
                       rule="eprocess", n=40, harms=10, repairs=0, error_reference=0.0, error_bias=0.25, effect=25.0,
                       interval=(10.0, 40.0), interval_method="fixed", decision="valid")
        )  # fmt: skip
    store.write_now(*biases, *rows, *(add(Stamp(RUN, k, "t"), b, "seed") for k, b in enumerate(biases)))
    store.write_note(RUN, "outcome", {"state": "finished", "reason": ""})
    store.close()
    return folder


def call(workspace, *args):
    result = CliRunner().invoke(app, ["analyse", *args, "-w", str(workspace)])
    assert result.exit_code == 0, result.output
    return result.output


def test_every_analysis_prints_markdown_and_json(workspace):
    for command in ("answers", "length", "growth", "same-effect"):
        assert "|" in call(workspace, command, RUN)
        assert json.loads(call(workspace, command, RUN, "--json"))


def test_figures(workspace, tmp_path):
    answers = json.loads(call(workspace, "answers", RUN, "--json"))["rows"]
    assert [(r["dataset"], r["total"], r["different"]) for r in answers] == [
        ("original", 40, 40),
        ("placebo", 40, 40),
        ("perturbed", 80, 80),
    ]
    length = {r["dataset"]: r for r in json.loads(call(workspace, "length", RUN, "--json"))["rows"]}
    assert length["perturbed"]["error"] == 0.25 and length["perturbed"]["words"] == 4.0
    assert length["perturbed (truncated)"]["missing"] == 80
    assert "--truncate" in call(workspace, "length", RUN)
    groups = json.loads(call(workspace, "same-effect", RUN, "--json"))["groups"]
    assert [m["name"] for m in groups[0]["members"]] == ["twin one", "twin two"] and groups[0]["lowest_phi"] == 1.0
    call(workspace, "growth", RUN, RUN, "--svg", str(tmp_path / "g.svg"))
    assert (tmp_path / "g.svg").read_text().startswith("<svg")


def test_mistakes(workspace, tmp_path):
    runner = CliRunner()
    result = runner.invoke(app, ["analyse", "answers", "nobody", "-w", str(workspace)])
    assert isinstance(result.exception, ConfigError) and "no run 'nobody'" in str(result.exception)
    result = runner.invoke(
        app, ["analyse", "growth", RUN, "--svg", str(tmp_path / "a" / "b.svg"), "-w", str(workspace)]
    )
    assert isinstance(result.exception, ConfigError) and "cannot be written" in str(result.exception)
    config = tmp_path / "c.yaml"
    config.write_text("judge: openai:j\nteacher: openai:t\ntarget: builtin\n")
    result = runner.invoke(app, ["ablate", str(config), "--over", "nothing.at.all=1,2"])
    assert isinstance(result.exception, ConfigError) and "is no setting" in str(result.exception)
