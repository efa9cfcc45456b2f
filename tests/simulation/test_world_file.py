import re

import pytest
import yaml
from biasscope.core.errors import ConfigError
from biasscope.simulation.judging import read
from biasscope.simulation.pairs import world_pairs
from biasscope.simulation.spec import WorldSpec
from biasscope.simulation.wording import stock
from biasscope.simulation.world import WORLDS, World, load_world
from world_asking import ask, judge, text_of

SMALL = {
    "name": "small",
    "features": [
        {
            "name": "shouting",
            "title": "shouting",
            "definition": "The judge prefers capitals.",
            "measure": {"kind": "regex", "pattern": r"\b[A-Z]{3,}\b"},
            "scale": 1.0,
            "write": [{"kind": "insert", "texts": ["THIS IS IT."]}],
        }
    ],
}


def write(folder, changes=None, **top):
    feature = {**SMALL["features"][0], **(changes or {})}
    file = folder / "w.yaml"
    file.write_text(yaml.safe_dump({**SMALL, "features": [feature], **top}))
    return file


@pytest.mark.parametrize(
    ("changes", "top", "said"),
    [
        ({}, {"colour": 1}, "colour: is unknown"),
        ({}, {"judge": {"weights": {"loud": 1.0}}}, "judge.weights names .'loud'.*'shouting'"),
        ({"scale": 0}, {}, r"features.0.scale: .*greater than 0.* \(got 0\)"),
        ({"measure": {"kind": "regex", "pattern": "("}}, {}, "is not a regular expression"),
        ({"measure": {"kind": "regex", "pattern": "[[a]"}}, {}, "is not a regular expression"),
        ({}, {"judge": {"weights": {"shouting": float("inf")}}}, "judge.weights.shouting: must be a finite number"),
        ({"write": [{"kind": "insert", "texts": ["A."], "times": [3, 1]}]}, {}, r"times: \[3, 1\] is no range"),
        ({"write": [{"kind": "insert", "texts": ["A."], "times": 0}]}, {}, r"times: \[0, 0\] is no range"),
        ({"write": [{"kind": "substitute", "pattern": "a", "replacement": r"\1"}]}, {}, "cannot replace 'a'"),
        ({"measure": {"kind": "sparkle"}}, {}, "features.0.measure: .*sparkle"),
        ({"write": []}, {}, "features.0.write: is empty"),
        ({}, {"rates": {"refusals": 0.9, "malformed": 0.5}}, "add up to 1.4"),
        ({}, {"extends": "nowhere"}, "no world file 'nowhere'.*easy, null, realistic"),
        ({}, {"extends": "w.yaml"}, "extends itself"),
    ],
)
def test_mistakes_are_one_line_with_place_and_value(tmp_path, changes, top, said):
    with pytest.raises(ConfigError, match=said) as caught:
        load_world(write(tmp_path, changes, **top))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["- 1", "name: [", "", "\x00"])
def test_files_that_are_no_worlds(tmp_path, content):
    file = tmp_path / "w.yaml"
    file.write_text(content)
    with pytest.raises(ConfigError):
        load_world(file)
    with pytest.raises(ConfigError, match="no world file"):
        load_world(tmp_path / "missing.yaml")


def test_a_small_world_can_be_written_and_extended(tmp_path):
    write(tmp_path, judge={"weights": {"shouting": 2.0}, "noise": 0.1})
    (tmp_path / "v.yaml").write_text("extends: w.yaml\nname: louder\njudge: {noise: 0.9}\n")
    world = load_world(tmp_path / "v.yaml")
    assert (world.name, world.spec.judge.noise, world.spec.judge.weights) == ("louder", 0.9, {"shouting": 2.0})


def test_shipped_worlds_are_what_they_say():
    worlds = {path.stem: load_world(path) for path in WORLDS.glob("*.yaml")}
    assert set(worlds) == {"easy", "realistic", "null"}
    weights = worlds["realistic"].spec.judge.weights
    assert len(worlds["realistic"].features) == 30 and len(weights) == 12
    assert sum(weight < 0 for weight in weights.values()) == 2
    assert not worlds["null"].spec.judge.weights
    assert worlds["null"].features.keys() == worlds["realistic"].features.keys()
    assert len(worlds["easy"].features) == 6


def test_the_neutral_stock_shows_no_feature(realistic, easy):
    words = stock()
    for world in (realistic, easy):
        for sentence in (*words.neutral, *words.openings, *words.remarks, *(" ".join(g) + "." for g in words.groups)):
            assert world.plain(sentence), sentence


def test_faults_come_at_their_rates(realistic):
    spec = realistic.spec.model_copy(
        update={"rates": realistic.spec.rates.model_copy(update={"refusals": 0.1, "malformed": 0.2, "truncated": 0.1})}
    )
    world, seen = World(spec), {"fine": 0, "refused": 0, "malformed": 0, "truncated": 0}
    schema = {"rewritten_answer": {"type": "string"}}
    for pair in world_pairs(realistic, 300, seed=8):
        choice = world.answer(ask(schema, question=pair.prompt, answer=pair.rejected))["choices"][0]
        if choice["message"]["refusal"]:
            seen["refused"] += 1
        elif choice["finish_reason"] == "length":
            seen["truncated"] += 1
        else:
            seen["fine" if choice["message"]["content"].endswith("}") else "malformed"] += 1
        said = text_of(world.answer(judge(pair.prompt, pair.chosen, pair.rejected)))
        assert said
    assert 10 <= seen["refused"] <= 55 and 35 <= seen["malformed"] <= 90 and 10 <= seen["truncated"] <= 55


def test_same_request_same_answer_and_other_seed_other_noise(realistic, pairs):
    pair = pairs[0]
    body = judge(pair.prompt, pair.chosen, pair.rejected)
    assert realistic.answer(body) == load_world("realistic").answer(body)
    other = realistic.with_seed(99)
    margins = [read(w, pair.prompt, pair.chosen, pair.rejected).margin for w in (realistic, other)]
    assert margins[0] != margins[1]


def test_an_answer_is_cut_at_max_tokens(easy):
    pair = world_pairs(easy, 1)[0]
    reply = easy.answer(judge(pair.prompt, pair.chosen, pair.rejected, max_tokens=20))
    assert reply["choices"][0]["finish_reason"] == "length"
    assert reply["usage"]["completion_tokens"] == 20 and not re.search(r"\[\[", text_of(reply))


def test_unknown_requests_get_a_plain_reply(easy):
    reply = easy.answer({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]})
    assert "compare answers" in text_of(reply)


def test_the_format_is_documented_and_its_example_loads(tmp_path):
    page = (WORLDS.parents[1] / "docs" / "worlds.md").read_text(encoding="utf-8")
    for spec in _models(WorldSpec):
        for field in spec.model_fields:
            assert re.search(rf"\b{field}\b", page), f"{spec.__name__}.{field}"
    (tmp_path / "mine.yaml").write_text(page.split("```yaml\n")[1].split("```")[0].replace("extends: realistic", ""))
    assert load_world(tmp_path / "mine.yaml").spec.judge.weights == {"shouting": 1.2}


def _models(root):
    kinds = WorldSpec.__base__.__subclasses__()
    assert root in kinds and len(kinds) >= 14
    return kinds
