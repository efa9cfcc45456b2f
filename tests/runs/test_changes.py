"""What `resume --set` may change stays changed; the rest is refused and leaves no trace."""

import pytest
import yaml
from biasscope.core.errors import ConfigError
from biasscope.runs.config import MAY_CHANGE, load_config
from biasscope.runs.jobs import change, create
from biasscope.runs.kinds import KINDS
from biasscope.runs.launch import run
from world_runs import SMALL, results, settings, start

VALUES = {
    "max_concurrency": 3,
    "timeout_s": 60.0,
    "max_retries": 1,
    "keep_alive": False,
    "slots": 2,
    "threads": 1,
    "api_key_env": "OTHER_KEY",
    "headers": {"x-team": "$TEAM"},
    "price_input": 2.0,
    "price_output": 3.0,
}


def text(value):
    return yaml.safe_dump(value, default_flow_style=True).removesuffix("\n...\n").strip()


def test_a_change_is_kept_and_the_results_stay_the_same(small_data, server, tmp_path, monkeypatch):
    monkeypatch.setenv("OTHER_KEY", "k")
    monkeypatch.setenv("TEAM", "t")
    whole = results(start(settings(small_data, tmp_path / "whole", server.url, **SMALL)).folder)
    stopped = start(settings(small_data, tmp_path / "w", server.url, budget={"calls": 60}, **SMALL))
    assert stopped.state == "budget"
    manifest = stopped.folder.manifest.read_bytes()

    assert VALUES.keys() == set(MAY_CHANGE) - {"endpoints", "batch"}  # servers of another kind, in tests of their own
    models = [f"judge.{name}={text(value)}" for name, value in VALUES.items()]
    again = run(stopped.folder, changes=("budget.calls=90", *models))
    assert (again.state, "90" in again.reason) == ("budget", True)
    kept = load_config(again.folder.config)
    assert kept.budget.calls == 90
    assert {name: getattr(kept.judge, name) for name in VALUES} == VALUES
    assert run(stopped.folder).state == "budget"

    done = run(stopped.folder, changes=("budget.calls=null",))
    assert done.state == "finished"
    found = results(done.folder)
    found.pop("report"), whole.pop("report")  # a price that came later is in it
    assert found == whole
    assert done.folder.manifest.read_bytes() == manifest


@pytest.mark.parametrize(
    "setting",
    [
        "discovery.iterations=1",
        "judge=openai:other",
        "judge.base_url=http://127.0.0.1:9/v1",
        "judge.temperature=1",
        "teacher.n_ctx=512",
        "target.limit=5",
        "seed=4",
        "name=other",
        "store=sqlite:///x.db",
        "nonsense=1",
    ],
)
def test_what_is_fixed_is_refused(small_data, server, tmp_path, setting):
    folder = create(load_config(None, (), settings(small_data, tmp_path / "w", server.url, **SMALL)))
    before = folder.config.read_bytes()
    with pytest.raises(ConfigError, match=r"is fixed when a run begins.*max_concurrency") as caught:
        run(folder, changes=("budget.calls=5", setting))
    assert "\n" not in str(caught.value)
    assert folder.config.read_bytes() == before


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("budget.calls=0", "budget.calls: must be 1 or more"),
        ("budget.sweets=3", "budget.sweets: is unknown"),
        ("judge.max_concurrency=many", "judge.max_concurrency: must be a whole number"),
        ("verifier.max_retries=1", "verifier.model: is needed"),
        ("budget.calls", "write it as key=value"),
    ],
)
def test_what_is_wrong_is_refused(small_data, server, tmp_path, setting, said):
    folder = create(load_config(None, (), settings(small_data, tmp_path / "w", server.url, **SMALL)))
    before = folder.config.read_bytes()
    with pytest.raises(ConfigError, match=said):
        change(folder, [setting])
    assert folder.config.read_bytes() == before


JURY = {"kind": "jury", "members": ["openai:a@http://127.0.0.1:9/v1", "openai:b@http://127.0.0.1:9/v1"]}


def test_models_of_lists_and_juries_may_change(tmp_path):
    given = {"judges": ["openai:m@http://127.0.0.1:9/v1", JURY], "library": "x.jsonl", "workspace": str(tmp_path)}
    folder = create(load_config(None, (), {**given, "name": "t"}, kind=KINDS["transfer"]))
    change(folder, ["judges.0.timeout_s=7", "judges.1.members.1.slots=2", "budget.calls=9"], kind=KINDS["transfer"])
    kept = load_config(folder.config, kind=KINDS["transfer"])
    assert (kept.judges[0].timeout_s, kept.judges[0].model, kept.budget.calls) == (7, "openai:m", 9)
    assert (kept.judges[1].members[1].slots, kept.judges[1].members[0].slots) == (2, 1)
    before = folder.config.read_bytes()
    for setting, said in (
        ("judges.2.timeout_s=7", "'2' is no place in a list of 2"),
        ("judges.first.timeout_s=7", "is fixed when a run begins"),
        ("judges.0.temperature=1", "is fixed when a run begins"),
        ("judges.0=openai:other", "is fixed when a run begins"),
        ("panel.0.timeout_s=7", "panel: is unknown"),
        ("judges.0.timeout_s=soon", "judges.0.timeout_s: must be a number"),
    ):
        with pytest.raises(ConfigError, match=said):
            change(folder, [setting], kind=KINDS["transfer"])
        assert folder.config.read_bytes() == before, setting


def test_a_begun_configuration_names_its_kind():
    assert all(kind.model_fields["kind"].default == name for name, kind in KINDS.items())
