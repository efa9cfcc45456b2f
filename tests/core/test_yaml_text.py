"""YAML as people write it: everything that is YAML comes through, and every fault is one line with its place."""

from pathlib import Path
from typing import Any

import pytest
from biasscope.bias_library.features.lexicon import user_features
from biasscope.core.errors import BiasScopeError
from biasscope.core.yaml_text import read_yaml, write_yaml
from biasscope.runs.config import load_config
from biasscope.simulation.world import load_world
from hypothesis import example, given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)


@given(VALUES)
@example({"\x85": None})
@example(["Zürich\u2028\x85 x"])
def test_what_is_yaml_comes_through(value: Any) -> None:
    assert read_yaml(write_yaml(value)) == value


def test_letters_stay_readable() -> None:
    assert write_yaml({"name": "Zürich 漢字"}) == "name: Zürich 漢字\n"


@given(st.text(max_size=40))
def test_any_text_is_a_value_or_one_line(text: str) -> None:
    try:
        read_yaml(text)
    except ValueError as error:
        assert str(error)
        assert len(str(error).splitlines()) == 1


def test_shipped_files_have_no_key_twice() -> None:
    files = [file for file in ROOT.rglob("*.yaml") if not {".venv", "build", ".git"} & set(file.parts)]
    assert len(files) > 20
    for file in files:
        read_yaml(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", "line 3: the key 'a' is there twice, first on line 1; keep one of the two"),
        ("x:\n  k: 1\n  l: 2\n\n  k: 1\n", "line 5: the key 'k' is there twice, first on line 2; keep one of the two"),
        ("- {a: 1, a: 1}\n", "line 1: the key 'a' is there twice, first on line 1; keep one of the two"),
        ("yes: 1\ntrue: 2\n", "line 2: the key 'true' is there twice, first on line 1; keep one of the two"),
        ("1: x\n0x1: y\n", "line 2: the key '0x1' is there twice, first on line 1; keep one of the two"),
        (
            "b: &b {k: 1}\nd:\n  <<: *b\n  <<: *b\n",
            "line 4: the key '<<' is there twice, first on line 3; keep one of the two",
        ),
        ("when: 2024-13-01\n", "holds a value that cannot be read: month must be in 1..12; put it in quotes"),
        ("a: 1\nb: [2\n", "line 3: is not YAML: "),
        ("? [1]\n: 2\n", "line 1: is not YAML: found unhashable key"),
        ("a: \x01\n", "is not YAML: unacceptable character"),
        ("[" * 20_000, ""),
    ],
)
def test_faults(text: str, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_yaml(text)
    assert str(caught.value).startswith(said)


def test_what_a_merge_key_brings_may_be_overridden() -> None:
    text = "base: &base {a: 1, b: 2}\nmore:\n  <<: *base\n  a: 3\nlast: [*base, *base]\n"
    assert read_yaml(text)["more"] == {"a": 3, "b": 2}


def test_config_world_and_features_say_it_with_their_file(tmp_path: Path) -> None:
    file = tmp_path / "twice.yaml"
    for text, read in (
        ("judge: rules\nseed: 1\nseed: 2\n", load_config),
        ("name: w\njudge:\n  weights: {a: 1}\njudge:\n  noise: 1\n", load_world),
        ("- name: a\n  title: b\n  name: c\n", user_features),
    ):
        file.write_text(text)
        with pytest.raises(BiasScopeError) as caught:
            read(file)
        key, line = {"j": ("seed", 3), "n": ("judge", 4), "-": ("name", 3)}[text[0]]
        first = line - (1 if key == "seed" else 2)
        assert str(caught.value) == (
            f"{file}: line {line}: the key {key!r} is there twice, first on line {first}; keep one of the two"
        )


def test_a_setting_on_the_command_line(tmp_path: Path) -> None:
    with pytest.raises(BiasScopeError, match=r"--set 'judge=\{a: 1, a: 2\}': line 1: the key 'a' is there twice"):
        load_config(None, ["judge={a: 1, a: 2}"])
    with pytest.raises(BiasScopeError, match=r"--set 'name=2024-13-01': holds a value that cannot be read"):
        load_config(None, ["name=2024-13-01"])
